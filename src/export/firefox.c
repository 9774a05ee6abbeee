/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/json.h"
#include "base/path.h"
#include "base/vec.h"
#include "export/export.h"
#include "export/firefox_markers.h"
#include "export/formats.h"
#include "export/used_ids.h"
#include "model/profile.h"

/*
 * firefox: the "processed profile" of the Firefox Profiler, which profiler.firefox.com opens. This
 * is version 60: the first whose tables all threads share; newer readers upgrade it.
 *
 *	samples (of a thread) ── stackTable ── frameTable ── funcTable ── resourceTable
 *	                                                         └─ sources      └─ libs
 *
 * Tables are columns. A frame is one function at one address; functions inlined there are separate
 * frames. The samples, 24 bytes each, are kept until the end: the format needs those of a thread
 * together and in time order.
 */

#define FORMAT_VERSION 60
#define GECKO_VERSION 24   /* the corresponding version of Gecko's own format */
#define RESOURCE_LIBRARY 1 /* a resource's type */

struct row {
	uint64_t since_ns;
	uint64_t weight;
	uint32_t thread;
	uint32_t stack;
};

struct firefox {
	VEC(struct row) rows;
	struct used_ids used;
	VEC(uint32_t) stack_starts; /* by stack: the number of its outermost frame's node */
	VEC(uint32_t) frame_starts; /* by location: the number of its outermost frame */
	struct strings strings;
	VEC(uint32_t) libs;    /* string ids of modules */
	VEC(uint32_t) sources; /* string ids of files */
	VEC(uint32_t) numbers; /* by string id: number among libs or sources, plus 1; 0: none */
	struct json json;
	const char *weight_type;
	double weight_scale;
	bool weighs_cpu;
	bool begun;
	size_t next; /* row whose thread comes next */
	struct firefox_markers markers;
	size_t next_marker;
};

enum category { CATEGORY_OTHER = 0 };

static const struct {
	const char *name;
	const char *color;
} categories[] = {
	[CATEGORY_OTHER] = {"Other", "grey"}, /* the default category is the grey one */
	[1 + ORIGIN_PROGRAM] = {"Program", "yellow"},
	[1 + ORIGIN_LIBRARY] = {"Library", "lightblue"},
	[1 + ORIGIN_KERNEL] = {"Kernel", "orange"},
	[1 + ORIGIN_JIT] = {"JIT", "green"},
	[1 + ORIGIN_UNKNOWN] = {"Unknown", "darkgrey"},
	[1 + ORIGIN_TRUNCATED] = {"Truncated", "transparent"},
	[1 + ORIGIN_INTERPRETED] = {"Interpreted", "blue"},
};

static void *firefox_begin(void)
{
	struct firefox *firefox = calloc(1, sizeof(*firefox));

	if (firefox &&
	    (strings_init(&firefox->strings) < 0 || firefox_markers_init(&firefox->markers) < 0)) {
		strings_fini(&firefox->strings);
		free(firefox);
		return NULL;
	}
	return firefox;
}

static void firefox_free(void *self)
{
	struct firefox *firefox = self;

	if (!firefox)
		return;
	vec_fini(&firefox->rows);
	used_ids_fini(&firefox->used);
	vec_fini(&firefox->stack_starts);
	vec_fini(&firefox->frame_starts);
	strings_fini(&firefox->strings);
	vec_fini(&firefox->libs);
	vec_fini(&firefox->sources);
	vec_fini(&firefox->numbers);
	firefox_markers_fini(&firefox->markers);
	free(firefox);
}

static int firefox_sample(void *self, const struct profile *profile,
			  const struct export_sample *sample, struct bytes *out)
{
	struct firefox *firefox = self;
	struct row row = {sample->since_ns, sample->weight, sample->thread, sample->stack};

	(void)out; /* nothing before the tables */
	if (sample->kind != SCHEMA_SAMPLED)
		return firefox_markers_add(&firefox->markers, &firefox->strings, sample);
	if (used_ids_stack(&firefox->used, profile, sample->stack) < 0)
		return -ENOMEM;
	return vec_push(&firefox->rows, row);
}

