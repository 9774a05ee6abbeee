/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "export/export.h"
#include "export/formats.h"
#include "export/gzip.h"
#include "export/protobuf.h"
#include "export/used_ids.h"
#include "model/entity.h"
#include "model/profile.h"

/*
 * pprof: the gzipped profile.proto that "go tool pprof" and others read.
 *
 * Ids are those of the profile plus 1, for what samples use. Addresses are those of the ELF files;
 * a mapping begins at address 0 of its file, or where the kernel does. Strings are numbered in
 * order of first use and written last; the order of fields does not matter.
 */

/* Fields of the messages, by the names of profile.proto. */
enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};
enum value_type_field { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum sample_field { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum label_field { LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3, LABEL_NUM_UNIT = 4 };
enum mapping_field {
	MAPPING_ID = 1,
	MAPPING_MEMORY_START = 2,
	MAPPING_MEMORY_LIMIT = 3,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8,
	MAPPING_HAS_LINE_NUMBERS = 9,
	MAPPING_HAS_INLINE_FRAMES = 10,
};
enum location_field {
	LOCATION_ID = 1,
	LOCATION_MAPPING_ID = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
};
enum line_field { LINE_FUNCTION_ID = 1, LINE_LINE = 2 };
enum function_field {
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
};

#define FLUSH_BYTES (64u << 10)
#define PAGE_BYTES 4096u

struct mapping {
	uint32_t module; /* string id of the profile */
	uint64_t low;
	uint64_t high;
	bool program;
	bool names;
	bool files;
	bool lines;
	bool inlines;
};

struct pprof {
	const struct profile *profile;
	struct strings strings;
	struct used_ids used;
	/*
	 * A function has one file here: one with lines in several files is written once for each.
	 */
	VEC(struct profile_line) parts; /* their lines do not count */
	struct id_index part_index;
	VEC(struct mapping) mappings;
	struct gzip *gzip;
	struct bytes text;    /* fields of the profile waiting for the compressor */
	struct bytes message; /* scratch, and so are these */
	struct bytes part;
};

static void pprof_fini(struct pprof *pprof)
{
	strings_fini(&pprof->strings);
	used_ids_fini(&pprof->used);
	vec_fini(&pprof->parts);
	id_index_fini(&pprof->part_index);
	vec_fini(&pprof->mappings);
	gzip_free(pprof->gzip);
	bytes_fini(&pprof->text);
	bytes_fini(&pprof->message);
	bytes_fini(&pprof->part);
}

/* The number of a text in the string table. */
static uint64_t string_of(struct pprof *pprof, const char *text)
{
	uint32_t id = strings_add(&pprof->strings, text);

	if (id == ID_NONE)
		pprof->text.failed = true;
	return id == ID_NONE ? 0 : id;
}

static void put_message(struct pprof *pprof, enum profile_field field)
{
	protobuf_message(&pprof->text, field, &pprof->message);
	if (pprof->text.size >= FLUSH_BYTES)
		gzip_put(pprof->gzip, &pprof->text);
}

static void put_value_type(struct pprof *pprof, enum profile_field field, struct value_type type)
{
	protobuf_u64(&pprof->message, VALUE_TYPE_TYPE, string_of(pprof, type.name));
	protobuf_u64(&pprof->message, VALUE_TYPE_UNIT, string_of(pprof, type.unit));
	put_message(pprof, field);
}

/* The mapping of a module, counted from 1; 0: none. There are hundreds at most. */
static size_t mapping_of(struct pprof *pprof, uint32_t module)
{
	size_t i;

	if (module == 0)
		return 0;
	for (i = 0; i < pprof->mappings.count; i++)
		if (pprof->mappings.items[i].module == module)
			return i + 1;
	if (vec_push(&pprof->mappings, (struct mapping){.module = module, .low = UINT64_MAX}) < 0) {
		pprof->text.failed = true;
		return 0;
	}
	return pprof->mappings.count;
}

/* The id, counted from 1, of the function of a line, or of its part in the file of the line. */
static uint64_t function_of(struct pprof *pprof, struct profile_line line)
{
	uint64_t hash = hash_pair(line.function, line.file);
	struct id_probe probe = id_index_probe(&pprof->part_index, hash);
	uint64_t first = (uint64_t)pprof->profile->functions.count + 1;
	uint32_t id;

	if (line.file == 0)
		return (uint64_t)line.function + 1;
	while ((id = id_probe_next(&pprof->part_index, &probe)) != ID_NONE)
		if (pprof->parts.items[id].function == line.function &&
		    pprof->parts.items[id].file == line.file)
			return first + id;
	if (vec_push(&pprof->parts, line) < 0 ||
	    id_index_add(&pprof->part_index, hash, (uint32_t)pprof->parts.count - 1) < 0)
		pprof->text.failed = true;
	return first + pprof->parts.count - 1;
}

/* Registers what a used location needs. */
static void use_location(struct pprof *pprof, const struct profile_location *location)
{
	const struct profile *profile = pprof->profile;
	size_t at = mapping_of(pprof, location->module);
	struct mapping *mapping;
	uint32_t i;

	if (at == 0)
		return;
	mapping = &pprof->mappings.items[at - 1];
	if (location->vaddr < mapping->low)
		mapping->low = location->vaddr;
	if (location->vaddr > mapping->high)
		mapping->high = location->vaddr;
	mapping->inlines = mapping->inlines || location->line_count > 1;
	for (i = 0; i < location->line_count; i++) {
		const struct profile_line *line = &profile->lines.items[location->first_line + i];
		const struct profile_function *function = &profile->functions.items[line->function];

		mapping->program = mapping->program || function->origin == ORIGIN_PROGRAM;
		mapping->names = mapping->names || function->origin != ORIGIN_UNKNOWN;
		mapping->files = mapping->files || function->file != 0;
		mapping->lines = mapping->lines || line->line != 0;
	}
}

/* Readers assume that the first mapping is the program. */
static void put_program_first(struct pprof *pprof)
{
	size_t i;

	for (i = 0; i < pprof->mappings.count; i++) {
		struct mapping mapping = pprof->mappings.items[i];

		if (!mapping.program)
			continue;
		pprof->mappings.items[i] = pprof->mappings.items[0];
		pprof->mappings.items[0] = mapping;
		return;
	}
}

static int find_used(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;
	size_t i;
	int r = used_ids_by_entries(&pprof->used, profile);

	if (r < 0)
		return r;
	for (i = 0; i < profile->locations.count; i++)
		if (pprof->used.locations.items[i] != ID_NONE)
			use_location(pprof, &profile->locations.items[i]);
	put_program_first(pprof);
	return 0;
}

static void put_text_label(struct pprof *pprof, const char *key, const char *text)
{
	struct bytes label = {0};

	protobuf_u64(&label, LABEL_KEY, string_of(pprof, key));
	protobuf_u64(&label, LABEL_STR, string_of(pprof, text));
	protobuf_message(&pprof->message, SAMPLE_LABEL, &label);
	bytes_fini(&label);
}

static void put_number_label(struct pprof *pprof, const char *key, int64_t number, const char *unit)
{
	struct bytes label = {0};

	protobuf_u64(&label, LABEL_KEY, string_of(pprof, key));
	protobuf_i64(&label, LABEL_NUM, number);
	protobuf_u64(&label, LABEL_NUM_UNIT, string_of(pprof, unit));
	protobuf_message(&pprof->message, SAMPLE_LABEL, &label);
	bytes_fini(&label);
}

/* Whether text may follow a number as its unit: a word without digits. */
static bool is_unit(const char *text)
{
	size_t i;

	for (i = 0; text[i]; i++)
		if (text[i] == ' ' || (text[i] >= '0' && text[i] <= '9'))
			return false;
	return i > 0;
}

/*
 * Labels are texts here. "12" and "12 bytes", as our importer writes the numbers of a
 * pprof file, become numbers again, so that they can be compared and filtered.
 */
static void put_label(struct pprof *pprof, const struct label *label)
{
	const char *space = strchr(label->value, ' ');
	size_t digits = space ? (size_t)(space - label->value) : strlen(label->value);
	char text[24];
	char again[24];
	long long number;

	if (digits == 0 || digits >= sizeof(text) || (space && !is_unit(space + 1))) {
		put_text_label(pprof, label->key, label->value);
		return;
	}
	memcpy(text, label->value, digits);
	text[digits] = '\0';
	number = strtoll(text, NULL, 10);
	(void)snprintf(again, sizeof(again), "%lld", number); /* it fits */
	if (strcmp(text, again) == 0)
		put_number_label(pprof, label->key, number, space ? space + 1 : "");
	else
		put_text_label(pprof, label->key, label->value);
}

static void put_labels(struct pprof *pprof, const struct profile_entry *entry)
{
	const struct profile *profile = pprof->profile;
	const struct profile_thread *thread = &profile->threads.items[entry->thread];
	struct label labels[LABELS_MAX];
	size_t n = label_sets_get(&profile->labels, &profile->strings, entry->labels, labels);
	size_t i;

	put_text_label(pprof, "process", profile_text(profile, thread->process_comm));
	put_text_label(pprof, "thread", profile_text(profile, thread->comm));
	put_number_label(pprof, "pid", thread->pid, "");
	put_number_label(pprof, "tid", thread->tid, "");
	if (entry->state != 0)
		put_text_label(pprof, "state", profile_text(profile, entry->state));
	for (i = 0; i < n; i++)
		put_label(pprof, &labels[i]);
}

static void put_sample(struct pprof *pprof, size_t at)
{
	const struct profile *profile = pprof->profile;
	const struct profile_entry *entry = &profile->entries.items[at];
	const int64_t *values = profile_entry_values(profile, at);
	const struct stack_node *nodes = profile->stacks.nodes.items;
	uint32_t node;
	uint32_t i;

	for (node = entry->stack; node != 0; node = nodes[node].parent)
		bytes_put_varint(&pprof->part, (uint64_t)nodes[node].frame + 1);
	protobuf_message(&pprof->message, SAMPLE_LOCATION_ID, &pprof->part);
	for (i = 0; i < profile->value_count; i++)
		bytes_put_varint(&pprof->part, (uint64_t)values[i]);
	protobuf_message(&pprof->message, SAMPLE_VALUE, &pprof->part);
	put_labels(pprof, entry);
	put_message(pprof, PROFILE_SAMPLE);
}

static void put_mapping(struct pprof *pprof, size_t at)
{
	const struct mapping *mapping = &pprof->mappings.items[at];
	const struct profile_module *module = profile_find_module(pprof->profile, mapping->module);
	struct bytes *out = &pprof->message;
	char id[2 * BUILD_ID_MAX + 1] = "";
	uint64_t limit = mapping->high | (PAGE_BYTES - 1);

	if (module && module->build_id.size > 0)
		build_id_format(&module->build_id, id);
	protobuf_u64(out, MAPPING_ID, at + 1);
	if (mapping->low >> 63) /* the kernel's addresses */
		protobuf_u64(out, MAPPING_MEMORY_START, mapping->low & ~(PAGE_BYTES - 1ull));
	protobuf_u64(out, MAPPING_MEMORY_LIMIT, limit == UINT64_MAX ? limit : limit + 1);
	protobuf_u64(out, MAPPING_FILENAME,
		     string_of(pprof, profile_text(pprof->profile, mapping->module)));
	protobuf_u64(out, MAPPING_BUILD_ID, string_of(pprof, id));
	protobuf_u64(out, MAPPING_HAS_FUNCTIONS, mapping->names);
	protobuf_u64(out, MAPPING_HAS_FILENAMES, mapping->files);
	protobuf_u64(out, MAPPING_HAS_LINE_NUMBERS, mapping->lines);
	protobuf_u64(out, MAPPING_HAS_INLINE_FRAMES, mapping->inlines);
	put_message(pprof, PROFILE_MAPPING);
}

static void put_location(struct pprof *pprof, size_t at)
{
	const struct profile_location *location = &pprof->profile->locations.items[at];
	const struct profile_line *lines = pprof->profile->lines.items + location->first_line;
	uint32_t i;

	protobuf_u64(&pprof->message, LOCATION_ID, at + 1);
	protobuf_u64(&pprof->message, LOCATION_MAPPING_ID, mapping_of(pprof, location->module));
	protobuf_u64(&pprof->message, LOCATION_ADDRESS, location->vaddr);
	for (i = location->line_count; i-- > 0;) { /* the innermost first */
		protobuf_u64(&pprof->part, LINE_FUNCTION_ID, function_of(pprof, lines[i]));
		protobuf_u64(&pprof->part, LINE_LINE, lines[i].line);
		protobuf_message(&pprof->message, LOCATION_LINE, &pprof->part);
	}
	put_message(pprof, PROFILE_LOCATION);
}

static void put_function(struct pprof *pprof, uint64_t id, struct profile_line line)
{
	const struct profile_function *function = &pprof->profile->functions.items[line.function];
	uint64_t name = string_of(pprof, profile_text(pprof->profile, function->name));
	uint32_t file = profile_line_file(pprof->profile, line);

	protobuf_u64(&pprof->message, FUNCTION_ID, id);
	protobuf_u64(&pprof->message, FUNCTION_NAME, name);
	protobuf_u64(&pprof->message, FUNCTION_SYSTEM_NAME, name);
	protobuf_u64(&pprof->message, FUNCTION_FILENAME,
		     string_of(pprof, profile_text(pprof->profile, file)));
	put_message(pprof, PROFILE_FUNCTION);
}

/* Clears the text. */
static void put_comment(struct pprof *pprof, struct bytes *text)
{
	bytes_put_u8(text, '\0');
	if (text->failed)
		pprof->text.failed = true;
	else
		protobuf_u64(&pprof->text, PROFILE_COMMENT, string_of(pprof, (char *)text->data));
	bytes_clear(text);
}

/* Comments that pprof shows: the title, what the numbers do not include, and levels. */
static void put_comments(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;
	uint64_t missing = profile->quality.lost + profile->quality.unreadable;
	struct bytes text = {0};
	size_t i;

	if (*profile->title)
		protobuf_u64(&pprof->text, PROFILE_COMMENT, string_of(pprof, profile->title));
	if (missing > 0) {
		bytes_printf(&text, "%llu %s lost", (unsigned long long)missing,
			     missing == 1 ? "sample was" : "samples were");
		put_comment(pprof, &text);
	}
	for (i = 0; i < profile->gauges.count; i++) {
		const struct profile_gauge *gauge = &profile->gauges.items[i];

		bytes_printf(&text,
			     "gauge %s (%s): last %lld, lowest %lld, highest %lld, mean %.3f",
			     profile_text(profile, gauge->name), profile_text(profile, gauge->unit),
			     (long long)gauge->last, (long long)gauge->lowest,
			     (long long)gauge->highest, gauge->mean);
		put_comment(pprof, &text);
	}
	bytes_fini(&text);
}

static void put_header(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;
	uint32_t i;

	for (i = 0; i < profile->value_count; i++)
		put_value_type(pprof, PROFILE_SAMPLE_TYPE, profile->value_types[i]);
	protobuf_u64(&pprof->text, PROFILE_TIME_NANOS, profile->start_realtime_ns);
	protobuf_u64(&pprof->text, PROFILE_DURATION_NANOS, profile->duration_ns);
	if (profile->period_ns > 0) {
		put_value_type(pprof, PROFILE_PERIOD_TYPE,
			       profile->value_types[profile->main_value]);
		protobuf_u64(&pprof->text, PROFILE_PERIOD, profile->period_ns);
	}
	protobuf_u64(&pprof->text, PROFILE_DEFAULT_SAMPLE_TYPE,
		     string_of(pprof, profile->value_types[profile->main_value].name));
	put_comments(pprof);
}

static void put_body(struct pprof *pprof)
{
	size_t i;

	for (i = 0; i < pprof->profile->entries.count; i++)
		put_sample(pprof, i);
	for (i = 0; i < pprof->mappings.count; i++)
		put_mapping(pprof, i);
	for (i = 0; i < pprof->used.locations.count; i++)
		if (pprof->used.locations.items[i] != ID_NONE)
			put_location(pprof, i);
	for (i = 0; i < pprof->used.functions.count; i++)
		if (pprof->used.functions.items[i] != ID_NONE)
			put_function(pprof, i + 1, (struct profile_line){.function = (uint32_t)i});
	for (i = 0; i < pprof->parts.count; i++)
		put_function(pprof, pprof->profile->functions.count + 1 + i, pprof->parts.items[i]);
	for (i = 0; i < pprof->strings.entries.count; i++) {
		protobuf_string(&pprof->text, PROFILE_STRING_TABLE,
				strings_get(&pprof->strings, (uint32_t)i));
		if (pprof->text.size >= FLUSH_BYTES)
			gzip_put(pprof->gzip, &pprof->text);
	}
	gzip_put(pprof->gzip, &pprof->text);
	gzip_finish(pprof->gzip);
}

static int pprof_write(const struct profile *profile, const struct export_config *config,
		       struct bytes *out, struct error *err)
{
	struct pprof pprof = {.profile = profile};
	int r = strings_init(&pprof.strings);

	(void)config; /* the format holds all values */
	if (r == 0)
		r = find_used(&pprof);
	pprof.gzip = gzip_new(out);
	if (r < 0 || !pprof.gzip) {
		pprof_fini(&pprof);
		return error_set(err, -ENOMEM, "out of memory");
	}
	put_header(&pprof);
	put_body(&pprof);
	pprof_fini(&pprof);
	return 0;
}

const struct exporter_ops export_pprof = {
	.name = "pprof",
	.summary = "gzipped profile.proto, for go tool pprof and others",
	.extension = "pb.gz",
	.binary = true,
	.write = pprof_write,
};
