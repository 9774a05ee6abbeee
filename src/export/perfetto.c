/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "export/export.h"
#include "export/formats.h"
#include "export/perfetto_tracks.h"
#include "export/protobuf.h"
#include "model/level_track.h"
#include "model/profile.h"

/*
 * perfetto: a trace for ui.perfetto.dev, in Perfetto's own protobuf: a packet for each sample,
 * preceded by everything it refers to for the first time.
 *
 * Not Chrome's JSON trace format, which the same page opens: its reader ignores the stacks of
 * samples there ("stackFrames", "sf"), so only bare events would be left. From these packets it
 * draws a track for each thread, and flame graphs of any time range.
 *
 * Events reported by the program become tracks of its processes and threads: perfetto_tracks.h. A
 * heap becomes one dump for each process, at the end, and a counter track of its live memory.
 *
 * Interned ids are ids of the profile plus 1: 0 means none.
 */

enum trace_field { TRACE_PACKET = 1 };
enum packet_field {
	PACKET_PROCESS_TREE = 2,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_PROFILE = 37,
	PACKET_DEFAULTS = 59,
	PACKET_PERF_SAMPLE = 66,
};
enum sequence_flag { SEQUENCE_STATE_CLEARED = 1, SEQUENCE_NEEDS_STATE = 2 };
enum defaults_field { DEFAULTS_PERF_SAMPLE = 12 };
enum perf_defaults_field { PERF_DEFAULTS_TIMEBASE = 1 };
enum timebase_field { TIMEBASE_NAME = 10 };
enum snapshot_field { SNAPSHOT_CLOCK = 1 };
enum clock_field { CLOCK_ID = 1, CLOCK_TIME = 2 };
enum clock_id { CLOCK_OF_REALTIME = 1, CLOCK_OF_BOOT = 6 };
enum tree_field { TREE_PROCESS = 1, TREE_THREAD = 2 };
enum process_field { PROCESS_PID = 1, PROCESS_CMDLINE = 3 };
enum thread_field { THREAD_TID = 1, THREAD_NAME = 2, THREAD_TGID = 3 };
enum interned_field {
	INTERNED_FUNCTION_NAMES = 5,
	INTERNED_FRAMES = 6,
	INTERNED_CALLSTACKS = 7,
	INTERNED_BUILD_IDS = 16,
	INTERNED_MAPPING_PATHS = 17,
	INTERNED_SOURCE_PATHS = 18,
	INTERNED_MAPPINGS = 19,
};
enum string_field { STRING_IID = 1, STRING_TEXT = 2 };
enum mapping_field { MAPPING_IID = 1, MAPPING_BUILD_ID = 2, MAPPING_PATH = 7 };
enum frame_field {
	FRAME_IID = 1,
	FRAME_FUNCTION = 2,
	FRAME_MAPPING = 3,
	FRAME_REL_PC = 4,
	FRAME_SOURCE_PATH = 5,
	FRAME_LINE = 6,
};
enum callstack_field { CALLSTACK_IID = 1, CALLSTACK_FRAMES = 2 };
enum sample_field { SAMPLE_CPU = 1, SAMPLE_PID = 2, SAMPLE_TID = 3, SAMPLE_CALLSTACK = 4 };

enum profile_field { PROFILE_DUMP = 5 };
enum dump_field { DUMP_PID = 1, DUMP_SAMPLE = 2, DUMP_TIMESTAMP = 9, DUMP_HEAP_NAME = 11 };
enum heap_field {
	HEAP_CALLSTACK = 1,
	HEAP_ALLOCATED = 2,
	HEAP_FREED = 3,
	HEAP_ALLOC_COUNT = 5,
	HEAP_FREE_COUNT = 6,
};

#define SEQUENCE 1u

/* Above every Linux pid and tid: for threads of imported files that have none. */
#define FIRST_MADE_UP_ID (1u << 22)

/* Whether the entry with an id has already been written. */
struct seen {
	VEC(uint8_t) flags;
};