static int by_thread_and_time(const void *a, const void *b)
{
	const struct row *x = a;
	const struct row *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->since_ns != y->since_ns)
		return x->since_ns < y->since_ns ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static void put_string(struct firefox *firefox, const char *key, const char *text)
{
	uint32_t id = strings_add(&firefox->strings, text);

	if (id == ID_NONE)
		firefox->json.out->failed = true;
	json_u64(&firefox->json, key, id == ID_NONE ? 0 : id);
}

/* Gives a module or file its number in a list if it has none. Returns 0 or -ENOMEM. */
static int enlist(struct firefox *firefox, uint32_t text, bool is_file)
{
	uint32_t *number = &firefox->numbers.items[text];

	if (text == 0 || *number != 0)
		return 0;
	*number = 1 + (uint32_t)(is_file ? firefox->sources.count : firefox->libs.count);
	return is_file ? vec_push(&firefox->sources, text) : vec_push(&firefox->libs, text);
}

/* A module and a file with the same name would share a number: then the file is left out. */
static int list_texts(struct firefox *firefox, const struct profile *profile)
{
	size_t i;
	int r = 0;

	while (firefox->numbers.count < profile->strings.entries.count && r == 0)
		r = vec_push(&firefox->numbers, 0);
	for (i = 0; i < profile->functions.count && r == 0; i++)
		if (firefox->used.functions.items[i] != ID_NONE)
			r = enlist(firefox, profile->functions.items[i].module, false);
	for (i = 0; i < profile->functions.count && r == 0; i++)
		if (firefox->used.functions.items[i] != ID_NONE)
			r = enlist(firefox, profile->functions.items[i].file, true);
	return r;
}

/* Where the frames of each location and the nodes of each stack begin. */
static int number_frames(struct firefox *firefox, const struct profile *profile)
{
	uint32_t next = 0;
	size_t i;

	for (i = 0; i < profile->locations.count; i++) {
		if (vec_push(&firefox->frame_starts, next) < 0)
			return -ENOMEM;
		if (firefox->used.locations.items[i] != ID_NONE)
			next += profile->locations.items[i].line_count;
	}
	next = 0;
	for (i = 0; i < firefox->used.stacks.count; i++) {
		if (vec_push(&firefox->stack_starts, next) < 0)
			return -ENOMEM;
		if (firefox->used.stacks.items[i] != ID_NONE)
			next += profile->locations.items[profile->stacks.nodes.items[i].frame]
					.line_count;
	}
	return 0;
}

static int prepare(struct firefox *firefox, const struct profile *profile)
{
	struct value_type type = profile->value_types[profile->main_value];
	int r = used_ids_number(&firefox->used, profile);

	if (r == 0)
		r = list_texts(firefox, profile);
	if (r == 0)
		r = number_frames(firefox, profile);
	if (firefox->rows.count > 0)
		qsort(firefox->rows.items, firefox->rows.count, sizeof(struct row),
		      by_thread_and_time);
	firefox_markers_sort(&firefox->markers);
	firefox->weight_type = "samples";
	firefox->weight_scale = 1;
	if (strcmp(type.unit, "nanoseconds") == 0) {
		firefox->weight_type = "tracing-ms";
		firefox->weight_scale = 1e-6;
		firefox->weighs_cpu = strcmp(type.name, "cpu") == 0;
	} else if (strcmp(type.unit, "bytes") == 0) {
		firefox->weight_type = "bytes";
	}
	return r;
}

static void put_categories(struct json *json)
{
	size_t i;

	json_open_array(json, "categories");
	for (i = 0; i < ARRAY_SIZE(categories); i++) {
		json_open_object(json, NULL);
		json_string(json, "name", categories[i].name);
		json_string(json, "color", categories[i].color);
		json_open_array(json, "subcategories");
		json_string(json, NULL, "Other");
		json_close(json);
		json_close(json);
	}
	json_close(json);
}

