/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include <linux/perf_event.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/id_index.h"
#include "engine/perf/record.h"
#include "engine/perf/state.h"
#include "engine/perf/user_stack.h"
#include "engine/process_tracker.h"
#include "engine/stack_cache.h"
#include "model/sink.h"
#include "unwind/walk.h"

#define TICK_MAX_NS (10 * NS_PER_MS) /* CONFIG_HZ is 100 at least */

static int flush_batch(struct perf_engine *engine, struct error *err)
{
	struct sample_batch batch = {
		.schema = engine->schema,
		.count = engine->count,
		.stack = engine->stack,
		.thread = engine->thread,
		.cpu = engine->cpu,
		.time_ns = engine->time_ns,
		.weight = engine->weight,
	};

	engine->count = 0;
	return batch.count == 0 ? 0 : engine->sink->ops->batch(engine->sink->self, &batch, err);
}

/* Entries of a chain above this are marks: which kind of addresses follow. */
static bool is_mark(uint64_t entry)
{
	return entry >= (uint64_t)PERF_CONTEXT_MAX;
}

static uint64_t count_addresses(const struct sample_record *sample)
{
	uint64_t n = 0;
	uint64_t i;

	for (i = 0; i < sample->count; i++)
		n += !is_mark(sample->chain[i]);
	return n;
}

/* A mark of our own, which the kernel never writes: the walk ended before the root. */
#define MARK_CUT ((uint64_t)PERF_CONTEXT_MAX)

static bool is_cut(const struct sample_record *sample)
{
	return sample->count > 0 && sample->chain[sample->count - 1] == MARK_CUT;
}

/* How many entries of a chain are the kernel's. */
static uint64_t kernel_entries(const struct sample_record *sample)
{
	uint64_t n = 0;

	while (n < sample->count && sample->chain[n] != (uint64_t)PERF_CONTEXT_USER)
		n++;
	return n < MAX_CHAIN / 2 ? n : MAX_CHAIN / 2;
}

/* Frames that a walk by frame pointers may miss at the leaf: those without a frame record. */
#define MAX_MISSED 8

/*
 * Whether the kernel's chain, which missed so many frames after the leaf, agrees
 * with all that the tables have found. Comparing everything keeps recursion, where
 * the same address comes again and again, from being taken for another depth.
 */
static bool agrees(const uint64_t *chain, uint64_t count, const struct unwind_trace *trace,
		   uint64_t missed)
{
	uint64_t i;

	/*
	 * Not even the first frame fits into the copy, or the one that called a leaf
	 * without a frame: it is a large one and set up, or its return address would
	 * not be up there, so its record can be trusted.
	 */
	if (trace->count <= 2)
		return count > 1 && missed == (trace->count == 2 && chain[1] != trace->pcs[1]);
	if (trace->count < missed + 2 || count <= trace->count - 1 - missed)
		return false;
	for (i = 1; i + missed < trace->count; i++)
		if (chain[i] != trace->pcs[i + missed])
			return false;
	return true;
}

/*
 * A stack larger than the copy: the kernel's own walk, by frame pointers, tells
 * how it goes on if both agree on what both have seen.
 */
static void continue_by_frame_pointers(const struct perf_engine *engine,
				       const struct sample_record *sample,
				       struct unwind_trace *trace)
{
	uint64_t from = kernel_entries(sample) + 1; /* after the mark */
	const uint64_t *chain = sample->chain + from;
	uint64_t count = sample->count > from ? sample->count - from : 0;
	uint64_t missed = 0;
	uint64_t i;

	while (missed <= MAX_MISSED && !agrees(chain, count, trace, missed))
		missed++;
	if (missed > MAX_MISSED)
		return;
	for (i = trace->count - missed; i < count && trace->count < trace->capacity; i++)
		if (chain[i] != 0)
			trace->pcs[trace->count++] = chain[i];
	trace->end = count_addresses(sample) < engine->grant.depth ? UNWIND_ROOT : UNWIND_DEPTH;
}

/*
 * Replaces the chain of a sample by the kernel's part of it and what a walk of
 * the copied stack gives.
 */
static void walk_copy(struct perf_engine *engine, const struct tracked_process *process,
		      struct sample_record *sample)
{
	uint64_t kernel_count = kernel_entries(sample);
	struct unwind_trace trace = {.pcs = engine->chain + kernel_count + 1,
				     .capacity = engine->depth};
	uint64_t room = MAX_CHAIN - kernel_count - 2;