struct perfetto {
	bool clock;        /* written */
	uint64_t start_ns; /* when the recording began; 0: no sample yet */
	bool begun;
	struct perfetto_tracks tracks;
	struct seen threads;
	struct seen stacks;
	struct seen lines;
	struct seen functions;
	struct seen files; /* string ids, as are these */
	struct seen modules;
	VEC(uint32_t) path;
	struct bytes interned;
	struct bytes packet;
	struct bytes message;
	struct bytes part;
	bool failed;
};

static void *perfetto_begin(void)
{
	return calloc(1, sizeof(struct perfetto));
}

static void perfetto_free(void *self)
{
	struct perfetto *perfetto = self;

	if (!perfetto)
		return;
	vec_fini(&perfetto->threads.flags);
	vec_fini(&perfetto->stacks.flags);
	vec_fini(&perfetto->lines.flags);
	vec_fini(&perfetto->functions.flags);
	vec_fini(&perfetto->files.flags);
	vec_fini(&perfetto->modules.flags);
	vec_fini(&perfetto->path);
	perfetto_tracks_fini(&perfetto->tracks);
	bytes_fini(&perfetto->interned);
	bytes_fini(&perfetto->packet);
	bytes_fini(&perfetto->message);
	bytes_fini(&perfetto->part);
	free(perfetto);
}

/* Whether the id occurs for the first time. */
static bool is_new(struct perfetto *perfetto, struct seen *seen, uint32_t id)
{
	while (seen->flags.count <= id)
		if (vec_push(&seen->flags, 0) < 0) {
			perfetto->failed = true;
			return false;
		}
	if (seen->flags.items[id])
		return false;
	seen->flags.items[id] = 1;
	return true;
}

static void put_packet(struct perfetto *perfetto, struct bytes *out)
{
	protobuf_u64(&perfetto->packet, PACKET_SEQUENCE_ID, SEQUENCE);
	protobuf_message(out, TRACE_PACKET, &perfetto->packet);
}

static void put_clock(struct perfetto *perfetto, enum clock_id id, uint64_t time_ns)
{
	protobuf_u64(&perfetto->part, CLOCK_ID, id);
	protobuf_set_u64(&perfetto->part, CLOCK_TIME, time_ns);
	protobuf_message(&perfetto->message, SNAPSHOT_CLOCK, &perfetto->part);
}

/*
 * A snapshot of the clocks. Our times (CLOCK_MONOTONIC) stop while the machine is suspended; they
 * are given as CLOCK_BOOTTIME, the default clock of traces.
 */
static void put_clocks(struct perfetto *perfetto, const struct export_sample *sample,
		       struct bytes *out)
{
	perfetto->clock = true;
	if (sample->realtime_ns == 0)
		return;
	put_clock(perfetto, CLOCK_OF_BOOT, sample->time_ns);
	put_clock(perfetto, CLOCK_OF_REALTIME, sample->realtime_ns);
	protobuf_message(&perfetto->packet, PACKET_CLOCK_SNAPSHOT, &perfetto->message);
	put_packet(perfetto, out);
}

/* The header: what was sampled. */
static void put_head(struct perfetto *perfetto, const struct export_sample *sample,
		     struct bytes *out)
{
	protobuf_u64(&perfetto->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_STATE_CLEARED);
	protobuf_string(&perfetto->part, TIMEBASE_NAME, sample->event ? sample->event : "");
	protobuf_message(&perfetto->message, PERF_DEFAULTS_TIMEBASE, &perfetto->part);
	bytes_put(&perfetto->part, perfetto->message.data, perfetto->message.size);
	bytes_clear(&perfetto->message);
	protobuf_message(&perfetto->message, DEFAULTS_PERF_SAMPLE, &perfetto->part);
	protobuf_message(&perfetto->packet, PACKET_DEFAULTS, &perfetto->message);
	put_packet(perfetto, out);
	perfetto->begun = true;
}

