/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include <linux/perf_event.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/id_index.h"
#include "engine/ebpf/walker.h"
#include "engine/perf/bpf_sample.h"
#include "engine/perf/perf_sample.h"
#include "engine/perf/record.h"
#include "engine/perf/state.h"
#include "engine/perf/user_stack.h"
#include "engine/perf/waker.h"
#include "engine/process_tracker.h"
#include "engine/registers.h"
#include "engine/stack_cache.h"
#include "model/sink.h"
#include "unwind/arch/native.h"
#include "unwind/walk.h"

#define TICK_MAX_NS (10 * NS_PER_MS) /* CONFIG_HZ is 100 at least */

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
		   uint64_t missed, uint64_t *ret_skipped)
{
	uint64_t skipped = 0;
	uint64_t i;

	/*
	 * Not even the first frame fits into the copy, or the one that called a leaf
	 * without a frame: it is a large one and set up, or its return address would
	 * not be up there, so its record can be trusted.
	 */
	*ret_skipped = 0;
	if (trace->count <= 2)
		return count > 1 && missed == (trace->count == 2 && chain[1] != trace->pcs[1]);
	if (trace->count < missed + 2 || count <= trace->count - 1 - missed)
		return false;
	for (i = 1; i + missed + skipped < trace->count; i++) {
		if (chain[i] == trace->pcs[i + missed + skipped])
			continue;
		/* A signal's trampoline, stored plus one: what it interrupted has no record. */
		if (chain[i] != trace->pcs[i + missed + skipped] - 1)
			return false;
		skipped++;
	}
	/* What was interrupted may be all that is left to compare. */
	*ret_skipped = i + missed + skipped > trace->count ? skipped - 1 : skipped;
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
	uint64_t skipped = 0;
	uint64_t i;

	while (missed <= MAX_MISSED && !agrees(chain, count, trace, missed, &skipped))
		missed++;
	if (missed > MAX_MISSED)
		return;
	for (i = trace->count - missed - skipped; i < count && trace->count < trace->capacity; i++)
		if (chain[i] != 0)
			trace->pcs[trace->count++] = chain[i];
	trace->end =
		perf_count_addresses(sample) < engine->grant.depth ? UNWIND_ROOT : UNWIND_DEPTH;
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
				     .capacity = engine->depth,
				     .end = UNWIND_UNREADABLE};
	struct registers registers;
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
	if (registers_of_sample(registers_perf_mask(), sample->registers, &registers) == 0) {
		struct user_stack stack = {.time_ns = sample->time_ns,
					   .pc = registers.pc,
					   .registers = registers.values,
					   .start = registers.values[UNWIND_NATIVE.sp_register],
					   .bytes = sample->stack,
					   .size = sample->stack_bytes};

		user_stack_walk(engine->tracker, process, &stack, &trace);
	}
	if (trace.end == UNWIND_UNREADABLE)
		continue_by_frame_pointers(engine, sample, &trace);
	engine->stats.ends[trace.end - UNWIND_ROOT]++;
	sample->chain = engine->chain;
	sample->count = kernel_count + 1 + trace.count;
	if (trace.end != UNWIND_ROOT)
		engine->chain[sample->count++] = PERF_MARK_CUT;
}

/* What the sample stands for: its period, and time that was throttled before it. */
static uint64_t weight_of(struct perf_engine *engine, struct cpu_ring *ring,
			  const struct sample_record *sample)
{
	uint64_t weight = engine->clock ? engine->period + ring->owed_ns : sample->period;

	ring->owed_ns = 0;
	return weight;
}

/* Takes a sample apart, whoever has made it. */
static bool read_sample(const struct perf_engine *engine, const struct perf_event_header *header,
			struct sample_record *sample)
{
	if (engine->walker)
		return record_raw(header, sample);
	return record_sample(
		       header,
		       (struct sample_layout){.period = !engine->clock, .group = engine->grouped},
		       sample) &&
	       sample->count <= MAX_CHAIN &&
	       (!engine->copies || record_user_stack(header, engine->register_count, sample));
}

/* Whose counters a sample tells: those of its thread, or of its CPU. */
static pid_t counting_thread(const struct perf_engine *engine, pid_t tid)
{
	return engine->by_cpu ? 0 : tid;
}