static void put_meta(struct firefox *firefox, const struct profile *profile)
{
	struct json *json = &firefox->json;

	json_open_object(json, "meta");
	json_double(json, "interval", profile->period_ns > 0 ? (double)profile->period_ns / 1e6 : 1,
		    6);
	json_double(json, "startTime", (double)profile->start_realtime_ns / 1e6, 3);
	json_u64(json, "processType", 0);
	json_string(json, "product", *profile->title ? profile->title : "wick");
	json_u64(json, "stackwalk", 1);
	json_u64(json, "version", GECKO_VERSION);
	json_u64(json, "preprocessedProfileVersion", FORMAT_VERSION);
	json_string(json, "importedFrom", "wick " WICK_VERSION);
	json_bool(json, "symbolicated", true);
	json_bool(json, "usesOnlyOneStackType", true);
	json_bool(json, "sourceCodeIsNotOnSearchfox", true);
	if (firefox->weighs_cpu) {
		json_open_object(json, "sampleUnits");
		json_string(json, "time", "ms");
		json_string(json, "eventDelay", "ms");
		json_string(json, "threadCPUDelta", "ns");
		json_close(json);
	}
	put_categories(json);
	firefox_markers_put_schema(&firefox->markers, json);
	json_close(json);
}

/*
 * The Breakpad id of a build id: its first 16 bytes as a GUID, whose first three parts are
 * little-endian, and an age of 0.
 */
static void breakpad_id(const struct build_id *id, char text[34])
{
	static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	size_t i;

	for (i = 0; i < 16; i++)
		(void)snprintf(text + 2 * i, 3, "%02X", /* two digits each */
			       order[i] < id->size ? id->bytes[order[i]] : 0);
	text[32] = '0';
	text[33] = '\0';
}

static void put_lib(struct json *json, const struct profile *profile, uint32_t path)
{
	const struct profile_module *module = profile_find_module(profile, path);
	const char *text = profile_text(profile, path);
	const char *name = path_base_name(text);
	struct build_id none = {0};
	char breakpad[34];
	char code[2 * BUILD_ID_MAX + 1];

	breakpad_id(module ? &module->build_id : &none, breakpad);
	build_id_format(module ? &module->build_id : &none, code);
	json_open_object(json, NULL);
	json_string(json, "arch", "");
	json_string(json, "name", name);
	json_string(json, "path", text);
	json_string(json, "debugName", name);
	json_string(json, "debugPath", text);
	json_string(json, "breakpadId", breakpad);
	json_string(json, "codeId", *code ? code : NULL);
	json_close(json);
}

/* Columns of n equal values; text is a literal of JSON: "null", "false", "0". */
static void put_column(struct firefox *firefox, const char *key, size_t n, const char *text)
{
	size_t i;

	json_open_array(&firefox->json, key);
	for (i = 0; i < n; i++)
		bytes_printf(firefox->json.out, "%s%s", i > 0 ? "," : "", text);
	json_close(&firefox->json);
}

/* The value of a column for one frame. */
typedef int64_t frame_value_fn(const struct firefox *firefox, const struct profile *profile,
			       const struct profile_location *location, uint32_t at);

static int64_t frame_address(const struct firefox *firefox, const struct profile *profile,
			     const struct profile_location *location, uint32_t at)
{
	(void)firefox, (void)profile, (void)at;
	/* JavaScript numbers are exact up to 2^53; kernels have no file to read. */
	return location->vaddr >> 53 || location->module == 0 ? -1 : (int64_t)location->vaddr;
}

static int64_t frame_depth(const struct firefox *firefox, const struct profile *profile,
			   const struct profile_location *location, uint32_t at)
{
	(void)firefox, (void)profile, (void)location;
	return at;
}

static int64_t frame_category(const struct firefox *firefox, const struct profile *profile,
			      const struct profile_location *location, uint32_t at)
{
	uint32_t function = profile->lines.items[location->first_line + at].function;

	(void)firefox;
	return 1 + profile->functions.items[function].origin;
}

static int64_t frame_function(const struct firefox *firefox, const struct profile *profile,
			      const struct profile_location *location, uint32_t at)
{
	uint32_t function = profile->lines.items[location->first_line + at].function;

	return firefox->used.functions.items[function];
}

static int64_t frame_line(const struct firefox *firefox, const struct profile *profile,
			  const struct profile_location *location, uint32_t at)
{
	uint32_t line = profile->lines.items[location->first_line + at].line;

	(void)firefox;
	return line > 0 ? (int64_t)line : -1;
}