static uint32_t pid_of(const struct profile_thread *thread)
{
	return thread->pid > 0 ? thread->pid : FIRST_MADE_UP_ID + thread->process_comm;
}

static uint32_t tid_of(const struct profile *profile, uint32_t id)
{
	const struct profile_thread *thread = &profile->threads.items[id];

	return thread->pid > 0 ? thread->tid : 2 * FIRST_MADE_UP_ID + id;
}

static void put_thread(struct perfetto *perfetto, const struct profile *profile,
		       const struct export_sample *sample, struct bytes *out)
{
	const struct profile_thread *thread = &profile->threads.items[sample->thread];

	protobuf_u64(&perfetto->part, PROCESS_PID, pid_of(thread));
	protobuf_string(&perfetto->part, PROCESS_CMDLINE,
			profile_text(profile, thread->process_comm));
	protobuf_message(&perfetto->message, TREE_PROCESS, &perfetto->part);
	protobuf_u64(&perfetto->part, THREAD_TID, tid_of(profile, sample->thread));
	protobuf_string(&perfetto->part, THREAD_NAME, profile_text(profile, thread->comm));
	protobuf_u64(&perfetto->part, THREAD_TGID, pid_of(thread));
	protobuf_message(&perfetto->message, TREE_THREAD, &perfetto->part);
	protobuf_set_u64(&perfetto->packet, PACKET_TIMESTAMP, sample->time_ns);
	protobuf_message(&perfetto->packet, PACKET_PROCESS_TREE, &perfetto->message);
	put_packet(perfetto, out);
}

static void intern_text(struct perfetto *perfetto, enum interned_field field, uint32_t id,
			const char *text)
{
	protobuf_u64(&perfetto->message, STRING_IID, (uint64_t)id + 1);
	protobuf_string(&perfetto->message, STRING_TEXT, text);
	protobuf_message(&perfetto->interned, field, &perfetto->message);
}

/* A mapping always has a build id, which may be empty, and its path is written without the '/'. */
static void intern_module(struct perfetto *perfetto, const struct profile *profile, uint32_t path)
{
	const struct profile_module *module = profile_find_module(profile, path);
	const char *text = profile_text(profile, path);

	protobuf_u64(&perfetto->message, STRING_IID, (uint64_t)path + 1);
	protobuf_bytes(&perfetto->message, STRING_TEXT, module ? module->build_id.bytes : NULL,
		       module ? module->build_id.size : 0);
	protobuf_message(&perfetto->interned, INTERNED_BUILD_IDS, &perfetto->message);
	intern_text(perfetto, INTERNED_MAPPING_PATHS, path, *text == '/' ? text + 1 : text);
	protobuf_u64(&perfetto->message, MAPPING_IID, (uint64_t)path + 1);
	protobuf_u64(&perfetto->message, MAPPING_BUILD_ID, (uint64_t)path + 1);
	protobuf_u64(&perfetto->message, MAPPING_PATH, (uint64_t)path + 1);
	protobuf_message(&perfetto->interned, INTERNED_MAPPINGS, &perfetto->message);
}

static void intern_frame(struct perfetto *perfetto, const struct profile *profile,
			 const struct profile_location *location, uint32_t at)
{
	const struct profile_line *line = &profile->lines.items[at];
	const struct profile_function *function = &profile->functions.items[line->function];

	if (is_new(perfetto, &perfetto->functions, line->function))
		intern_text(perfetto, INTERNED_FUNCTION_NAMES, line->function,
			    profile_text(profile, function->name));
	if (is_new(perfetto, &perfetto->modules, location->module))
		intern_module(perfetto, profile, location->module);
	if (function->file != 0 && is_new(perfetto, &perfetto->files, function->file))
		intern_text(perfetto, INTERNED_SOURCE_PATHS, function->file,
			    profile_text(profile, function->file));
	protobuf_u64(&perfetto->message, FRAME_IID, (uint64_t)at + 1);
	protobuf_u64(&perfetto->message, FRAME_FUNCTION, (uint64_t)line->function + 1);
	protobuf_u64(&perfetto->message, FRAME_MAPPING, (uint64_t)location->module + 1);
	protobuf_set_u64(&perfetto->message, FRAME_REL_PC, location->vaddr);
	if (function->file != 0)
		protobuf_u64(&perfetto->message, FRAME_SOURCE_PATH, (uint64_t)function->file + 1);
	protobuf_u64(&perfetto->message, FRAME_LINE, line->line);
	protobuf_message(&perfetto->interned, INTERNED_FRAMES, &perfetto->message);
}

