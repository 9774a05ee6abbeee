/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/otlp_dictionary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/path.h"
#include "import/builder.h"
#include "import/protobuf_reader.h"
#include "model/profile.h"
#include "model/sink.h"
#include "recording/writer.h"

#define MAX_LINES 256u
#define BUILD_ID_KEY "process.executable.build_id.gnu"

int otlp_dictionary_init(struct otlp_dictionary *dictionary, struct import_builder *builder)
{
	dictionary->builder = builder;
	return strings_init(&dictionary->texts);
}

void otlp_dictionary_fini(struct otlp_dictionary *dictionary)
{
	size_t i;

	strings_fini(&dictionary->texts);
	vec_fini(&dictionary->strings);
	for (i = 0; i < OTLP_TABLES; i++)
		vec_fini(&dictionary->tables[i].items);
}

static int take_field(struct otlp_dictionary *dictionary, const struct protobuf_field *field)
{
	uint32_t id;

	if (field->number == 5) {
		id = strings_add_n(&dictionary->texts, (const char *)field->body.at,
				   cursor_left(&field->body));
		return id == ID_NONE ? -ENOMEM : vec_push(&dictionary->strings, id);
	}
	if (field->number == 0 || field->number >= OTLP_TABLES || !field->packed)
		return 0;
	return vec_push(&dictionary->tables[field->number].items,
			(struct otlp_item){.body = field->body, .made = ID_NONE});
}

int otlp_dictionary_read(struct otlp_dictionary *dictionary, struct cursor in)
{
	struct protobuf_field field;
	int r = 0;

	while (r == 0 && protobuf_next(&in, &field)) {
		struct protobuf_field inner;

		if (field.number != 2)
			continue;
		while (r == 0 && protobuf_next(&field.body, &inner))
			r = take_field(dictionary, &inner);
		if (r == 0 && field.body.failed)
			r = -EBADMSG;
	}
	return r == 0 && in.failed ? -EBADMSG : r;
}

const char *otlp_text(const struct otlp_dictionary *dictionary, uint64_t number)
{
	return number < dictionary->strings.count
		       ? strings_get(&dictionary->texts, dictionary->strings.items[number])
		       : "";
}

static struct otlp_item *item_of(struct otlp_dictionary *dictionary, enum otlp_table table,
				 uint64_t number)
{
	return number < dictionary->tables[table].items.count
		       ? &dictionary->tables[table].items.items[number]
		       : NULL;
}

struct cursor otlp_stack(const struct otlp_dictionary *dictionary, uint64_t number)
{
	return number < dictionary->tables[OTLP_STACKS].items.count
		       ? dictionary->tables[OTLP_STACKS].items.items[number].body
		       : (struct cursor){0};
}

/* A text that lives as long as the dictionary; NULL if out of memory. */
static const char *keep(struct otlp_dictionary *dictionary, const void *text, size_t n)
{
	uint32_t id = strings_add_n(&dictionary->texts, text, n);

	return id == ID_NONE ? NULL : strings_get(&dictionary->texts, id);
}

/* The value of an attribute: a text or a number; NULL for other kinds. */
static const char *value_of(struct otlp_dictionary *dictionary, struct cursor body,
			    uint64_t *ret_number)
{
	struct protobuf_field field;
	char number[32];
	const char *text = NULL;

	while (protobuf_next(&body, &field)) {
		if (field.number == 1 && field.packed)
			text = keep(dictionary, field.body.at, cursor_left(&field.body));
		if ((field.number == 2 || field.number == 3) && !field.packed) {
			int n = snprintf(number, sizeof(number), "%" PRId64, (int64_t)field.value);

			*ret_number = field.value;
			text = keep(dictionary, number, (size_t)n);
		}
	}
	return text;
}