	engine->copied_bytes += sample->stack_bytes;
	/*
	 * A kernel thread has no user part; nor has a program in the middle of its
	 * exec, whose old stack is gone and whose new one is not there yet.
	 */
	if (!sample->registers || (sample->stack_bytes == 0 && kernel_count > 0)) {
		sample->count = kernel_count;
		return;
	}
	/* Tables and walks are of 64 bits; the kernel's own walk knows the other kind. */
	if (sample->is_32_bit) {
		engine->stats.narrow++;
		return;
	}
	if (trace.capacity > room)
		trace.capacity = (uint32_t)room;
	memcpy(engine->chain, sample->chain, kernel_count * sizeof(*engine->chain));
	engine->chain[kernel_count] = (uint64_t)PERF_CONTEXT_USER;
	user_stack_walk(engine->tracker, process, sample, &trace);
	if (trace.end == UNWIND_UNREADABLE)
		continue_by_frame_pointers(engine, sample, &trace);
	engine->stats.ends[trace.end - UNWIND_ROOT]++;
	sample->chain = engine->chain;
	sample->count = kernel_count + 1 + trace.count;
	if (trace.end != UNWIND_ROOT)
		engine->chain[sample->count++] = MARK_CUT;
}

/*
 * The frame of a user address. Of a process whose other threads are not watched we
 * do not hear all that it maps: an address of no module is looked up in /proc.
 */
static struct frame user_frame(struct perf_engine *engine, struct tracked_process *process,
			       uint64_t time_ns, uint64_t address)
{
	struct frame frame = tracked_process_frame(process, time_ns, address);

	if (frame.a == MODULE_NONE && engine->partial &&
	    process_tracker_refresh(engine->tracker, process, time_ns))
		frame = tracked_process_frame(process, time_ns, address);
	return frame;
}

/* Interns a chain (leaf first, with marks) as a stack, root first. */
static uint32_t intern_chain(struct perf_engine *engine, struct tracked_process *process,
			     const struct sample_record *sample, bool truncated)
{
	struct frame *place = engine->frames + MAX_CHAIN + 1;
	uint64_t mark = (uint64_t)PERF_CONTEXT_USER;
	uint32_t id;
	uint64_t i;
	size_t n;

	for (i = 0; i < sample->count && place > engine->frames + 1; i++) {
		uint64_t entry = sample->chain[i];

		if (is_mark(entry)) {
			mark = entry;
			continue;
		}
		if (entry == 0)
			continue; /* the end that some walks run into */
		*--place = mark == (uint64_t)PERF_CONTEXT_KERNEL
				   ? process_tracker_kernel_frame(engine->tracker, entry)
				   : user_frame(engine, process, sample->time_ns, entry);
	}
	/* The walk goes from the leaf to the root, so the last written is the root. */
	if (truncated)
		*--place = (struct frame){.kind = FRAME_TRUNCATED};
	n = (size_t)(engine->frames + MAX_CHAIN + 1 - place);
	if (engine->sink->ops->stack(engine->sink->self, place, n, &id) < 0)
		return ID_NONE;
	return id;
}

/* The stack of a sample: from the cache when these addresses were seen before. */
static uint32_t stack_of(struct perf_engine *engine, struct tracked_process *process,
			 const struct sample_record *sample)
{
	uint64_t context = tracked_process_context(process, sample->time_ns);
	uint64_t addresses = count_addresses(sample);
	bool truncated = engine->copies ? is_cut(sample) : addresses >= engine->grant.depth;
	uint32_t id = stack_cache_find(engine->cache, context, sample->chain, sample->count);

	engine->stats.frames += addresses;
	engine->stats.truncated += truncated;
	if (id != ID_NONE)
		return id;
	id = intern_chain(engine, process, sample, truncated);
	if (id != ID_NONE)
		stack_cache_add(engine->cache, context, sample->chain, sample->count, id);
	return id;
}

/* What the sample stands for: its period, and time that was throttled before it. */
static uint64_t weight_of(struct perf_engine *engine, struct cpu_ring *ring,
			  const struct sample_record *sample)
{
	uint64_t weight = engine->clock ? engine->period + ring->owed_ns : sample->period;

	ring->owed_ns = 0;
	return weight;
}

/* A sample that we could not keep. */
static int lose_sample(struct perf_engine *engine, uint64_t time_ns)
{
	engine->stats.lost++;
	return engine->sink->ops->loss(engine->sink->self, LOSS_NO_MEMORY, time_ns, 1);
}

static int handle_sample(struct perf_engine *engine, struct cpu_ring *ring,
			 const struct perf_event_header *header, struct error *err)
{
	struct tracked_process *process;
	struct sample_record sample;
	uint32_t stack = ID_NONE;
	uint32_t thread;
	size_t i = engine->count;

	if (!record_sample(header, !engine->clock, &sample) || sample.count > MAX_CHAIN)
		return lose_sample(engine, record_time_ns(header));
	if (engine->copies && !record_user_stack(header, engine->register_count, &sample))
		return lose_sample(engine, sample.time_ns);
	/* A thread on its last steps has no ids any more: (-1, -1). */
	if (sample.pid < 0)
		sample.pid = sample.tid = 0;
	if (process_tracker_sample(engine->tracker, sample.pid, sample.tid, &process, &thread) ==
	    0) {
		if (engine->copies)
			walk_copy(engine, process, &sample);
		stack = stack_of(engine, process, &sample);
	}
	if (stack == ID_NONE)
		return lose_sample(engine, sample.time_ns);
	engine->stats.samples++;
	engine->stack[i] = stack;
	engine->thread[i] = thread;
	engine->cpu[i] = sample.cpu;
	engine->time_ns[i] = sample.time_ns;
	engine->weight[i] = weight_of(engine, ring, &sample);
	engine->count++;
	return engine->count == BATCH ? flush_batch(engine, err) : 0;
}