/* Root first; each inlined function is a frame after the one it was inlined into. */
static void intern_stack(struct perfetto *perfetto, const struct profile *profile, uint32_t stack)
{
	const struct stack_node *nodes = profile->stacks.nodes.items;
	uint32_t node;
	size_t i;
	uint32_t at;

	perfetto->path.count = 0;
	for (node = stack; node != 0; node = nodes[node].parent)
		if (vec_push(&perfetto->path, nodes[node].frame) < 0)
			perfetto->failed = true;
	protobuf_u64(&perfetto->part, CALLSTACK_IID, (uint64_t)stack + 1);
	for (i = perfetto->path.count; i-- > 0;) {
		const struct profile_location *location =
			&profile->locations.items[perfetto->path.items[i]];

		for (at = location->first_line; at < location->first_line + location->line_count;
		     at++) {
			if (is_new(perfetto, &perfetto->lines, at))
				intern_frame(perfetto, profile, location, at);
			protobuf_u64(&perfetto->part, CALLSTACK_FRAMES, (uint64_t)at + 1);
		}
	}
	protobuf_message(&perfetto->interned, INTERNED_CALLSTACKS, &perfetto->part);
}

/* Events reported by the program: in packets of a separate sequence. */
static int put_told(struct perfetto *perfetto, const struct profile *profile,
		    const struct export_sample *sample, struct bytes *out)
{
	const struct profile_thread *thread = &profile->threads.items[sample->thread];
	struct perfetto_place place = {.pid = pid_of(thread),
				       .tid = tid_of(profile, sample->thread)};

	if (is_new(perfetto, &perfetto->threads, sample->thread))
		put_thread(perfetto, profile, sample, out);
	return perfetto->failed ? -ENOMEM
				: perfetto_tracks_put(&perfetto->tracks, place, sample, out);
}