/* The column of a value for each frame; with nulls, -1 is written as null. */
static void put_frame_column(struct firefox *firefox, const struct profile *profile,
			     const char *key, frame_value_fn *fn, bool nulls)
{
	struct json *json = &firefox->json;
	size_t i;
	uint32_t at;

	json_open_array(json, key);
	for (i = 0; i < profile->locations.count; i++) {
		const struct profile_location *location = &profile->locations.items[i];

		if (firefox->used.locations.items[i] == ID_NONE)
			continue;
		for (at = 0; at < location->line_count; at++) {
			int64_t value = fn(firefox, profile, location, at);

			if (value < 0 && nulls)
				json_string(json, NULL, NULL);
			else
				json_i64(json, NULL, value);
		}
	}
	json_close(json);
}

static size_t count_frames(const struct firefox *firefox, const struct profile *profile)
{
	size_t count = 0;
	size_t i;

	for (i = 0; i < profile->locations.count; i++)
		if (firefox->used.locations.items[i] != ID_NONE)
			count += profile->locations.items[i].line_count;
	return count;
}

static void put_frame_table(struct firefox *firefox, const struct profile *profile)
{
	size_t count = count_frames(firefox, profile);

	json_open_object(&firefox->json, "frameTable");
	json_u64(&firefox->json, "length", count);
	put_frame_column(firefox, profile, "address", frame_address, false);
	put_frame_column(firefox, profile, "inlineDepth", frame_depth, false);
	put_frame_column(firefox, profile, "category", frame_category, false);
	put_column(firefox, "subcategory", count, "0");
	put_frame_column(firefox, profile, "func", frame_function, false);
	put_column(firefox, "nativeSymbol", count, "null");
	put_column(firefox, "innerWindowID", count, "0");
	put_frame_column(firefox, profile, "line", frame_line, true);
	put_column(firefox, "column", count, "null");
	json_close(&firefox->json);
}

/* The innermost node of a stack. */
static int64_t node_of(const struct firefox *firefox, const struct profile *profile, uint32_t stack)
{
	uint32_t location = profile->stacks.nodes.items[stack].frame;

	return (int64_t)firefox->stack_starts.items[stack] +
	       profile->locations.items[location].line_count - 1;
}

static void put_stack_column(struct firefox *firefox, const struct profile *profile, bool prefixes)
{
	const struct stack_node *nodes = profile->stacks.nodes.items;
	struct json *json = &firefox->json;
	size_t i;
	uint32_t at;

	json_open_array(json, prefixes ? "prefix" : "frame");
	for (i = 0; i < firefox->used.stacks.count; i++) {
		uint32_t count;

		if (firefox->used.stacks.items[i] == ID_NONE)
			continue; /* nor has the empty stack a frame */
		count = profile->locations.items[nodes[i].frame].line_count;
		for (at = 0; at < count; at++) {
			if (!prefixes)
				json_u64(json, NULL,
					 (uint64_t)firefox->frame_starts.items[nodes[i].frame] +
						 at);
			else if (at > 0)
				json_u64(json, NULL,
					 (uint64_t)firefox->stack_starts.items[i] + at - 1);
			else if (nodes[i].parent != 0)
				json_i64(json, NULL, node_of(firefox, profile, nodes[i].parent));
			else
				json_string(json, NULL, NULL);
		}
	}
	json_close(json);
}

static void put_stack_table(struct firefox *firefox, const struct profile *profile)
{
	size_t length = 0;
	size_t i;

	for (i = firefox->used.stacks.count; i-- > 0 && length == 0;)
		if (firefox->used.stacks.items[i] != ID_NONE)
			length = (size_t)node_of(firefox, profile, (uint32_t)i) + 1;
	json_open_object(&firefox->json, "stackTable");
	json_u64(&firefox->json, "length", length);
	put_stack_column(firefox, profile, false);
	put_stack_column(firefox, profile, true);
	json_close(&firefox->json);
}

/* The number of a module or file in a column: counted from 0; -1 or null for none. */
static void put_number(struct firefox *firefox, uint32_t text, bool is_file)
{
	uint32_t number = firefox->numbers.items[text];
	bool known = number > 0 && (is_file ? number <= firefox->sources.count &&
						      firefox->sources.items[number - 1] == text
					    : number <= firefox->libs.count &&
						      firefox->libs.items[number - 1] == text);

	if (known)
		json_u64(&firefox->json, NULL, number - 1);
	else if (is_file)
		json_string(&firefox->json, NULL, NULL);
	else
		json_i64(&firefox->json, NULL, -1);
}

