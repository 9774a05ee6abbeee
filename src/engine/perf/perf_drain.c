/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include <linux/perf_event.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/id_index.h"
#include "engine/engine.h"
#include "engine/perf/perf_engine.h"
#include "engine/perf/perf_overwrite.h"
#include "engine/perf/perf_programs.h"
#include "engine/perf/perf_sample.h"
#include "engine/perf/sample_calls.h"
#include "language/language.h"
#include "model/sink.h"
#include "perf_records/perf_record.h"
#include "process_stacks/chain.h"
#include "process_stacks/interpreters.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/stack_cache.h"
#include "unwind/walk.h"

#define TICK_MAX_NS (10 * NS_PER_MS) /* CONFIG_HZ is at least 100 */

/* Walks the copied stack of a sample. */
static void walk_copy(struct perf_engine *engine, const struct tracked_process *process,
		      struct sample_record *sample)
{
	int end;

	engine->walk.tracker = engine->output.tracker;
	engine->walk.register_mask = engine->grant.attr.sample_regs_user;
	engine->walk.depth = engine->depth;
	engine->walk.chain_depth = engine->grant.depth;
	engine->copied_bytes += sample->stack_bytes;
	end = chain_walk_copy(&engine->walk, process, sample);
	engine->output.stats.stacks.narrow += end == -ENOTSUP;
	engine->output.facts.end = end >= UNWIND_ROOT ? (uint8_t)end : 0;
}

/* The weight of a sample: its period plus the throttled time before it. 0: none. */
static uint64_t weight_of(struct perf_engine *engine, struct cpu_ring *ring,
			  const struct sample_record *sample)
{
	uint64_t weight = perf_rate_weight(engine, sample);

	if (weight > 0 && engine->clock)
		weight += ring->owed_ns;
	ring->owed_ns = 0;
	return weight;
}

/* Decodes a sample, regardless of who wrote it. */
static bool read_sample(const struct perf_engine *engine, const struct perf_event_header *header,
			struct sample_record *sample)
{
	return perf_record_sample(&engine->layout, header, sample) && sample->count <= MAX_CHAIN;
}

/* Whose counters a sample contains: those of its thread or of its CPU. */
static pid_t counting_thread(const struct perf_engine *engine, pid_t tid)
{
	return engine->by_cpu ? 0 : tid;
}

/*
 * Reads what the kernel itself writes after a program's record: the counters of a group. False if
 * it is something else.
 */
static bool handle_group(struct perf_engine *engine, struct cpu_ring *ring,
			 const struct perf_event_header *header, struct error *err, int *ret)
{
	struct sample_record sample;
	pid_t tid = ring->row_tid;

	if (!engine->programs || !engine->grouped || !perf_record_group(header, &sample))
		return false;
	ring->row_tid = 0;
	*ret = tid == 0 || tid != sample.tid
		       ? 0 /* its sample was lost: its counts go to the next one */
		       : perf_put_counts(&engine->output, &ring->row, counting_thread(engine, tid),
					 &sample, err);
	return true;
}

/* Adds the sample; its counters are in it, or follow it. */
static int put_sample(struct perf_engine *engine, struct cpu_ring *ring,
		      const struct sample_record *sample, const struct sample_row *row,
		      struct error *err)
{
	int r = perf_put_sample(&engine->output, row, err);

	ring->row = *row;
	ring->row_tid = row->stack != ID_NONE ? sample->tid : 0;
	if (r < 0 || engine->programs)
		return r;
	return perf_put_counts(&engine->output, row, counting_thread(engine, sample->tid), sample,
			       err);
}

struct perf_following {
	const struct perf_engine *engine;
	struct ring *ring;
	uint64_t position; /* after the sample; 0: not read yet */
};

bool perf_following_next(struct perf_following *following, struct sample_record *ret)
{
	const struct perf_event_header *header;

	if (following->position == 0)
		(void)ring_peek_later(following->ring, &following->position); /* the sample */
	header = ring_peek_later(following->ring, &following->position);
	return header && header->type == PERF_RECORD_SAMPLE &&
	       read_sample(following->engine, header, ret);
}