static int perfetto_sample(void *self, const struct profile *profile,
			   const struct export_sample *sample, struct bytes *out)
{
	struct perfetto *perfetto = self;
	const struct profile_thread *thread = &profile->threads.items[sample->thread];

	if (!perfetto->clock) {
		put_clocks(perfetto, sample, out);
		perfetto->start_ns = sample->time_ns - sample->since_ns;
	}
	if (sample->kind != SCHEMA_SAMPLED)
		return put_told(perfetto, profile, sample, out);
	if (!perfetto->begun)
		put_head(perfetto, sample, out);
	if (is_new(perfetto, &perfetto->threads, sample->thread))
		put_thread(perfetto, profile, sample, out);
	if (sample->stack != 0 && is_new(perfetto, &perfetto->stacks, sample->stack))
		intern_stack(perfetto, profile, sample->stack);
	protobuf_set_u64(&perfetto->packet, PACKET_TIMESTAMP, sample->time_ns);
	protobuf_u64(&perfetto->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
	if (perfetto->interned.size > 0)
		protobuf_message(&perfetto->packet, PACKET_INTERNED_DATA, &perfetto->interned);
	protobuf_set_u64(&perfetto->message, SAMPLE_CPU, sample->cpu);
	protobuf_u64(&perfetto->message, SAMPLE_PID, pid_of(thread));
	protobuf_u64(&perfetto->message, SAMPLE_TID, tid_of(profile, sample->thread));
	if (sample->stack != 0)
		protobuf_u64(&perfetto->message, SAMPLE_CALLSTACK, (uint64_t)sample->stack + 1);
	protobuf_message(&perfetto->packet, PACKET_PERF_SAMPLE, &perfetto->message);
	put_packet(perfetto, out);
	return perfetto->failed ? -ENOMEM : 0;
}

/* What a process allocated at a stack. */
struct heap_row {
	uint32_t pid;
	uint32_t stack;
	int64_t values[4];
};

/* The values in the order of heap_row, by their names in a heap profile. */
static const char *const heap_values[] = {"alloc_space", "inuse_space", "alloc_objects",
					  "inuse_objects"};

static int compare_rows(const void *a, const void *b)
{
	const struct heap_row *one = a;
	const struct heap_row *other = b;

	if (one->pid != other->pid)
		return one->pid < other->pid ? -1 : 1;
	return one->stack < other->stack ? -1 : one->stack > other->stack;
}

/* Lists what processes allocated at each stack, sorted; threads are added up. NULL: no memory. */
static struct heap_row *list_rows(const struct profile *profile, size_t *ret_count)
{
	struct heap_row *rows = calloc(profile->entries.count + 1, sizeof(*rows));
	size_t n = 0;

	for (size_t i = 0; rows && i < profile->entries.count; i++) {
		const struct profile_entry *entry = &profile->entries.items[i];
		const int64_t *values = profile->values.items + i * profile->value_count;

		rows[i].pid = pid_of(&profile->threads.items[entry->thread]);
		rows[i].stack = entry->stack;
		for (uint32_t k = 0; k < ARRAY_SIZE(heap_values); k++)
			for (uint32_t type = 0; type < profile->value_count; type++)
				if (strcmp(profile->value_types[type].name, heap_values[k]) == 0)
					rows[i].values[k] = values[type];
	}
	if (!rows)
		return NULL;
	qsort(rows, profile->entries.count, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < profile->entries.count; i++) {
		if (n > 0 && compare_rows(&rows[n - 1], &rows[i]) == 0)
			for (size_t k = 0; k < ARRAY_SIZE(heap_values); k++)
				rows[n - 1].values[k] += rows[i].values[k];
		else
			rows[n++] = rows[i];
	}
	*ret_count = n;
	return rows;
}

static void put_heap_sample(struct perfetto *perfetto, const struct heap_row *row)
{
	protobuf_u64(&perfetto->part, HEAP_CALLSTACK, (uint64_t)row->stack + 1);
	protobuf_u64(&perfetto->part, HEAP_ALLOCATED, (uint64_t)row->values[0]);
	protobuf_u64(&perfetto->part, HEAP_FREED, (uint64_t)(row->values[0] - row->values[1]));
	protobuf_u64(&perfetto->part, HEAP_ALLOC_COUNT, (uint64_t)row->values[2]);
	protobuf_u64(&perfetto->part, HEAP_FREE_COUNT, (uint64_t)(row->values[2] - row->values[3]));
	protobuf_message(&perfetto->message, DUMP_SAMPLE, &perfetto->part);
}

/* The dump of one process: rows of the same pid. Stacks are interned before the samples. */
static void put_dump(struct perfetto *perfetto, const struct profile *profile,
		     const struct heap_row *rows, size_t count, struct bytes *out)
{
	for (size_t i = 0; i < count; i++)
		if (is_new(perfetto, &perfetto->stacks, rows[i].stack))
			intern_stack(perfetto, profile, rows[i].stack);
	protobuf_set_u64(&perfetto->packet, PACKET_TIMESTAMP,
			 perfetto->start_ns + profile->duration_ns);
	protobuf_u64(&perfetto->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
	if (perfetto->interned.size > 0)
		protobuf_message(&perfetto->packet, PACKET_INTERNED_DATA, &perfetto->interned);
	protobuf_u64(&perfetto->message, DUMP_PID, rows->pid);
	for (size_t i = 0; i < count; i++)
		put_heap_sample(perfetto, &rows[i]);
	protobuf_set_u64(&perfetto->message, DUMP_TIMESTAMP,
			 perfetto->start_ns + profile->duration_ns);
	protobuf_string(&perfetto->message, DUMP_HEAP_NAME, "heap");
	bytes_put(&perfetto->part, perfetto->message.data, perfetto->message.size);
	bytes_clear(&perfetto->message);
	protobuf_message(&perfetto->message, PROFILE_DUMP, &perfetto->part);
	protobuf_message(&perfetto->packet, PACKET_PROFILE, &perfetto->message);
	put_packet(perfetto, out);
}

/* Live memory over time, as a counter of a process. */
static int put_level(struct perfetto *perfetto, const struct profile *profile,
		     const struct level_track *track, uint32_t pid, struct bytes *out)
{
	struct export_sample level = {.event = track->kind == LEVEL_HEAP ? "heap" : "resident",
				      .unit = "bytes",
				      .kind = SCHEMA_GAUGE};
	int r = 0;

	for (size_t i = 0; i < track->points.count && r == 0; i++) {
		const struct level_point *point = &track->points.items[i];

		level.time_ns = perfetto->start_ns + point->since_ns;
		level.weight = (uint64_t)point->most;
		if (level.time_ns <= perfetto->start_ns + profile->duration_ns)
			r = perfetto_tracks_put(&perfetto->tracks,
						(struct perfetto_place){.pid = pid}, &level, out);
	}
	return r;
}

static int put_levels(struct perfetto *perfetto, const struct profile *profile, uint32_t pid,
		      struct bytes *out)
{
	int r = 0;

	for (size_t i = 0; i < profile->time.tracks.count && r == 0; i++) {
		const struct level_track *track = &profile->time.tracks.items[i];

		if (track->kind != LEVEL_GAUGE) /* those were listed */
			r = put_level(perfetto, profile, track, track->pid ? track->pid : pid, out);
	}
	return r;
}

/* Defines clocks and threads as a sample at the end would. */
static void put_heap_head(struct perfetto *perfetto, const struct profile *profile,
			  struct bytes *out)
{
	struct export_sample end = {.time_ns = perfetto->start_ns + profile->duration_ns};

	if (profile->start_realtime_ns > 0)
		end.realtime_ns = profile->start_realtime_ns + profile->duration_ns;
	if (!perfetto->clock)
		put_clocks(perfetto, &end, out);
	if (!perfetto->begun) {
		protobuf_u64(&perfetto->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_STATE_CLEARED);
		put_packet(perfetto, out);
		perfetto->begun = true;
	}
	for (uint32_t i = 0; i < profile->threads.count; i++) {
		end.thread = i;
		if (is_new(perfetto, &perfetto->threads, i))
			put_thread(perfetto, profile, &end, out);
	}
}

static int perfetto_finish(void *self, const struct profile *profile, struct bytes *out)
{
	struct perfetto *perfetto = self;
	struct heap_row *rows;
	size_t count = 0;
	int r;

	if (profile->time.heap_value != 0 || profile->entries.count == 0)
		return 0;
	rows = list_rows(profile, &count);
	if (!rows)
		return -ENOMEM;
	put_heap_head(perfetto, profile, out);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && rows[end].pid == rows[i].pid;)
			end++;
		put_dump(perfetto, profile, rows + i, end - i, out);
	}
	r = put_levels(perfetto, profile, rows->pid, out);
	free(rows);
	return perfetto->failed ? -ENOMEM : r;
}

const struct exporter_ops export_perfetto = {
	.name = "perfetto",
	.summary = "a trace for ui.perfetto.dev: samples, events and gauges over time",
	.extension = "pftrace",
	.binary = true,
	.begin = perfetto_begin,
	.sample = perfetto_sample,
	.finish = perfetto_finish,
	.heap = true,
	.free = perfetto_free,
};