static void put_func_table(struct firefox *firefox, const struct profile *profile)
{
	static const char *const columns[] = {"name", "resource", "source"};
	size_t count = firefox->used.function_count;
	size_t column;
	size_t i;

	json_open_object(&firefox->json, "funcTable");
	json_u64(&firefox->json, "length", count);
	for (column = 0; column < ARRAY_SIZE(columns); column++) {
		json_open_array(&firefox->json, columns[column]);
		for (i = 0; i < profile->functions.count; i++) {
			const struct profile_function *function = &profile->functions.items[i];

			if (firefox->used.functions.items[i] == ID_NONE)
				continue;
			if (column == 0)
				put_string(firefox, NULL, profile_text(profile, function->name));
			else
				put_number(firefox, column == 1 ? function->module : function->file,
					   column == 2);
		}
		json_close(&firefox->json);
	}
	put_column(firefox, "isJS", count, "false");
	put_column(firefox, "relevantForJS", count, "false");
	put_column(firefox, "lineNumber", count, "null");
	put_column(firefox, "columnNumber", count, "null");
	json_close(&firefox->json);
}

static void put_resource_table(struct firefox *firefox, const struct profile *profile)
{
	size_t count = firefox->libs.count;
	size_t i;

	json_open_object(&firefox->json, "resourceTable");
	json_u64(&firefox->json, "length", count);
	json_open_array(&firefox->json, "lib");
	for (i = 0; i < count; i++)
		json_u64(&firefox->json, NULL, i);
	json_close(&firefox->json);
	json_open_array(&firefox->json, "name");
	for (i = 0; i < count; i++)
		put_string(firefox, NULL, profile_text(profile, firefox->libs.items[i]));
	json_close(&firefox->json);
	put_column(firefox, "host", count, "null");
	json_open_array(&firefox->json, "type");
	for (i = 0; i < count; i++)
		json_u64(&firefox->json, NULL, RESOURCE_LIBRARY);
	json_close(&firefox->json);
	json_close(&firefox->json);
}

static void put_sources(struct firefox *firefox, const struct profile *profile)
{
	size_t i;

	json_open_object(&firefox->json, "sources");
	json_u64(&firefox->json, "length", firefox->sources.count);
	put_column(firefox, "uuid", firefox->sources.count, "null");
	json_open_array(&firefox->json, "filename");
	for (i = 0; i < firefox->sources.count; i++)
		put_string(firefox, NULL, profile_text(profile, firefox->sources.items[i]));
	json_close(&firefox->json);
	json_close(&firefox->json);
}

static void put_empty_table(struct json *json, const char *key, const char *const *columns)
{
	json_open_object(json, key);
	json_u64(json, "length", 0);
	for (; *columns; columns++) {
		json_open_array(json, *columns);
		json_close(json);
	}
	json_close(json);
}

static void put_shared(struct firefox *firefox, const struct profile *profile)
{
	static const char *const symbol_columns[] = {"libIndex", "address", "name", "functionSize",
						     NULL};
	size_t i;

	json_open_object(&firefox->json, "shared");
	put_stack_table(firefox, profile);
	put_frame_table(firefox, profile);
	put_func_table(firefox, profile);
	put_resource_table(firefox, profile);
	put_sources(firefox, profile);
	put_empty_table(&firefox->json, "nativeSymbols", symbol_columns);
	json_open_array(&firefox->json, "stringArray");
	for (i = 0; i < firefox->strings.entries.count; i++)
		json_string(&firefox->json, NULL, strings_get(&firefox->strings, (uint32_t)i));
	json_close(&firefox->json);
	json_close(&firefox->json);
}

static void put_rows(struct firefox *firefox, const struct profile *profile, size_t first,
		     size_t end)
{
	struct json *json = &firefox->json;
	const struct row *rows = firefox->rows.items;
	size_t i;

	json_open_object(json, "samples");
	json_u64(json, "length", end - first);
	json_open_array(json, "stack");
	for (i = first; i < end; i++) {
		if (rows[i].stack != 0)
			json_i64(json, NULL, node_of(firefox, profile, rows[i].stack));
		else
			json_string(json, NULL, NULL);
	}
	json_close(json);
	json_open_array(json, "time");
	for (i = first; i < end; i++)
		json_double(json, NULL, (double)rows[i].since_ns / 1e6, 6);
	json_close(json);
	json_open_array(json, "weight");
	for (i = first; i < end; i++) {
		if (firefox->weight_scale < 1)
			json_double(json, NULL, (double)rows[i].weight * firefox->weight_scale, 6);
		else
			json_u64(json, NULL, rows[i].weight);
	}
	json_close(json);
	json_string(json, "weightType", firefox->weight_type);
	if (firefox->weighs_cpu) { /* how busy the thread was: drawn as a graph */
		json_open_array(json, "threadCPUDelta");
		for (i = first; i < end; i++)
			json_u64(json, NULL, rows[i].weight);
		json_close(json);
	}
	json_close(json);
}

