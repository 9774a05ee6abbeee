/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_UNIT_BPF_WORLD_H
#define WICK_TESTS_UNIT_BPF_WORLD_H

/*
 * bpf_world: an engine that reads what BPF programs write, without any: records are put into its
 * ring, and samples come out. After cmocka.h.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/vec.h"
#include "engine/ebpf/bpf_programs.h"
#include "engine/ebpf/offcpu_places.h"
#include "engine/ebpf/wakers.h"
#include "engine/perf/perf_engine.h"
#include "fake_sink.h"
#include "perf_records.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/stack_cache.h"
#include "unwind/frame.h"
#include "wire/bpf_offcpu.h"
#include "wire/bpf_walk.h"

#define RING_BYTES 65536u
#define PERIOD 1000000u
#define PID 5000000u /* above every pid_max */

struct world {
	struct fake_sink fake;
	struct perf_engine *engine;
	struct bpf_programs *programs;
	struct record_builder b;
	size_t wanted;
	struct bpf_walk_key met; /* the last */
	const struct bpf_walk_away *still;
};

static struct world the_world;

/* In place of the real ones: there are no programs here. */
void __wrap_walker_want(struct walker *walker, const struct bpf_walk_key *key,
			struct tracked_process *process);
void __wrap_walker_each_away(struct walker *walker,
			     void (*show)(void *self, const struct bpf_walk_away *away),
			     void *self);

bool __wrap_walker_meet(struct walker *walker, const struct bpf_walk_key *key,
			struct tracked_process *process);

bool __wrap_walker_has_other(const struct walker *walker, const struct bpf_walk_key *key,
			     const struct tracked_process *process);

bool __wrap_walker_has_other(const struct walker *walker, const struct bpf_walk_key *key,
			     const struct tracked_process *process)
{
	(void)walker, (void)key, (void)process;
	return false;
}

bool __wrap_walker_meet(struct walker *walker, const struct bpf_walk_key *key,
			struct tracked_process *process)
{
	(void)walker, (void)process;
	the_world.met = *key;
	return true;
}

void __wrap_walker_want(struct walker *walker, const struct bpf_walk_key *key,
			struct tracked_process *process)
{
	(void)walker, (void)process;
	assert_int_equal(key->tgid, PID);
	the_world.wanted++;
}

void __wrap_walker_each_away(struct walker *walker,
			     void (*show)(void *self, const struct bpf_walk_away *away), void *self)
{
	(void)walker;
	if (the_world.still)
		show(self, the_world.still);
}

static inline int set_up(void **state)
{
	struct world *world = &the_world;
	struct perf_engine *engine = calloc(1, sizeof(*engine));
	struct bpf_programs *programs = calloc(1, sizeof(*programs));
	struct cpu_ring ring = {.fd = -1};

	*world = (struct world){0};
	assert_non_null(engine);
	assert_non_null(programs);
	fake_sink_init(&world->fake);
	engine->output.sink = &world->fake.sink;
	engine->output.tracker = process_tracker_new(engine->output.sink);
	engine->output.cache = stack_cache_new();
	engine->output.marks_cuts = true;
	programs->base.ops = &bpf_programs_ops;
	programs->output = &engine->output;
	programs->rate = &engine->rate;
	programs->depth = 512;
	programs->walker = (struct walker *)engine; /* any: nobody looks at it */
	programs->places = offcpu_places_new();
	assert_non_null(programs->places);
	engine->clock = true;
	engine->rate = (struct perf_rate){.asked_hz = 1, .hz = 1, .period = PERIOD};
	engine->depth = 512;
	engine->layout = layout_with(PERF_SAMPLE_RAW, 0);
	engine->programs = &programs->base;
	ring_of_memory(&ring.ring, RING_BYTES);
	assert_int_equal(vec_push(&engine->rings, ring), 0);
	world->engine = engine;
	world->programs = programs;
	*state = world;
	return 0;
}

static inline int tear_down(void **state)
{
	struct world *world = *state;

	ring_of_memory_free(&world->engine->rings.items[0].ring);
	vec_fini(&world->engine->rings);
	kept_stacks_fini(&world->programs->leavers);
	wakers_free(world->programs->wakers);
	long_stack_fini(&world->programs->long_stack);
	counters_fini(&world->engine->output.counters);
	process_tracker_free(world->engine->output.tracker);
	stack_cache_free(world->engine->output.cache);
	offcpu_places_free(world->programs->places);
	free(world->programs);
	free(world->engine);
	fake_sink_fini(&world->fake);
	return 0;
}

/* What a program writes while that process runs, in the ring and drained. */
static inline void drain_raw_of(struct world *world, uint32_t pid, const void *raw, size_t size)
{
	record_begin(&world->b, PERF_RECORD_SAMPLE, 0);
	put_u32(&world->b, pid);
	put_u32(&world->b, pid);
	put_u64(&world->b, 10);
	put_u32(&world->b, 0);
	put_u32(&world->b, 0);
	put_u32(&world->b, (uint32_t)size);
	put_raw(&world->b, raw, size);
	while (world->b.size % 8 != 0)
		put_raw(&world->b, "", 1);
	ring_append(&world->engine->rings.items[0].ring, record_end(&world->b));
	assert_int_equal(perf_drain(world->engine, UINT64_MAX, NULL), 0);
}

static inline void drain_raw(struct world *world, const void *raw, size_t size)
{
	drain_raw_of(world, PID, raw, size);
}

static inline struct bpf_walk_head head_of(uint8_t kind, uint16_t kernel_count, uint32_t user_count,
					   uint8_t end)
{
	return (struct bpf_walk_head){.kind = kind,
				      .end = end,
				      .kernel_count = kernel_count,
				      .user_count = user_count,
				      .key = {.mm = 1, .tgid = PID}};
}

/* Frames of the sample's stack. */
static inline size_t depth_of(const struct world *world, size_t sample)
{
	const struct stack_node *nodes = world->fake.dictionary.stacks.nodes.items;
	uint32_t node = world->fake.samples.items[sample].stack;
	size_t depth = 0;

	for (; node != 0; node = nodes[node].parent)
		depth++;
	return depth;
}

struct away_of_two {
	struct bpf_walk_head head;
	struct bpf_walk_times times;
	struct bpf_walk_sums sums;
	uint64_t pcs[2];
};

static inline struct away_of_two make_away(uint64_t left_ns, uint64_t woken_ns, uint64_t back_ns)
{
	return (struct away_of_two){
		.head = head_of(BPF_WALK_AWAY, 0, 2, UNWIND_ROOT),
		.times = {.left_ns = left_ns,
			  .woken_ns = woken_ns,
			  .back_ns = back_ns,
			  .tid = PID + 1,
			  .tgid = PID,
			  .state = BPF_WALK_SLEEPING},
		.pcs = {0x1000, 0x2000},
	};
}

#endif
