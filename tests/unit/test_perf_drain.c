/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/perf/perf.h"
#include "engine/perf/perf_engine.h"
#include "fake_sink.h"
#include "perf_records.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/stack_cache.h"

#define RING_BYTES 65536u
#define PERIOD 1000000u
#define PID 5000000u /* above every pid_max */
#define MS 1000000u

static const uint64_t user_chain[] = {PERF_CONTEXT_USER, 0x1000, 0x2000};

struct world {
	struct fake_sink fake;
	struct perf_engine *engine;
	struct record_builder b;
};

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	struct perf_engine *engine = calloc(1, sizeof(*engine));
	int cpu;

	assert_non_null(world);
	assert_non_null(engine);
	fake_sink_init(&world->fake);
	engine->output.sink = &world->fake.sink;
	engine->output.tracker = process_tracker_new(engine->output.sink);
	engine->output.cache = stack_cache_new();
	engine->clock = true;
	engine->rate = (struct perf_rate){.asked_hz = 1, .hz = 1, .period = PERIOD};
	engine->output.chain_depth = 127;
	engine->layout = layout_with(PERF_SAMPLE_CALLCHAIN, 0);
	for (cpu = 0; cpu < 2; cpu++) {
		struct cpu_ring ring = {.cpu = cpu, .fd = -1};

		ring_of_memory(&ring.ring, RING_BYTES);
		assert_int_equal(vec_push(&engine->rings, ring), 0);
	}
	world->engine = engine;
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;
	size_t i;

	for (i = 0; i < world->engine->rings.count; i++)
		ring_of_memory_free(&world->engine->rings.items[i].ring);
	vec_fini(&world->engine->rings);
	process_tracker_free(world->engine->output.tracker);
	stack_cache_free(world->engine->output.cache);
	free(world->engine);
	fake_sink_fini(&world->fake);
	free(world);
	return 0;
}

static void append(struct world *world, size_t cpu, const struct perf_event_header *record)
{
	ring_append(&world->engine->rings.items[cpu].ring, record);
}

static void sample_at(struct world *world, size_t cpu, uint64_t time_ns)
{
	append(world, cpu, make_sample(&world->b, PID, time_ns, (uint32_t)cpu, user_chain, 3));
}

static void throttle_at(struct world *world, uint32_t type, size_t cpu, uint64_t time_ns)
{
	record_begin(&world->b, type, 0);
	put_u64(&world->b, time_ns);
	put_u64(&world->b, 1);
	put_u64(&world->b, 1);
	put_trailer(&world->b, PID, PID, time_ns, (uint32_t)cpu);
	append(world, cpu, record_end(&world->b));
}

static void drain_all(struct world *world)
{
	assert_int_equal(perf_drain(world->engine, UINT64_MAX, NULL), 0);
}

static void samples_of_two_cpus_are_merged_in_order_of_time(void **state)
{
	static const uint64_t first[] = {10, 40, 50, 90};
	static const uint64_t second[] = {20, 30, 60, 70, 80};
	struct world *world = *state;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(first); i++)
		sample_at(world, 0, first[i]);
	for (i = 0; i < ARRAY_SIZE(second); i++)
		sample_at(world, 1, second[i]);
	drain_all(world);
	assert_int_equal(world->fake.samples.count, 9);
	for (i = 0; i < 9; i++)
		assert_int_equal(world->fake.samples.items[i].time_ns, 10 * (i + 1));
	assert_int_equal(world->fake.samples.items[1].cpu, 1);
	assert_int_equal(world->engine->output.stats.samples.count, 9);
}

static void younger_records_wait_for_the_next_drain(void **state)
{
	struct world *world = *state;

	sample_at(world, 0, 10);
	sample_at(world, 1, 20);
	sample_at(world, 0, 30);
	assert_int_equal(perf_drain(world->engine, 20, NULL), 0);
	assert_int_equal(world->fake.samples.count, 2);
	drain_all(world);
	assert_int_equal(world->fake.samples.count, 3);
}

static void map_at(struct world *world, size_t cpu, uint64_t time_ns)
{
	record_begin(&world->b, PERF_RECORD_MMAP2, 0);
	put_u32(&world->b, PID);
	put_u32(&world->b, PID);
	put_u64(&world->b, 0x1000);
	put_u64(&world->b, 0x4000);
	put_u64(&world->b, 0);
	put_u32(&world->b, 8);
	put_u32(&world->b, 1);
	put_u64(&world->b, 4711);
	put_u64(&world->b, 0);
	put_u32(&world->b, 4); /* PROT_EXEC */
	put_u32(&world->b, 2);
	put_name(&world->b, "/nowhere/lib.so");
	put_trailer(&world->b, PID, PID, time_ns, (uint32_t)cpu);
	append(world, cpu, record_end(&world->b));
}