/*
 * What the kernel itself writes behind a program's record: the counters of a group.
 * Returns false when it is none.
 */
static bool handle_group(struct perf_engine *engine, struct cpu_ring *ring,
			 const struct perf_event_header *header, struct error *err, int *ret)
{
	struct sample_record sample;
	pid_t tid = ring->row_tid;

	if (!engine->walker || !engine->grouped || !record_group(header, &sample))
		return false;
	ring->row_tid = 0;
	*ret = tid == 0 || tid != sample.tid
		       ? 0 /* its sample was lost: what it counted goes to the next */
		       : perf_put_counts(engine, &ring->row, counting_thread(engine, tid), &sample,
					 err);
	return true;
}

/* Puts the sample; its counters are in it, or come behind it. */
static int put_sample(struct perf_engine *engine, struct cpu_ring *ring,
		      const struct sample_record *sample, const struct sample_row *row,
		      struct error *err)
{
	int r = perf_put_sample(engine, row, err);

	ring->row = *row;
	ring->row_tid = row->stack != ID_NONE ? sample->tid : 0;
	if (r < 0 || engine->walker)
		return r;
	return perf_put_counts(engine, row, counting_thread(engine, sample->tid), sample, err);
}

static int handle_sample(struct perf_engine *engine, struct cpu_ring *ring,
			 const struct perf_event_header *header, struct error *err)
{
	struct tracked_process *process;
	struct sample_record sample;
	struct sample_row row = {.stack = ID_NONE, .labels = engine->on_cpu_labels};
	int r;

	if (handle_group(engine, ring, header, err, &r))
		return r;
	if (!read_sample(engine, header, &sample))
		return perf_lose_sample(engine, record_time_ns(header));
	if (engine->walker && bpf_sample_is_away(&sample))
		return bpf_sample_away(engine, &sample, err);
	if (engine->walker && waker_is(&sample)) {
		waker_keep(engine, &sample);
		return 0;
	}
	/* A thread on its last steps has no ids any more: (-1, -1). */
	if (sample.pid < 0)
		sample.pid = sample.tid = 0;
	row.cpu = sample.cpu;
	row.time_ns = sample.time_ns;
	if (process_tracker_sample(engine->tracker, sample.pid, sample.tid, &process,
				   &row.thread) == 0) {
		if (engine->walker && !bpf_sample_read(engine, process, &sample))
			return perf_lose_sample(engine, sample.time_ns);
		if (engine->copies)
			walk_copy(engine, process, &sample);
		row.stack = perf_stack_of(engine, process, &sample);
	}
	row.weight = weight_of(engine, ring, &sample);
	return put_sample(engine, ring, &sample, &row, err);
}

static void handle_map(struct perf_engine *engine, const struct perf_event_header *header)
{
	struct map_record map;

	engine->news = true;
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
	if (header->type == PERF_RECORD_EXIT && engine->grouped)
		counters_forget(&engine->counters, task.tid, engine->cpus.items,
				engine->cpus.count);
}

static void handle_comm(struct perf_engine *engine, const struct perf_event_header *header)
{
	struct comm_record comm;

	if (record_comm(header, &comm))
		process_tracker_comm(engine->tracker, record_time_ns(header), comm.pid, comm.tid,
				     comm.comm, comm.exec);
}

/* Of lost records those that were the stack of a thread whose time is known all the same. */
static uint64_t lost_stacks(struct perf_engine *engine, uint64_t lost)
{
	struct walker_stats walker;
	uint64_t stacks;

	if (!engine->away)
		return 0;
	walker_stats(engine->walker, &walker);
	stacks = walker.counters[BPF_WALK_COUNT_NO_STACK] - engine->without_stack;
	if (stacks > lost)
		stacks = lost;
	engine->without_stack += stacks;
	return stacks;
}

static int handle_lost(struct perf_engine *engine, const struct perf_event_header *header)
{
	uint64_t lost = record_lost(header);

	lost -= lost_stacks(engine, lost);
	if (lost == 0)
		return 0;
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
	return r < 0 ? r : perf_flush(engine, err);
}