/* Appends the calls that were read of a sample to its chain; the lock is held. */
static void add_calls(struct perf_engine *engine, const struct cpu_ring *ring,
		      const struct tracked_process *process, struct sample_record *sample)
{
	struct interpreters *interpreters = engine->output.frames.interpreters;
	struct interpreter_counts *counts = interpreters_counts(interpreters);
	const struct interpreter *interpreter =
		interpreters_of(interpreters, tracked_process_number(process));
	const struct read_calls *read = sample_calls_take(
		engine->calls, (size_t)(ring - engine->rings.items), ring->ring.tail);
	uint32_t count = read ? read->count : 0;

	if (!interpreter)
		return;
	if (read && (read->number != tracked_process_number(process) ||
		     read->generation != interpreter_generation(interpreter)))
		count = 0;
	if (chain_append_calls(&engine->walk, interpreter, read ? read->words : NULL, count,
			       sample) >= 0)
		return;
	/* A process is known when its first samples are drained, and its calls are read later. */
	counts->torn += read != NULL;
	counts->early += read == NULL;
}

/* The stack of a sample, with the calls of an interpreter if they could be read. */
static uint32_t stack_of(struct perf_engine *engine, const struct cpu_ring *ring,
			 struct tracked_process *process, struct sample_record *sample)
{
	uint32_t stack;

	if (!sample_calls_meet(engine->calls, process))
		return perf_stack_of(&engine->output, process, sample);
	sample_calls_lock(engine->calls);
	add_calls(engine, ring, process, sample);
	stack = perf_stack_of(&engine->output, process, sample);
	sample_calls_unlock(engine->calls);
	return stack;
}

static int handle_sample(struct perf_engine *engine, struct cpu_ring *ring,
			 const struct perf_event_header *header, struct error *err)
{
	struct tracked_process *process;
	struct sample_record sample;
	struct sample_row row = {.stack = ID_NONE, .labels = engine->output.labels};
	int r;

	if (handle_group(engine, ring, header, err, &r))
		return r;
	if (!read_sample(engine, header, &sample))
		return perf_lose_sample(&engine->output,
					perf_record_time_ns(&engine->layout, header));
	if (engine->programs) {
		struct perf_following following = {.engine = engine, .ring = &ring->ring};

		r = perf_programs_take(engine->programs, &sample, &following, err);
		if (r != 0)
			return r < 0 ? r : 0;
	}
	/* A thread that is exiting has no ids any more: (-1, -1). */
	if (sample.pid < 0)
		sample.pid = sample.tid = 0;
	row.cpu = sample.cpu;
	row.time_ns = sample.time_ns;
	engine->output.facts = (struct stack_facts){0};
	if (process_tracker_sample(engine->output.tracker, sample.pid, sample.tid, &process,
				   &row.thread) == 0) {
		if (engine->programs &&
		    !perf_programs_read_chain(engine->programs, process, &sample))
			return perf_lose_sample(&engine->output, sample.time_ns);
		if (engine->copies)
			walk_copy(engine, process, &sample);
		row.stack = stack_of(engine, ring, process, &sample);
	}
	row.weight = weight_of(engine, ring, &sample);
	if (row.weight == 0)
		return 0; /* of a pause */
	perf_count_stack(&engine->output, &engine->output.facts);
	engine->output.stats.samples.seen_ns += engine->clock ? row.weight : 0;
	return put_sample(engine, ring, &sample, &row, err);
}

static void handle_map(struct perf_engine *engine, const struct perf_event_header *header)
{
	struct map_record map;

	if (!perf_record_map(&engine->layout, header, &map))
		return;
	engine->news |= process_tracker_map(engine->output.tracker,
					    perf_record_time_ns(&engine->layout, header), map.pid,
					    &map.region, &map.build_id);
	sample_calls_map(engine->calls, process_tracker_find(engine->output.tracker, map.pid),
			 &map.region);
}

static void handle_task(struct perf_engine *engine, const struct perf_event_header *header)
{
	struct task_record task;

	if (!perf_record_task(&engine->layout, header, &task))
		return;
	if (header->type == PERF_RECORD_FORK)
		process_tracker_fork(engine->output.tracker,
				     perf_record_time_ns(&engine->layout, header), task.pid,
				     task.tid, task.parent_pid, task.parent_tid);
	else
		process_tracker_exit(engine->output.tracker, task.pid, task.tid);
	if (header->type == PERF_RECORD_FORK && task.pid != task.parent_pid)
		sample_calls_fork(engine->calls,
				  process_tracker_find(engine->output.tracker, task.pid),
				  process_tracker_find(engine->output.tracker, task.parent_pid));
	if (header->type == PERF_RECORD_EXIT)
		sample_calls_forget_thread(engine->calls, task.tid);
	if (header->type == PERF_RECORD_EXIT && task.pid == task.tid)
		sample_calls_forget(engine->calls, task.pid);
	if (header->type == PERF_RECORD_EXIT && engine->grouped)
		counters_forget(&engine->output.counters, task.tid, engine->cpus.items,
				engine->cpus.count);
}