static void handle_map(struct perf_engine *engine, const struct perf_event_header *header)
{
	struct map_record map;

	if (record_map(header, &map))
		process_tracker_map(engine->tracker, record_time_ns(header), map.pid, &map.region,
				    &map.build_id);
}

static void handle_task(struct perf_engine *engine, const struct perf_event_header *header)
{
	struct task_record task;

	if (!record_task(header, &task))
		return;
	if (header->type == PERF_RECORD_FORK)
		process_tracker_fork(engine->tracker, record_time_ns(header), task.pid, task.tid,
				     task.parent_pid, task.parent_tid);
	else
		process_tracker_exit(engine->tracker, task.pid, task.tid);
}

static void handle_comm(struct perf_engine *engine, const struct perf_event_header *header)
{
	struct comm_record comm;

	if (record_comm(header, &comm))
		process_tracker_comm(engine->tracker, record_time_ns(header), comm.pid, comm.tid,
				     comm.comm, comm.exec);
}

static int handle_lost(struct perf_engine *engine, const struct perf_event_header *header)
{
	uint64_t lost = record_lost(header);

	engine->stats.lost += lost;
	return engine->sink->ops->loss(engine->sink->self, LOSS_RING_FULL, record_time_ns(header),
				       lost);
}

/*
 * Between throttle and unthrottle nothing is sampled: the next sample stands for
 * it. The kernel lets go at the next tick of a CPU that the thread runs on; more
 * than a tick means that the thread was away in between.
 */
static void handle_throttle(struct perf_engine *engine, struct cpu_ring *ring,
			    const struct perf_event_header *header)
{
	uint64_t now_ns = record_time_ns(header);

	if (header->type == PERF_RECORD_THROTTLE) {
		engine->stats.throttled++;
		ring->throttled_at_ns = now_ns;
	} else if (ring->throttled_at_ns > 0 && now_ns > ring->throttled_at_ns) {
		uint64_t held_ns = now_ns - ring->throttled_at_ns;

		held_ns = held_ns < TICK_MAX_NS ? held_ns : TICK_MAX_NS;
		ring->owed_ns += held_ns;
		engine->throttled_ns += held_ns;
		ring->throttled_at_ns = 0;
	}
}

static int handle(struct perf_engine *engine, struct cpu_ring *ring,
		  const struct perf_event_header *header, struct error *err)
{
	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		return handle_sample(engine, ring, header, err);
	case PERF_RECORD_MMAP2:
		handle_map(engine, header);
		return 0;
	case PERF_RECORD_COMM:
		handle_comm(engine, header);
		return 0;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		handle_task(engine, header);
		return 0;
	case PERF_RECORD_LOST:
		return handle_lost(engine, header);
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		handle_throttle(engine, ring, header);
		return 0;
	default:
		return 0; /* a kind that was not asked for */
	}
}

/* When the next record of a ring happened; UINT64_MAX when it has none. */
static uint64_t next_time(struct cpu_ring *ring)
{
	const struct perf_event_header *header = ring_peek(&ring->ring);

	return header ? record_time_ns(header) : UINT64_MAX;
}

/*
 * The ring with the oldest record, and the time up to which it stays the one:
 * that of the next oldest.
 */
static struct cpu_ring *oldest(struct perf_engine *engine, uint64_t *ret_until_ns)
{
	struct cpu_ring *best = NULL;
	uint64_t best_ns = UINT64_MAX;
	uint64_t second_ns = UINT64_MAX;
	size_t i;

	for (i = 0; i < engine->rings.count; i++) {
		uint64_t time_ns = next_time(&engine->rings.items[i]);

		if (time_ns < best_ns) {
			second_ns = best_ns;
			best_ns = time_ns;
			best = &engine->rings.items[i];
		} else if (time_ns < second_ns) {
			second_ns = time_ns;
		}
	}
	*ret_until_ns = second_ns;
	return best;
}

int perf_drain(struct perf_engine *engine, uint64_t until_ns, struct error *err)
{
	struct cpu_ring *ring;
	uint64_t other_ns;
	size_t i;
	int r = 0;

	for (i = 0; i < engine->rings.count; i++)
		ring_look(&engine->rings.items[i].ring);
	while (r == 0 && (ring = oldest(engine, &other_ns)) && next_time(ring) <= until_ns) {
		uint64_t limit_ns = other_ns < until_ns ? other_ns : until_ns;
		const struct perf_event_header *header;

		while (r == 0 && (header = ring_peek(&ring->ring)) &&
		       record_time_ns(header) <= limit_ns) {
			r = handle(engine, ring, header, err);
			ring_next(&ring->ring);
		}
		ring_release(&ring->ring);
	}
	return r < 0 ? r : flush_batch(engine, err);
}
