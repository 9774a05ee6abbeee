/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/path.h"
#include "base/vec.h"
#include "import/builder.h"
#include "import/formats.h"
#include "import/import.h"
#include "import/protobuf_reader.h"
#include "model/profile.h"
#include "model/sink.h"
#include "model/strings.h"
#include "recording/writer.h"

/*
 * pprof: profile.proto. Fields may come in any order, so the message is read twice: strings,
 * functions, locations and mappings first, then samples.
 *
 * Each value type becomes an event of the recording. If the first one is called "samples", it is
 * the number of samples of the others. Without it the values are complete, and the number of
 * samples of a type is the counting type before it: objects for bytes, contentions for a delay. The
 * main event is the default of the file, else the last.
 */

#define MAX_FRAMES 65536u
#define MAX_LINES 256u

/*
 * A function, location or mapping. Thousands may refer to one: everything they need is read at
 * first use.
 */
struct item {
	uint64_t id;
	struct cursor body; /* of a location: for its lines */
	uint64_t first;     /* name of a function, mapping of a location, path of a mapping */
	uint64_t second;    /* file, address, build id */
	uint32_t made;      /* the resulting place or module; ID_NONE: none yet */
	uint32_t lines;     /* of a location */
};

struct value_kind {
	uint64_t type; /* numbers of strings */
	uint64_t unit;
};

struct reading {
	struct import_builder *builder;
	struct strings texts; /* copies with NULs at their ends */
	VEC(uint32_t) strings;
	VEC(struct item) functions; /* sorted by id when complete, like these */
	VEC(struct item) locations;
	VEC(struct item) mappings;
	VEC(struct value_kind) kinds;
	struct value_kind period_kind;
	uint64_t default_kind;
	uint64_t title; /* the first comment: our own files have the title there */
	uint64_t period;
	uint64_t time_ns;
	uint64_t duration_ns;
	size_t main_kind;
	size_t first_kind; /* 1 if the first one counts the samples of the others */
	VEC(struct frame) frames;
	VEC(int64_t) values;
	uint64_t first_mapping;
};

static const char *text_of(const struct reading *reading, uint64_t number)
{
	return number < reading->strings.count
		       ? strings_get(&reading->texts, reading->strings.items[number])
		       : "";
}

static struct value_kind read_kind(struct cursor body)
{
	struct value_kind kind = {0};
	struct protobuf_field field;

	while (protobuf_next(&body, &field)) {
		if (field.number == 1)
			kind.type = field.value;
		if (field.number == 2)
			kind.unit = field.value;
	}
	return kind;
}

static int add_string(struct reading *reading, struct cursor body)
{
	uint32_t id = strings_add_n(&reading->texts, (const char *)body.at, cursor_left(&body));

	return id == ID_NONE ? -ENOMEM : vec_push(&reading->strings, id);
}

/* Ids are the first field of these messages, but need not be. */
static struct item item_of(struct cursor body, uint32_t first, uint32_t second)
{
	struct item item = {.body = body, .made = ID_NONE};
	struct protobuf_field field;

	while (protobuf_next(&body, &field)) {
		if (field.number == 1)
			item.id = field.value;
		else if (field.number == first)
			item.first = field.value;
		else if (field.number == second)
			item.second = field.value;
	}
	return item;
}

static uint64_t first_number(struct protobuf_field field)
{
	uint64_t number = 0;

	(void)protobuf_number(&field, &number); /* an empty list leaves 0, the empty text */
	return number;
}

static int take_field(struct reading *reading, const struct protobuf_field *field)
{
	switch (field->number) {
	case 1:
		return vec_push(&reading->kinds, read_kind(field->body));
	case 3:
		return vec_push(&reading->mappings, item_of(field->body, 5, 6));
	case 4:
		return vec_push(&reading->locations, item_of(field->body, 2, 3));
	case 5:
		return vec_push(&reading->functions, item_of(field->body, 2, 4));
	case 6:
		return add_string(reading, field->body);
	case 9:
		reading->time_ns = field->value;
		return 0;
	case 10:
		reading->duration_ns = field->value;
		return 0;
	case 11:
		reading->period_kind = read_kind(field->body);
		return 0;
	case 12:
		reading->period = field->value;
		return 0;
	case 13:
		if (reading->title == 0)
			reading->title = first_number(*field);
		return 0;
	case 14:
		reading->default_kind = field->value;
		return 0;
	default:
		return 0;
	}
}