static void a_mapping_on_one_cpu_explains_a_sample_on_another(void **state)
{
	struct world *world = *state;
	const struct dictionary *dictionary = &world->fake.dictionary;
	uint32_t node;

	sample_at(world, 1, 30);
	map_at(world, 0, 20);
	drain_all(world);
	node = world->fake.samples.items[0].stack;
	assert_int_not_equal(dictionary->frames.items[dictionary->stacks.nodes.items[node].frame].a,
			     MODULE_NONE);
}

static void throttled_time_goes_to_the_next_sample_of_that_cpu(void **state)
{
	struct world *world = *state;

	sample_at(world, 0, 1 * MS);
	throttle_at(world, PERF_RECORD_THROTTLE, 0, 2 * MS);
	throttle_at(world, PERF_RECORD_UNTHROTTLE, 0, 5 * MS);
	sample_at(world, 1, 5 * MS + 1);
	sample_at(world, 0, 6 * MS);
	sample_at(world, 0, 7 * MS);
	drain_all(world);
	assert_int_equal(world->engine->output.stats.samples.throttled, 1);
	assert_int_equal(world->fake.samples.items[0].weight, PERIOD);
	assert_int_equal(world->fake.samples.items[1].weight, PERIOD); /* the other CPU */
	assert_int_equal(world->fake.samples.items[2].weight, PERIOD + 3 * MS);
	assert_int_equal(world->fake.samples.items[3].weight, PERIOD);
}

static void a_thread_that_slept_while_throttled_is_not_charged_for_its_sleep(void **state)
{
	struct world *world = *state;

	throttle_at(world, PERF_RECORD_THROTTLE, 0, 2 * MS);
	throttle_at(world, PERF_RECORD_UNTHROTTLE, 0, 60000ull * MS);
	sample_at(world, 0, 60001ull * MS);
	drain_all(world);
	assert_in_range(world->fake.samples.items[0].weight, PERIOD, PERIOD + 10 * MS);
}

static void what_the_kernel_lost_is_counted(void **state)
{
	struct world *world = *state;

	record_begin(&world->b, PERF_RECORD_LOST, 0);
	put_u64(&world->b, 1);
	put_u64(&world->b, 12);
	put_trailer(&world->b, PID, PID, 5, 0);
	append(world, 0, record_end(&world->b));
	drain_all(world);
	assert_int_equal(world->engine->output.stats.samples.lost, 12);
	assert_int_equal(world->fake.lost[LOSS_RING_FULL], 12);
}

static void a_sample_that_makes_no_sense_counts_as_lost(void **state)
{
	struct world *world = *state;
	static const uint64_t endless = 1000000;

	(void)make_sample(&world->b, PID, 10, 0, user_chain, 3);
	memcpy(world->b.data + 8 + 24, &endless, 8);
	append(world, 0, record_end(&world->b));
	sample_at(world, 0, 20);
	drain_all(world);
	assert_int_equal(world->fake.samples.count, 1);
	assert_int_equal(world->fake.lost[LOSS_NO_MEMORY], 1);
	assert_int_equal(world->engine->output.stats.samples.lost, 1);
}

static void marks_are_not_counted_as_frames(void **state)
{
	static const uint64_t chain[] = {PERF_CONTEXT_KERNEL, 0xffff000000001000, PERF_CONTEXT_USER,
					 0x1000, 0x2000};
	struct world *world = *state;
	const struct dictionary *dictionary = &world->fake.dictionary;
	uint32_t node;

	append(world, 0, make_sample(&world->b, PID, 10, 0, chain, 5));
	drain_all(world);
	assert_int_equal(world->engine->output.stats.stacks.frames, 3);
	node = world->fake.samples.items[0].stack;
	assert_int_equal(dictionary->frames.items[dictionary->stacks.nodes.items[node].frame].kind,
			 FRAME_KERNEL);
	node = dictionary->stacks.nodes.items[node].parent;
	assert_int_equal(dictionary->frames.items[dictionary->stacks.nodes.items[node].frame].b,
			 0x1000);
}

static void a_stack_as_deep_as_the_limit_is_marked_as_cut(void **state)
{
	struct world *world = *state;
	const struct dictionary *dictionary = &world->fake.dictionary;
	uint32_t node;

	world->engine->output.chain_depth = 2;
	sample_at(world, 0, 10);
	sample_at(world, 0, 20); /* from the cache */
	drain_all(world);
	assert_int_equal(world->engine->output.stats.stacks.truncated, 2);
	assert_int_equal(world->engine->output.stats.stacks.frames, 4);
	node = world->fake.samples.items[0].stack;
	assert_int_equal(node, world->fake.samples.items[1].stack);
	while (dictionary->stacks.nodes.items[node].parent != 0)
		node = dictionary->stacks.nodes.items[node].parent;
	assert_int_equal(dictionary->frames.items[dictionary->stacks.nodes.items[node].frame].kind,
			 FRAME_TRUNCATED);
}

