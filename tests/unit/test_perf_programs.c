/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/perf_programs.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/perf/perf_engine.h"
#include "fake_sink.h"
#include "perf_records.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/stack_cache.h"

#define RING_BYTES 65536u
#define PERIOD 1000000u
#define PID 5000000u /* above every pid_max */

/* What the programs of this test do with a record, by its time. */
enum {
	DONE_NS = 10,
	SAMPLE_NS = 20,
	INVALID_NS = 30,
	FAILS_NS = 40,
};

struct world {
	struct perf_programs programs; /* first: it is cast to the whole */
	struct fake_sink fake;
	struct perf_engine *engine;
	struct record_builder b;
	uint64_t chain[3];
	size_t following; /* samples behind the last one */
};

static int take(struct perf_programs *programs, struct sample_record *sample,
		struct perf_following *following, struct error *err)
{
	struct world *world = (struct world *)programs;
	struct sample_record more;

	(void)err;
	world->following = 0;
	while (perf_following_next(following, &more))
		world->following++;
	if (sample->time_ns == FAILS_NS)
		return -EIO;
	return sample->time_ns == DONE_NS;
}

static bool read_chain(struct perf_programs *programs, struct tracked_process *process,
		       struct sample_record *sample)
{
	struct world *world = (struct world *)programs;

	assert_non_null(process);
	sample->chain = world->chain;
	sample->count = 3;
	return sample->time_ns != INVALID_NS;
}

static const struct perf_programs_ops ops = {.take = take, .read_chain = read_chain};

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	struct perf_engine *engine = calloc(1, sizeof(*engine));
	struct cpu_ring ring = {.fd = -1};

	assert_non_null(world);
	assert_non_null(engine);
	fake_sink_init(&world->fake);
	engine->output.sink = &world->fake.sink;
	engine->output.tracker = process_tracker_new(engine->output.sink);
	engine->output.cache = stack_cache_new();
	engine->output.marks_cuts = true;
	engine->clock = true;
	engine->rate = (struct perf_rate){.asked_hz = 1, .hz = 1, .period = PERIOD};
	engine->layout = layout_with(PERF_SAMPLE_RAW, 0);
	ring_of_memory(&ring.ring, RING_BYTES);
	assert_int_equal(vec_push(&engine->rings, ring), 0);
	world->programs.ops = &ops;
	world->chain[0] = PERF_CONTEXT_USER;
	world->chain[1] = 0x1000;
	world->chain[2] = 0x2000;
	engine->programs = &world->programs;
	world->engine = engine;
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	ring_of_memory_free(&world->engine->rings.items[0].ring);
	vec_fini(&world->engine->rings);
	process_tracker_free(world->engine->output.tracker);
	stack_cache_free(world->engine->output.cache);
	free(world->engine);
	fake_sink_fini(&world->fake);
	free(world);
	return 0;
}

/* A record with four raw bytes, as programs write it. */
static void record_at(struct world *world, uint64_t time_ns)
{
	record_begin(&world->b, PERF_RECORD_SAMPLE, 0);
	put_u32(&world->b, PID);
	put_u32(&world->b, PID);
	put_u64(&world->b, time_ns);
	put_u32(&world->b, 0);
	put_u32(&world->b, 0);
	put_u32(&world->b, 4);
	put_u32(&world->b, 0);
	ring_append(&world->engine->rings.items[0].ring, record_end(&world->b));
}

static void a_record_that_the_programs_are_done_with_is_no_sample(void **state)
{
	struct world *world = *state;

	record_at(world, DONE_NS);
	assert_int_equal(perf_drain(world->engine, UINT64_MAX, NULL), 0);
	assert_int_equal(world->fake.samples.count, 0);
	assert_int_equal(world->engine->output.stats.samples.lost, 0);
}

static void a_sample_of_programs_has_their_chain(void **state)
{
	struct world *world = *state;

	record_at(world, SAMPLE_NS);
	assert_int_equal(perf_drain(world->engine, UINT64_MAX, NULL), 0);
	assert_int_equal(world->fake.samples.count, 1);
	assert_int_equal(world->fake.samples.items[0].weight, PERIOD);
	assert_int_equal(world->engine->output.stats.stacks.frames, 2);
}

static void an_invalid_record_counts_as_lost(void **state)
{
	struct world *world = *state;

	record_at(world, INVALID_NS);
	assert_int_equal(perf_drain(world->engine, UINT64_MAX, NULL), 0);
	assert_int_equal(world->fake.samples.count, 0);
	assert_int_equal(world->engine->output.stats.samples.lost, 1);
}

static void a_failure_of_the_programs_ends_the_drain(void **state)
{
	struct world *world = *state;

	record_at(world, FAILS_NS);
	record_at(world, FAILS_NS + 1);
	assert_int_equal(perf_drain(world->engine, UINT64_MAX, NULL), -EIO);
	assert_int_equal(world->following, 1);
}

static void programs_see_the_samples_that_follow(void **state)
{
	struct world *world = *state;

	for (size_t i = 0; i < 3; i++)
		record_at(world, SAMPLE_NS);
	record_at(world, FAILS_NS + 1); /* not drained yet */
	assert_int_equal(perf_drain(world->engine, SAMPLE_NS, NULL), 0);
	assert_int_equal(world->fake.samples.count, 3);
	assert_int_equal(world->following, 1);
}

static void optional_members_may_be_missing(void **state)
{
	struct world *world = *state;
	struct perf_programs *programs = &world->programs;

	assert_int_equal(perf_programs_flush(programs, 1, NULL), 0);
	assert_int_equal(perf_programs_count_lost_stacks(programs, 7), 0);
	assert_int_equal(perf_programs_rate_changed(programs, 1, NULL), 0);
	assert_int_equal(perf_programs_finish(programs, 1, NULL), 0);
	perf_programs_forget_stacks(programs);
	perf_programs_stop(programs);
	perf_programs_close(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_record_that_the_programs_are_done_with_is_no_sample),
		TEST(a_sample_of_programs_has_their_chain),
		TEST(an_invalid_record_counts_as_lost),
		TEST(a_failure_of_the_programs_ends_the_drain),
		TEST(programs_see_the_samples_that_follow),
		TEST(optional_members_may_be_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
