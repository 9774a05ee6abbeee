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
/* A value of JSON takes two bytes or more of text, and about 64 of memory. */
#define MAX_VALUES 2000000u
#define MAX_PROTOBUF_VALUES 200000u /* only queries and pushes of a few series come this way */

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

/* Up to a NUL, which ends a text everywhere else. NULL if it is not UTF-8: left out. */
static json_t *string_of(const struct cursor *body)
{
	const char *text = (const char *)body->at;

	return text ? json_stringn(text, strnlen(text, cursor_left(body))) : NULL;
}

/* *values counts what was read: values of a few bytes each take a hundred times as much memory. */
static json_t *read_message(const struct connect_field *fields, struct cursor in, int depth,
			    size_t *values)
{
	json_t *object = json_object();
	struct protobuf_field field;
	uint64_t number;

	while (object && *values <= MAX_PROTOBUF_VALUES && protobuf_next(&in, &field)) {
		const struct connect_field *known = find(fields, field.number);

		if (!known)
			continue;
		++*values;
		if (known->kind == CONNECT_STRING)
			put(object, known, string_of(&field.body));
		else if (known->kind == CONNECT_DOUBLE)
			put(object, known, double_of(field.value));
		else if (known->kind == CONNECT_MESSAGE && depth < MAX_DEPTH)
			put(object, known,
			    read_message(known->message, field.body, depth + 1, values));
		else
			while (*values <= MAX_PROTOBUF_VALUES && protobuf_number(&field, &number)) {
				put(object, known, json_integer((json_int_t)number));
				++*values;
			}
	}
	if (in.failed || *values > MAX_PROTOBUF_VALUES) {
		json_decref(object);
		return NULL;
	}
	return object;
}

json_t *connect_parse(const void *data, size_t size, struct error *err)
{
	const uint8_t *text = data;
	json_t *value;
	size_t count = 1;
	size_t i;

	/* Each value but the first follows one of these, so this is an upper limit. */
	for (i = 0; i < size; i++)
		count += text[i] == ',' || text[i] == '[' || text[i] == '{' || text[i] == ':';
	if (count > MAX_VALUES) {
		(void)error_set(err, -EFBIG, "the body has more than %u values of JSON",
				MAX_VALUES);
		error_remedy(err, "send protobuf, or smaller messages");
		return NULL;
	}
	value = json_loadb(data, size, 0, NULL);
	if (!value) {
		(void)error_set(err, -EBADMSG, "the body is not JSON");
		error_remedy(err, "check the Content-Type");
	}
	return value;
}

json_t *connect_read(const struct connect_field *fields, const void *data, size_t size,
		     bool is_json, struct error *err)
{
	size_t values = 0;
	json_t *message = is_json ? connect_parse(data, size, err)
				  : read_message(fields, cursor_of(data, size), 0, &values);

	if (json_is_object(message))
		return message;
	if (is_json && !message)
		return NULL;
	json_decref(message);
	if (values > MAX_PROTOBUF_VALUES) {
		(void)error_set(err, -EFBIG, "the body has more than %u values",
				MAX_PROTOBUF_VALUES);
		error_remedy(err, "send smaller messages");
		return NULL;
	}
	(void)error_set(err, -EBADMSG, "the body is not a valid message for this method");
	error_remedy(err, "send it as application/proto or application/json");
	return NULL;
}

/* Clients may write a number of 64 bits as a string, or as 1e3. */
static int64_t number_of(const json_t *value)
{
	double real = json_real_value(value);

	if (json_is_string(value))
		return (int64_t)strtoull(json_string_value(value), NULL, 10);
	if (json_is_real(value))
		return real > -9e18 && real < 9e18 ? (int64_t)real : 0;
	return json_integer_value(value);
}

int64_t connect_number(const json_t *message, const char *name)
{
	return number_of(json_object_get(message, name));
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
	const char *text = json_string_value(value);
	double number = json_number_value(value);
	uint64_t bits;

	switch (field->kind) {
	case CONNECT_STRING:
		/* An empty one in a list keeps its place. */
		if (field->repeated && (!text || !*text))
			protobuf_message(out, field->number, &inner);
		else if (text)
			protobuf_string(out, field->number, text);
		break;
	case CONNECT_INT64:
		protobuf_i64(out, field->number, number_of(value));
		break;
	case CONNECT_FIXED64:
		protobuf_fixed64(out, field->number, (uint64_t)number_of(value));
		break;
	case CONNECT_BOOL:
		protobuf_u64(out, field->number, json_is_true(value));
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
			bytes_put_varint(&packed, (uint64_t)number_of(item));
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