static void add_label(struct otlp_labels *labels, const char *key, const char *text,
		      uint64_t number)
{
	static const struct {
		const char *theirs;
		const char *ours;
	} names[] = {{"service.name", "service"},
		     {"service.version", "release"},
		     {"host.name", "host"},
		     {"container.id", "container"}};
	size_t i;

	if (!key || !text || !*key)
		return;
	if (strcmp(key, "process.pid") == 0)
		labels->pid = (uint32_t)number;
	else if (strcmp(key, "thread.id") == 0)
		labels->tid = (uint32_t)number;
	else if (strcmp(key, "thread.name") == 0)
		labels->thread = text;
	else if (strcmp(key, "process.executable.name") == 0)
		labels->process = text;
	else if (labels->count < LABELS_MAX) {
		for (i = 0; i < ARRAY_SIZE(names); i++)
			if (strcmp(key, names[i].theirs) == 0)
				key = names[i].ours;
		labels->items[labels->count++] =
			(struct label){strcmp(key, "thread.state") ? key : "state", text};
	}
}

void otlp_resource_labels(struct otlp_dictionary *dictionary, struct cursor resource,
			  struct otlp_labels *labels)
{
	struct protobuf_field field;

	while (protobuf_next(&resource, &field)) {
		struct protobuf_field inner;
		const char *key = NULL;
		const char *text = NULL;
		uint64_t number = 0;

		if (field.number != 1)
			continue;
		while (protobuf_next(&field.body, &inner)) {
			if (inner.number == 1 && inner.packed)
				key = keep(dictionary, inner.body.at, cursor_left(&inner.body));
			if (inner.number == 2)
				text = value_of(dictionary, inner.body, &number);
		}
		add_label(labels, key, text, number);
	}
}

/* Key and value of an item of the attribute table. */
static const char *read_attribute(struct otlp_dictionary *dictionary, uint64_t number,
				  const char **ret_key, uint64_t *ret_number)
{
	struct otlp_item *item = item_of(dictionary, OTLP_ATTRIBUTES, number);
	struct cursor body = item ? item->body : (struct cursor){0};
	struct protobuf_field field;
	const char *text = NULL;

	*ret_key = "";
	while (protobuf_next(&body, &field)) {
		if (field.number == 1)
			*ret_key = otlp_text(dictionary, field.value);
		if (field.number == 2)
			text = value_of(dictionary, field.body, ret_number);
	}
	return text;
}

void otlp_attribute_label(struct otlp_dictionary *dictionary, uint64_t number,
			  struct otlp_labels *labels)
{
	const char *key;
	uint64_t value = 0;
	const char *text = read_attribute(dictionary, number, &key, &value);

	add_label(labels, key, text, value);
}

static struct build_id parse_build_id(const char *text)
{
	struct build_id id = {0};

	while (id.size < BUILD_ID_MAX && number_hex_digit(text[0]) < 16 &&
	       number_hex_digit(text[1]) < 16) {
		id.bytes[id.size++] =
			(uint8_t)(number_hex_digit(text[0]) << 4 | number_hex_digit(text[1]));
		text += 2;
	}
	if (*text)
		id.size = 0; /* something else */
	return id;
}

/* The module of a mapping, created at first use; its path in *ret_path. */
static int module_of(struct otlp_dictionary *dictionary, uint64_t number, uint32_t *ret,
		     const char **ret_path)
{
	struct sink *sink = recording_writer_sink(import_builder_writer(dictionary->builder));
	struct otlp_item *item = number > 0 ? item_of(dictionary, OTLP_MAPPINGS, number) : NULL;
	struct cursor body = item ? item->body : (struct cursor){0};
	struct module module = {.kind = MODULE_FILE, .path = ""};
	struct protobuf_field field;
	uint64_t attribute;
	const char *key;
	const char *text;

	*ret = MODULE_NONE;
	while (protobuf_next(&body, &field)) {
		if (field.number == 4)
			module.path = otlp_text(dictionary, field.value);
		while (field.number == 5 && protobuf_number(&field, &attribute)) {
			text = read_attribute(dictionary, attribute, &key, &attribute);
			if (text && strcmp(key, BUILD_ID_KEY) == 0)
				module.build_id = parse_build_id(text);
		}
	}
	*ret_path = module.path;
	if (!*module.path)
		return 0;
	if (strncmp(module.path, "[kernel", 7) == 0)
		module.kind = MODULE_KERNEL;
	if (item->made == ID_NONE && sink_module(sink, &module, &item->made) < 0)
		return -ENOMEM;
	*ret = item->made;
	return 0;
}