static void handle_comm(struct perf_engine *engine, const struct perf_event_header *header)
{
	struct comm_record comm;

	if (!perf_record_comm(&engine->layout, header, &comm))
		return;
	if (comm.exec)
		sample_calls_forget(engine->calls, comm.pid);
	process_tracker_comm(engine->output.tracker, perf_record_time_ns(&engine->layout, header),
			     comm.pid, comm.tid, comm.comm, comm.exec);
}

static int handle_lost(struct perf_engine *engine, const struct cpu_ring *ring,
		       const struct perf_event_header *header)
{
	uint64_t lost = perf_record_lost(header);

	if (engine->programs)
		lost -= perf_programs_count_lost_stacks(engine->programs, lost);
	if (lost == 0 || perf_overwrite_knows_lost(engine, ring, lost))
		return 0;
	engine->output.stats.samples.lost += lost;
	return sink_loss(engine->output.sink, LOSS_RING_FULL,
			 perf_record_time_ns(&engine->layout, header), lost);
}

/*
 * Between throttle and unthrottle nothing is sampled, so the next sample represents that time. The
 * kernel unthrottles at the next tick of a CPU that the thread runs on; more than a tick means that
 * the thread was off the CPU in between.
 */
static void handle_throttle(struct perf_engine *engine, struct cpu_ring *ring,
			    const struct perf_event_header *header)
{
	uint64_t now_ns = perf_record_time_ns(&engine->layout, header);

	if (header->type == PERF_RECORD_THROTTLE) {
		engine->output.stats.samples.throttled++;
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
		return handle_lost(engine, ring, header);
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		handle_throttle(engine, ring, header);
		return 0;
	default:
		return 0; /* a kind that was not requested */
	}
}

/* The time of the next record of a ring; UINT64_MAX if it has none. */
static uint64_t next_time(const struct perf_engine *engine, struct cpu_ring *ring)
{
	const struct perf_event_header *header = ring_peek(&ring->ring);

	return header ? perf_record_time_ns(&engine->layout, header) : UINT64_MAX;
}

/*
 * The ring with the oldest record, and until when that holds: the time of the next oldest record.
 */
static struct cpu_ring *oldest(struct perf_engine *engine, uint64_t *ret_until_ns)
{
	struct cpu_ring *best = NULL;
	uint64_t best_ns = UINT64_MAX;
	uint64_t second_ns = UINT64_MAX;
	size_t i;

	for (i = 0; i < engine->rings.count; i++) {
		uint64_t time_ns = next_time(engine, &engine->rings.items[i]);

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

static void look(struct perf_engine *engine, struct ring *ring)
{
	double fill;

	ring_look(ring);
	fill = (double)(ring->head - ring->tail) / (double)ring->data_bytes;
	engine->ring_fill = fill > engine->ring_fill ? fill : engine->ring_fill;
}

int perf_drain(struct perf_engine *engine, uint64_t until_ns, struct error *err)
{
	struct cpu_ring *ring;
	uint64_t other_ns;
	size_t i;
	int r = engine->overwrite_old ? perf_overwrite_take(engine) : 0;

	sample_calls_collect(engine->calls);

	engine->ring_fill *= ENGINE_FILL_FADES;
	for (i = 0; i < engine->rings.count; i++)
		look(engine, &engine->rings.items[i].ring);
	while (r == 0 && (ring = oldest(engine, &other_ns)) &&
	       next_time(engine, ring) <= until_ns) {
		uint64_t limit_ns = other_ns < until_ns ? other_ns : until_ns;
		const struct perf_event_header *header;

		while (r == 0 && (header = ring_peek(&ring->ring)) &&
		       perf_record_time_ns(&engine->layout, header) <= limit_ns) {
			r = handle(engine, ring, header, err);
			ring_next(&ring->ring);
		}
		ring_release(&ring->ring);
	}
	if (r == 0 && engine->overwrite_old)
		r = perf_overwrite_count(engine, until_ns == UINT64_MAX);
	if (r == 0 && engine->programs)
		r = perf_programs_flush(engine->programs, until_ns, err);
	return r < 0 ? r : perf_flush(&engine->output, err);
}
