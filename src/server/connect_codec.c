/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/connect_codec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "export/protobuf.h"
#include "import/protobuf_reader.h"

/* Tables of fields nest, messages of these protocols do not nest in themselves. */
#define MAX_DEPTH 8

json_t *connect_string(const char *text)
{
	return json_stringn(text, strlen(text));
}

static const struct connect_field *find(const struct connect_field *fields, uint32_t number)
{
	for (; fields->name; fields++)
		if (fields->number == number)
			return fields;
	return NULL;
}

static void put(json_t *object, const struct connect_field *field, json_t *value)
{
	json_t *list = json_object_get(object, field->name);

	if (!field->repeated) {
		(void)json_object_set_new(object, field->name, value); /* NULL: left out */
		return;
	}
	if (!list) {
		list = json_array();
		(void)json_object_set_new(object, field->name, list);
	}
	(void)json_array_append_new(list, value);
}

static json_t *double_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return json_real(value); /* NULL if it is not finite: left out */
}

static json_t *read_message(const struct connect_field *fields, struct cursor in, int depth)
{
	json_t *object = json_object();
	struct protobuf_field field;
	uint64_t number;

	while (object && protobuf_next(&in, &field)) {
		const struct connect_field *known = find(fields, field.number);

		if (!known)
			continue;
		if (known->kind == CONNECT_STRING)
			put(object, known,
			    json_stringn((const char *)field.body.at, cursor_left(&field.body)));
		else if (known->kind == CONNECT_DOUBLE)
			put(object, known, double_of(field.value));
		else if (known->kind == CONNECT_MESSAGE && depth < MAX_DEPTH)
			put(object, known, read_message(known->message, field.body, depth + 1));
		else
			while (protobuf_number(&field, &number))
				put(object, known, json_integer((json_int_t)number));
	}
	if (in.failed) {
		json_decref(object);
		return NULL;
	}
	return object;
}

json_t *connect_read(const struct connect_field *fields, const void *data, size_t size,
		     bool is_json, struct error *err)
{
	json_t *message = is_json ? json_loadb(data, size, 0, NULL)
				  : read_message(fields, cursor_of(data, size), 0);

	if (json_is_object(message))
		return message;
	json_decref(message);
	(void)error_set(err, -EBADMSG, "the body is not a valid message for this method");
	error_remedy(err, "send it as application/proto or application/json");
	return NULL;
}

int64_t connect_number(const json_t *message, const char *name)
{
	const json_t *value = json_object_get(message, name);

	if (json_is_string(value))
		return strtoll(json_string_value(value), NULL, 10);
	return json_is_real(value) ? (int64_t)json_real_value(value) : json_integer_value(value);
}

const char *connect_text(const json_t *message, const char *name)
{
	const char *text = json_string_value(json_object_get(message, name));

	return text ? text : "";
}

static void write_proto(const struct connect_field *fields, const json_t *message,
			struct bytes *out);

static void write_value(const struct connect_field *field, const json_t *value, struct bytes *out)
{
	struct bytes inner = {0};
	double number = json_number_value(value);
	uint64_t bits;

	switch (field->kind) {
	case CONNECT_STRING:
		/* An empty one in a list keeps its place. */
		if (field->repeated && !*json_string_value(value))
			protobuf_message(out, field->number, &inner);
		else
			protobuf_string(out, field->number, json_string_value(value));
		break;
	case CONNECT_INT64:
		protobuf_i64(out, field->number, json_integer_value(value));
		break;
	case CONNECT_DOUBLE:
		memcpy(&bits, &number, sizeof(bits));
		protobuf_fixed64(out, field->number, bits);
		break;
	case CONNECT_MESSAGE:
		write_proto(field->message, value, &inner);
		protobuf_message(out, field->number, &inner);
		break;
	}
	bytes_fini(&inner);
}

static void write_list(const struct connect_field *field, const json_t *list, struct bytes *out)
{
	struct bytes packed = {0};
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);

		if (field->kind == CONNECT_INT64)
			bytes_put_varint(&packed, (uint64_t)json_integer_value(item));
		else
			write_value(field, item, out);
	}
	if (packed.size > 0)
		protobuf_message(out, field->number, &packed);
	bytes_fini(&packed);
}

static void write_proto(const struct connect_field *fields, const json_t *message,
			struct bytes *out)
{
	for (; fields->name; fields++) {
		const json_t *value = json_object_get(message, fields->name);

		if (value && fields->repeated)
			write_list(fields, value, out);
		else if (value)
			write_value(fields, value, out);
	}
}

/* Returns a copy in which 64-bit numbers are strings. */
static json_t *with_strings(const json_t *value)
{
	char text[24];
	const char *key;
	json_t *item;
	json_t *copy;
	size_t i;

	if (json_is_integer(value)) {
		(void)snprintf(text, sizeof(text), "%" PRId64, (int64_t)json_integer_value(value));
		return connect_string(text);
	}
	if (json_is_array(value)) {
		copy = json_array();
		for (i = 0; i < json_array_size(value); i++)
			(void)json_array_append_new(copy, with_strings(json_array_get(value, i)));
		return copy;
	}
	if (!json_is_object(value))
		return json_deep_copy(value);
	copy = json_object();
	json_object_foreach((json_t *)(uintptr_t)value, key, item)(void)
		json_object_set_new(copy, key, with_strings(item));
	return copy;
}

void connect_write(const struct connect_field *fields, const json_t *message, bool as_json,
		   struct bytes *out)
{
	json_t *copy;
	char *text;

	if (!as_json) {
		write_proto(fields, message, out);
		return;
	}
	copy = with_strings(message);
	text = json_dumps(copy, JSON_COMPACT);
	if (text)
		bytes_put(out, text, strlen(text));
	else
		out->failed = true;
	free(text);
	json_decref(copy);
}