static void a_thread_without_ids_is_nobody(void **state)
{
	struct world *world = *state;
	const struct dictionary *dictionary = &world->fake.dictionary;

	append(world, 0, make_sample(&world->b, UINT32_MAX, 10, 0, user_chain, 3));
	drain_all(world);
	assert_int_equal(world->fake.samples.count, 1);
	assert_int_equal(dictionary->processes.items[0].pid, 0);
	assert_string_equal(dictionary->processes.items[0].executable, "");
}

static void more_samples_than_a_batch_holds_all_arrive(void **state)
{
	struct world *world = *state;
	uint64_t i;

	for (i = 1; i <= SAMPLE_BATCH + 10; i++)
		sample_at(world, i % 2, i);
	drain_all(world);
	assert_int_equal(world->fake.samples.count, SAMPLE_BATCH + 10);
	assert_int_equal(stack_cache_added(world->engine->output.cache), 1);
}

static void stacks_that_the_sink_forgets_are_told_again(void **state)
{
	struct world *world = *state;

	world->fake.trims = true;
	for (uint64_t i = 1; i <= 3; i++) {
		sample_at(world, 0, i);
		assert_int_equal(perf_engine_drain(world->engine, NULL), 0);
	}
	assert_int_equal(world->fake.samples.count, 3);
	/* The same id each time, in a dictionary that was empty each time. */
	assert_int_equal(world->fake.samples.items[2].stack, world->fake.samples.items[0].stack);
	assert_int_equal(world->fake.dictionary.stacks.nodes.count, 1);
	/* How many there were is not known any more. */
	assert_int_equal(stack_cache_added(world->engine->output.cache), 0);
}

/* Samples of CPU 0 in a ring of their own, what is mapped in the other. */
static void samples_that_were_overwritten_are_counted_and_the_rest_is_explained(void **state)
{
	struct world *world = *state;
	struct cpu_ring *ring = &world->engine->rings.items[0];
	uint8_t *base = map_ring_memory(4096);
	const struct dictionary *dictionary = &world->fake.dictionary;

	ring_of_memory_free(&ring->ring);
	assert_int_equal(overwrite_ring_init(&ring->over, &ring->ring, -1, base, 4096), 0);
	world->engine->overwrite_old = true;
	world->engine->rings.items[1].side = true;
	map_at(world, 1, 5);
	for (uint64_t time_ns = 10; time_ns < 1010; time_ns++)
		ring_prepend(base, 4096, make_sample(&world->b, PID, time_ns, 0, user_chain, 3));
	assert_int_equal(perf_drain(world->engine, 1000, NULL), 0);
	drain_all(world);
	assert_int_equal(world->fake.samples.count, 4096 / 64);
	assert_int_equal(world->fake.samples.items[0].time_ns, 1010 - 4096 / 64);
	assert_int_equal(world->fake.lost[LOSS_RING_FULL], 1000 - 4096 / 64);
	assert_int_equal(world->engine->output.stats.samples.lost, 1000 - 4096 / 64);
	assert_int_not_equal(
		dictionary->frames
			.items[dictionary->stacks.nodes.items[world->fake.samples.items[0].stack]
				       .frame]
			.a,
		MODULE_NONE);
	overwrite_ring_unmap(&ring->over, &ring->ring);
	ring_of_memory(&ring->ring, RING_BYTES);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(samples_of_two_cpus_are_merged_in_order_of_time),
		TEST(younger_records_wait_for_the_next_drain),
		TEST(a_mapping_on_one_cpu_explains_a_sample_on_another),
		TEST(throttled_time_goes_to_the_next_sample_of_that_cpu),
		TEST(a_thread_that_slept_while_throttled_is_not_charged_for_its_sleep),
		TEST(what_the_kernel_lost_is_counted),
		TEST(a_sample_that_makes_no_sense_counts_as_lost),
		TEST(marks_are_not_counted_as_frames),
		TEST(a_stack_as_deep_as_the_limit_is_marked_as_cut),
		TEST(a_thread_without_ids_is_nobody),
		TEST(more_samples_than_a_batch_holds_all_arrive),
		TEST(stacks_that_the_sink_forgets_are_told_again),
		TEST(samples_that_were_overwritten_are_counted_and_the_rest_is_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