static int by_id(const void *a, const void *b)
{
	const struct item *x = a;
	const struct item *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static struct item *find_item(struct item *items, size_t count, uint64_t id)
{
	struct item key = {.id = id};

	return count > 0 ? bsearch(&key, items, count, sizeof(*items), by_id) : NULL;
}

static bool is_count(const struct reading *reading, size_t kind)
{
	return strcmp(text_of(reading, reading->kinds.items[kind].unit), "count") == 0;
}

/* The kind that counts another: objects come before their bytes. */
static size_t count_kind(const struct reading *reading, size_t kind)
{
	size_t i = kind;

	if (reading->first_kind > 0)
		return 0;
	while (i > 0 && !is_count(reading, i))
		i--;
	return is_count(reading, i) ? i : SIZE_MAX;
}

static void choose_kinds(struct reading *reading)
{
	size_t i;

	reading->main_kind = reading->kinds.count - 1;
	for (i = 0; i < reading->kinds.count; i++)
		if (reading->default_kind != 0 &&
		    reading->kinds.items[i].type == reading->default_kind)
			reading->main_kind = i;
	reading->first_kind =
		reading->main_kind > 0 && is_count(reading, 0) &&
		strcmp(text_of(reading, reading->kinds.items[0].type), "samples") == 0;
}

static uint8_t hex_digit(char c)
{
	const char *digits = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (uint8_t)(at - digits) : 255;
}

static struct build_id parse_build_id(const char *text)
{
	struct build_id id = {0};

	while (id.size < BUILD_ID_MAX && hex_digit(text[0]) < 16 && hex_digit(text[1]) < 16) {
		id.bytes[id.size++] = (uint8_t)(hex_digit(text[0]) << 4 | hex_digit(text[1]));
		text += 2;
	}
	if (*text)
		id.size = 0; /* something else */
	return id;
}

/* Reads the mapping of a location. */
struct mapped {
	uint32_t module;
	enum function_origin origin;
	const char *path;
};

static int read_mapping(struct reading *reading, uint64_t id, struct mapped *ret)
{
	struct item *item = find_item(reading->mappings.items, reading->mappings.count, id);
	struct sink *sink = recording_writer_sink(import_builder_writer(reading->builder));
	struct module module = {.kind = MODULE_FILE, .path = ""};

	*ret = (struct mapped){MODULE_NONE, ORIGIN_PROGRAM, ""};
	if (!item)
		return 0;
	ret->origin = id == reading->first_mapping ? ORIGIN_PROGRAM : ORIGIN_LIBRARY;
	ret->path = module.path = text_of(reading, item->first);
	module.build_id = parse_build_id(text_of(reading, item->second));
	if (strncmp(module.path, "[kernel", 7) == 0) {
		module.kind = MODULE_KERNEL;
		ret->origin = ORIGIN_KERNEL;
	}
	if (*module.path == '\0')
		return 0;
	if (item->made == ID_NONE && sink_module(sink, &module, &item->made) < 0)
		return -ENOMEM;
	ret->module = item->made;
	return 0;
}

/* One line of a location becomes a place inside the one before it. */
static int add_line(struct reading *reading, struct cursor body, struct place *place,
		    uint32_t *made)
{
	uint64_t function = 0;
	const struct item *item;
	struct protobuf_field field;

	place->line = 0;
	while (protobuf_next(&body, &field)) {
		if (field.number == 1)
			function = field.value;
		if (field.number == 2 && field.value <= UINT32_MAX)
			place->line = (uint32_t)field.value;
	}
	place->name = "[unknown]";
	place->file = "";
	item = find_item(reading->functions.items, reading->functions.count, function);
	if (item) {
		place->name = text_of(reading, item->first);
		place->file = text_of(reading, item->second);
	}
	place->outer = *made;
	return import_place(reading->builder, place, made);
}

/* The frame of a location, created at first use. */
static int locate(struct reading *reading, struct item *item, struct frame *ret)
{
	struct cursor lines[MAX_LINES];
	struct cursor body = item->body;
	struct mapped mapped;
	struct place place = {0};
	struct protobuf_field field;
	size_t count = 0;
	char name[64];
	int r;

	*ret = (struct frame){.kind = FRAME_CUSTOM, .a = item->made, .b = item->second};
	if (item->made != ID_NONE)
		return 0;
	while (count < MAX_LINES && protobuf_next(&body, &field))
		if (field.number == 4)
			lines[count++] = field.body;
	item->lines = (uint32_t)count;
	r = read_mapping(reading, item->first, &mapped);
	place.module = mapped.module;
	place.origin = mapped.origin;
	while (r == 0 && count-- > 0)
		r = add_line(reading, lines[count], &place, &item->made);
	if (r == 0 && item->made == ID_NONE) {
		(void)snprintf(name, sizeof(name), "%.30s+0x%" PRIx64, path_base_name(mapped.path),
			       ret->b); /* a cut name is fine */
		place.name = name;
		place.file = "";
		place.origin = ORIGIN_UNKNOWN;
		place.outer = PLACE_NONE;
		r = import_place(reading->builder, &place, &item->made);
	}
	ret->a = item->made;
	return r;
}

struct labels {
	struct label items[LABELS_MAX];
	char numbers[LABELS_MAX][64];
	size_t count;
	const char *process;
	const char *thread;
	uint32_t pid;
	uint32_t tid;
};

static void take_label(const struct reading *reading, struct cursor body, struct labels *labels)
{
	const char *key = "";
	const char *text = NULL;
	const char *unit = "";
	uint64_t number = 0;
	struct protobuf_field field;

	while (protobuf_next(&body, &field)) {
		if (field.number == 1)
			key = text_of(reading, field.value);
		if (field.number == 2)
			text = text_of(reading, field.value);
		if (field.number == 3)
			number = field.value;
		if (field.number == 4)
			unit = text_of(reading, field.value);
	}
	if (text && strcmp(key, "process") == 0) {
		labels->process = text;
	} else if (text && strcmp(key, "thread") == 0) {
		labels->thread = text;
	} else if (!text && strcmp(key, "pid") == 0) {
		labels->pid = (uint32_t)number;
	} else if (!text && strcmp(key, "tid") == 0) {
		labels->tid = (uint32_t)number;
	} else if (labels->count < LABELS_MAX) {
		char *place = labels->numbers[labels->count];

		/* A truncated unit is not a known one. */
		(void)snprintf(place, sizeof(labels->numbers[0]), "%" PRId64 "%s%.40s",
			       (int64_t)number, *unit ? " " : "", unit);
		labels->items[labels->count++] = (struct label){key, text ? text : place};
	}
}

/* Locations and values of a sample; leaf first, as the file has them. */
static int gather(struct reading *reading, struct cursor body, struct labels *labels)
{
	struct protobuf_field field;
	uint64_t number;
	size_t lines = 0;
	int r = 0;

	reading->frames.count = 0;
	reading->values.count = 0;
	while (r == 0 && protobuf_next(&body, &field)) {
		while (r == 0 && field.number == 1 && protobuf_number(&field, &number)) {
			struct item *item = find_item(reading->locations.items,
						      reading->locations.count, number);
			struct frame frame;

			/* A location with many lines counts as that many frames. */
			if (!item || reading->frames.count >= MAX_FRAMES || lines >= MAX_FRAMES)
				return -EBADMSG;
			r = locate(reading, item, &frame);
			lines += item->lines;
			if (r == 0)
				r = vec_push(&reading->frames, frame);
		}
		while (r == 0 && field.number == 2 && protobuf_number(&field, &number))
			r = vec_push(&reading->values, (int64_t)number);
		if (field.number == 3)
			take_label(reading, field.body, labels);
	}
	return body.failed ? -EBADMSG : r;
}

/* None is negative, see refuse_difference(). */
static uint64_t value_at(const struct reading *reading, size_t at)
{
	return at < reading->values.count ? (uint64_t)reading->values.items[at] : 0;
}

/* Output of pprof -diff_base: ignoring decreases would turn it into a growth profile. */
static int refuse_difference(const struct reading *reading, struct error *err)
{
	size_t i;

	for (i = 0; i < reading->values.count && i < reading->kinds.count; i++) {
		if (reading->values.items[i] >= 0)
			continue;
		(void)error_set(
			err, -EBADMSG,
			"a sample has %" PRId64 " %s: the file is the difference of two profiles",
			reading->values.items[i], text_of(reading, reading->kinds.items[i].type));
		error_remedy(err, "compare the two profiles themselves: wick diff BEFORE AFTER");
		return -EBADMSG;
	}
	return 0;
}

/* Adds the value of one kind of a sample. */
static int add_sample(struct reading *reading, struct cursor body, size_t kind, struct error *err)
{
	struct labels labels = {.process = ""};
	struct import_sample sample = {0};
	size_t i;
	int r = gather(reading, body, &labels);

	if (r < 0)
		return error_set(err, r, r == -ENOMEM ? "out of memory" : "a sample is invalid");
	r = refuse_difference(reading, err);
	if (r < 0)
		return r;
	for (i = 0; i < reading->frames.count / 2; i++) {
		struct frame *last = &reading->frames.items[reading->frames.count - 1 - i];
		struct frame frame = reading->frames.items[i];

		reading->frames.items[i] = *last;
		*last = frame;
	}
	sample.frames = reading->frames.items;
	sample.frame_count = reading->frames.count;
	sample.labels = labels.items;
	sample.label_count = labels.count;
	sample.weight = value_at(reading, kind);
	sample.times = value_at(reading, count_kind(reading, kind));
	if (sample.weight == 0 && (sample.times == 0 || kind != reading->main_kind))
		return 0;
	r = import_thread(reading->builder, labels.pid, labels.tid,
			  labels.thread ? labels.thread : labels.process, labels.process,
			  &sample.thread);
	if (r < 0)
		return error_errno(err, r, "cannot store a thread");
	return import_sample(reading->builder, &sample, err);
}

static int first_pass(struct reading *reading, struct cursor in, struct error *err)
{
	struct protobuf_field field;
	int r = 0;

	while (r == 0 && protobuf_next(&in, &field))
		r = take_field(reading, &field);
	if (r < 0)
		return error_set(err, r, r == -ENOMEM ? "out of memory" : "it is invalid");
	if (in.failed || reading->kinds.count == 0)
		return error_set(err, -EBADMSG, "it is cut off or damaged");
	if (reading->mappings.count > 0)
		reading->first_mapping = reading->mappings.items[0].id;
	if (reading->mappings.count > 0)
		qsort(reading->mappings.items, reading->mappings.count, sizeof(struct item), by_id);
	if (reading->locations.count > 0)
		qsort(reading->locations.items, reading->locations.count, sizeof(struct item),
		      by_id);
	if (reading->functions.count > 0)
		qsort(reading->functions.items, reading->functions.count, sizeof(struct item),
		      by_id);
	choose_kinds(reading);
	return 0;
}

static int add_kinds(struct reading *reading)
{
	struct recording_writer *writer = import_builder_writer(reading->builder);
	const struct value_kind *main = &reading->kinds.items[reading->main_kind];
	size_t i;
	int r = 0;

	/* In our own files without a title, the first comment may be the number of lost samples. */
	if (!strstr(text_of(reading, reading->title), " samples were lost") &&
	    !strstr(text_of(reading, reading->title), " sample was lost"))
		recording_writer_info(writer, "title", text_of(reading, reading->title));
	if (reading->first_kind == 0 && reading->kinds.count > 1)
		recording_writer_info(writer, "values", "complete");
	if (reading->main_kind > reading->first_kind)
		recording_writer_info(writer, "main_event", text_of(reading, main->type));
	for (i = reading->first_kind; i < reading->kinds.count && r == 0; i++) {
		struct value_kind kind = reading->kinds.items[i];
		const char *value = text_of(reading, kind.type);

		r = import_schema(reading->builder, value, value, text_of(reading, kind.unit),
				  reading->period_kind.unit == kind.unit ? reading->period : 0);
	}
	return r;
}

/* All samples of one kind, then all of the next: each change starts a new chunk in the file. */
static int second_pass(struct reading *reading, struct cursor in, struct error *err)
{
	struct protobuf_field field;
	size_t i;
	int r = add_kinds(reading);

	if (r < 0)
		return error_errno(err, r, "cannot store its value types");
	if (reading->time_ns > 0)
		recording_writer_clock(import_builder_writer(reading->builder), IMPORT_START_NS,
				       reading->time_ns);
	for (i = reading->first_kind; i < reading->kinds.count; i++) {
		struct cursor at = in;

		import_choose_schema(reading->builder, (uint32_t)(i - reading->first_kind));
		while (r == 0 && protobuf_next(&at, &field))
			if (field.number == 2)
				r = add_sample(reading, field.body, i, err);
	}
	return r;
}

/* Uncompressed: begins with the short message of a sample type. */
static bool pprof_recognise(const uint8_t *data, size_t size)
{
	return size > 4 && data[0] == 0x0a && data[1] >= 2 && data[1] <= 12 &&
	       (data[2] == 0x08 || data[2] == 0x10);
}

static int pprof_read(const uint8_t *data, size_t size, struct import_builder *builder,
		      struct error *err)
{
	struct reading reading = {.builder = builder};
	struct cursor in = cursor_of(data, size);
	int r = strings_init(&reading.texts);

	r = r < 0 ? error_set(err, r, "out of memory") : first_pass(&reading, in, err);
	if (r == 0)
		r = second_pass(&reading, in, err);
	if (r == 0)
		r = import_finish(builder,
				  reading.duration_ns < INT64_MAX ? reading.duration_ns : 0, err);
	strings_fini(&reading.texts);
	vec_fini(&reading.strings);
	vec_fini(&reading.functions);
	vec_fini(&reading.locations);
	vec_fini(&reading.mappings);
	vec_fini(&reading.kinds);
	vec_fini(&reading.frames);
	vec_fini(&reading.values);
	return r;
}

const struct importer_ops import_pprof = {
	.name = "pprof",
	.summary = "profile.proto, written by Go programs and many others",
	.recognise = pprof_recognise,
	.read = pprof_read,
};