/* The range of samples and markers of a thread. */
struct thread_part {
	uint32_t thread;
	size_t first;
	size_t end;
	size_t first_marker;
	size_t end_marker;
};

/* The next thread, or ID_NONE: both lists are sorted by thread. */
static struct thread_part next_part(const struct firefox *firefox)
{
	const struct firefox_markers *markers = &firefox->markers;
	struct thread_part part = {ID_NONE, firefox->next, firefox->next, firefox->next_marker,
				   firefox->next_marker};

	if (part.first < firefox->rows.count)
		part.thread = firefox->rows.items[part.first].thread;
	if (part.first_marker < markers->items.count &&
	    markers->items.items[part.first_marker].thread < part.thread)
		part.thread = markers->items.items[part.first_marker].thread;
	while (part.end < firefox->rows.count &&
	       firefox->rows.items[part.end].thread == part.thread)
		part.end++;
	while (part.end_marker < markers->items.count &&
	       markers->items.items[part.end_marker].thread == part.thread)
		part.end_marker++;
	return part;
}

/* One thread with its samples and markers. */
static void put_thread(struct firefox *firefox, const struct profile *profile,
		       const struct thread_part *part)
{
	const struct profile_thread *thread = &profile->threads.items[part->thread];
	struct json *json = &firefox->json;
	char pid[16];

	(void)snprintf(pid, sizeof(pid), "%u", thread->pid); /* it fits */
	json_open_object(json, NULL);
	json_string(json, "processType", "default");
	json_u64(json, "processStartupTime", 0);
	json_string(json, "processShutdownTime", NULL);
	json_u64(json, "registerTime", 0);
	json_string(json, "unregisterTime", NULL);
	json_open_array(json, "pausedRanges");
	json_close(json);
	json_string(json, "name", profile_text(profile, thread->comm));
	json_bool(json, "isMainThread", thread->pid == thread->tid);
	json_string(json, "processName", profile_text(profile, thread->process_comm));
	json_string(json, "pid", pid);
	json_u64(json, "tid", thread->tid);
	put_rows(firefox, profile, part->first, part->end);
	firefox_markers_put(&firefox->markers, part->first_marker, part->end_marker, json);
	json_close(json);
}

static int put_head(struct firefox *firefox, const struct profile *profile, struct bytes *out)
{
	int r = prepare(firefox, profile);
	size_t i;

	if (r < 0)
		return r;
	json_init(&firefox->json, out, false);
	json_open_object(&firefox->json, NULL);
	put_meta(firefox, profile);
	json_open_array(&firefox->json, "libs");
	for (i = 0; i < firefox->libs.count; i++)
		put_lib(&firefox->json, profile, firefox->libs.items[i]);
	json_close(&firefox->json);
	put_shared(firefox, profile);
	json_open_array(&firefox->json, "threads");
	firefox->begun = true;
	return 1;
}

static int firefox_finish(void *self, const struct profile *profile, struct bytes *out)
{
	struct firefox *firefox = self;
	struct thread_part part;

	if (!firefox->begun)
		return put_head(firefox, profile, out);
	part = next_part(firefox);
	if (part.thread != ID_NONE) {
		put_thread(firefox, profile, &part);
		firefox->next = part.end;
		firefox->next_marker = part.end_marker;
		return 1;
	}
	json_close(&firefox->json);
	json_close(&firefox->json);
	bytes_put_u8(out, '\n');
	return 0;
}

const struct exporter_ops export_firefox = {
	.name = "firefox",
	.summary = "for profiler.firefox.com: samples, events and gauges over time",
	.extension = "firefox.json",
	.begin = firefox_begin,
	.sample = firefox_sample,
	.finish = firefox_finish,
	.free = firefox_free,
};