/* One line of a location becomes a place inside the one before it. */
static int add_line(struct otlp_dictionary *dictionary, struct cursor body, struct place *place,
		    uint32_t *made)
{
	uint64_t number = 0;
	struct protobuf_field field;
	struct otlp_item *item;
	struct cursor function;

	place->line = 0;
	while (protobuf_next(&body, &field)) {
		if (field.number == 1)
			number = field.value;
		if (field.number == 2 && field.value <= UINT32_MAX)
			place->line = (uint32_t)field.value;
	}
	item = item_of(dictionary, OTLP_FUNCTIONS, number);
	function = item ? item->body : (struct cursor){0};
	place->name = "";
	place->file = "";
	while (protobuf_next(&function, &field)) {
		if (field.number == 1)
			place->name = otlp_text(dictionary, field.value);
		if (field.number == 3)
			place->file = otlp_text(dictionary, field.value);
	}
	if (!*place->name)
		place->name = "[unknown]";
	place->outer = *made;
	return import_place(dictionary->builder, place, made);
}

/* What kind of code it is, as far as its attributes say. */
static enum function_origin origin_of(struct otlp_dictionary *dictionary, const char *type,
				      const char *path)
{
	if (strcmp(type, "kernel") == 0 || strncmp(path, "[kernel", 7) == 0)
		return ORIGIN_KERNEL;
	if (strcmp(type, "cpython") == 0 || strcmp(type, "ruby") == 0 || strcmp(type, "php") == 0 ||
	    strcmp(type, "perl") == 0)
		return ORIGIN_INTERPRETED;
	if (strcmp(type, "jvm") == 0 || strcmp(type, "v8js") == 0 || strcmp(type, "dotnet") == 0)
		return ORIGIN_JIT;
	return strstr(path, ".so") ? ORIGIN_LIBRARY : ORIGIN_PROGRAM;
}

static int make_place(struct otlp_dictionary *dictionary, struct cursor body, uint32_t *made,
		      uint64_t *ret_address)
{
	struct cursor lines[MAX_LINES];
	struct place place = {0};
	struct protobuf_field field;
	size_t count = 0;
	uint64_t mapping = 0;
	uint64_t attribute;
	const char *type = "";
	const char *path = "";
	const char *key;
	char name[64];
	int r;

	while (protobuf_next(&body, &field)) {
		if (field.number == 1)
			mapping = field.value;
		if (field.number == 2)
			*ret_address = field.value;
		if (field.number == 3 && count < MAX_LINES)
			lines[count++] = field.body;
		while (field.number == 4 && protobuf_number(&field, &attribute)) {
			const char *text = read_attribute(dictionary, attribute, &key, &attribute);

			if (text && strcmp(key, "profile.frame.type") == 0)
				type = text;
		}
	}
	r = module_of(dictionary, mapping, &place.module, &path);
	place.origin = origin_of(dictionary, type, path);
	while (r == 0 && count > 0)
		r = add_line(dictionary, lines[--count], &place, made);
	if (r < 0 || *made != PLACE_NONE)
		return r;
	(void)snprintf(name, sizeof(name), "%.30s+0x%" PRIx64, path_base_name(path),
		       *ret_address); /* a cut name is fine */
	place.name = name;
	place.file = "";
	place.origin = ORIGIN_UNKNOWN;
	place.outer = PLACE_NONE;
	return import_place(dictionary->builder, &place, made);
}

int otlp_frame(struct otlp_dictionary *dictionary, uint64_t location, struct frame *ret)
{
	struct otlp_item *item = item_of(dictionary, OTLP_LOCATIONS, location);
	struct cursor body = item ? item->body : (struct cursor){0};
	uint32_t made = item ? item->made : PLACE_NONE;
	uint64_t address = 0;
	int r = 0;

	if (made == PLACE_NONE)
		r = make_place(dictionary, body, &made, &address);
	if (r == 0 && item)
		item->made = made;
	*ret = (struct frame){.kind = FRAME_CUSTOM, .a = made, .b = 0};
	return r;
}
