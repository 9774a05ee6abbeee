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
#include "model/profile.h"

/*
 * perfetto: a trace for ui.perfetto.dev, in Perfetto's own protobuf: a packet for each sample,
 * preceded by everything it refers to for the first time.
 *
 * Not Chrome's JSON trace format, which the same page opens: its reader ignores the stacks of
 * samples there ("stackFrames", "sf"), so only bare events would be left. From these packets it
 * draws a track for each thread, and flame graphs of any time range.
 *
 * Events reported by the program become tracks of its processes and threads: perfetto_tracks.h.
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

#define SEQUENCE 1u

/* Above every Linux pid and tid: for threads of imported files that have none. */
#define FIRST_MADE_UP_ID (1u << 22)

/* Whether the entry with an id has already been written. */
struct seen {
	VEC(uint8_t) flags;
};

struct perfetto {
	bool clock; /* written */
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

	if (!perfetto->clock)
		put_clocks(perfetto, sample, out);
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

const struct exporter_ops export_perfetto = {
	.name = "perfetto",
	.summary = "a trace for ui.perfetto.dev: samples, events and gauges over time",
	.extension = "pftrace",
	.binary = true,
	.begin = perfetto_begin,
	.sample = perfetto_sample,
	.free = perfetto_free,
};
