/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf_world.h"
#include "engine/ebpf/bpf_sample.h"

/* Times at a place whose stack was not taken, since the one before. */
static struct bpf_walk_sums make_sums(uint64_t count, uint64_t slept_ns, uint64_t waited_ns)
{
	return (struct bpf_walk_sums){.pc = 0x1000,
				      .sp = 0x7000,
				      .count = count,
				      .slept_ns = slept_ns,
				      .waited_ns = waited_ns,
				      .state = BPF_WALK_SLEEPING};
}

static uint64_t weight_of(const struct world *world, size_t sample)
{
	return world->fake.samples.items[sample].weight;
}

static void sums_count_with_the_stack_that_comes_with_them(void **state)
{
	struct world *world = *state;
	struct away_of_two raw = make_away(100, 400, 450);

	raw.sums = make_sums(7, 5000, 600);
	drain_raw(world, &raw, sizeof(raw));
	assert_int_equal(world->fake.samples.count, 2);
	assert_int_equal(weight_of(world, 0), 5300);
	assert_int_equal(weight_of(world, 1), 650);
	assert_int_equal(world->engine->output.stats.offcpu.summed, 7);
	assert_int_equal(world->engine->output.stats.offcpu.samples, 2);
}

/* Of waits that were added up, and of one beside them whose stack was taken or not. */
static void the_longest_wait_for_a_lock_is_a_sample_by_itself(void **state)
{
	struct world *world = *state;
	struct away_of_two raw = make_away(100, 0, 400);
	struct away_of_two sums = make_away(1000, 0, 3000);

	raw.times.lock = sums.times.lock = 0x5000;
	raw.sums = make_sums(7, 5000, 0);
	raw.sums.lock = 0x5000;
	raw.sums.longest_ns = 2000;
	drain_raw(world, &raw, sizeof(raw));
	assert_int_equal(world->fake.samples.count, 3);
	assert_int_equal(weight_of(world, 0), 3000);
	assert_int_equal(weight_of(world, 1), 300);
	assert_int_equal(weight_of(world, 2), 2000);
	sums.head.kind = BPF_WALK_AWAY_SUMS;
	sums.sums = raw.sums;
	sums.sums.longest_ns = 900;
	drain_raw(world, &sums, offsetof(struct away_of_two, pcs));
	assert_int_equal(world->fake.samples.count, 5);
	assert_int_equal(weight_of(world, 3), 5000);
	assert_int_equal(weight_of(world, 4), 2000);
	sums.sums.longest_ns = 5000; /* all of them: nothing but that is left */
	sums.sums.count = 1;
	sums.times.left_ns = 0;
	drain_raw(world, &sums, offsetof(struct away_of_two, pcs));
	assert_int_equal(world->fake.samples.count, 6);
	assert_int_equal(weight_of(world, 5), 5000);
	for (size_t i = 1; i < 6; i++)
		assert_int_equal(world->fake.samples.items[i].stack,
				 world->fake.samples.items[0].stack);
}

static void sums_are_shared_by_the_stacks_of_their_place(void **state)
{
	struct world *world = *state;
	struct away_of_two raw = make_away(100, 0, 400);
	struct away_of_two sums = make_away(0, 0, 0);

	raw.sums = make_sums(0, 0, 0);
	drain_raw(world, &raw, sizeof(raw)); /* 300 at one stack */
	raw.pcs[1] = 0x3000;
	raw.times.back_ns = 200;
	drain_raw(world, &raw, sizeof(raw)); /* 100 at another */
	raw.sums.forced = true;
	raw.times.back_ns = 100100;
	drain_raw(world, &raw, sizeof(raw)); /* as often as that it would not have been taken */
	assert_int_equal(world->fake.samples.count, 3);
	sums.head.kind = BPF_WALK_AWAY_SUMS;
	sums.sums = make_sums(9, 4001, 0);
	drain_raw(world, &sums, offsetof(struct away_of_two, pcs));
	assert_int_equal(world->fake.samples.count, 5);
	assert_int_equal(weight_of(world, 3) + weight_of(world, 4), 4001); /* nothing is lost */
	assert_in_range(weight_of(world, 4), 1000, 1020);
	assert_int_equal(world->fake.samples.items[3].stack, world->fake.samples.items[0].stack);
	assert_int_equal(world->fake.samples.items[4].stack, world->fake.samples.items[1].stack);
}

static void a_place_that_nobody_knows_has_its_time_all_the_same(void **state)
{
	struct world *world = *state;
	struct away_of_two sums = make_away(1000, 0, 3000);

	sums.head.kind = BPF_WALK_AWAY_SUMS;
	sums.sums = make_sums(9, 4000, 0);
	sums.sums.state = BPF_WALK_PREEMPTED;
	drain_raw(world, &sums, offsetof(struct away_of_two, pcs));
	assert_int_equal(world->fake.samples.count, 1);
	assert_int_equal(weight_of(world, 0), 6000);
	assert_int_equal(world->fake.samples.items[0].time_ns, 1000);
	assert_int_equal(world->engine->output.stats.stacks.truncated, 1);
	assert_int_equal(world->engine->output.stats.offcpu.summed, 10);
}

static void sums_that_were_not_sent_count_at_the_end(void **state)
{
	struct world *world = *state;
	struct away_of_two raw = make_away(100, 0, 400);
	struct bpf_walk_away away = {
		.head = head_of(BPF_WALK_AWAY, 0, 0, UNWIND_ROOT),
		.times = {.left_ns = 900, .tid = PID + 1, .tgid = PID, .state = BPF_WALK_SLEEPING},
	};

	raw.sums = make_sums(0, 0, 0);
	drain_raw(world, &raw, sizeof(raw));
	away.places[1].sums = make_sums(2, 50, 5);
	away.places[3].sums = make_sums(3, 70, 0);
	away.place = 3; /* it is away from there, and its stack was not taken */
	world->still = &away;
	assert_int_equal(bpf_sample_still_away(world->programs, 1000, NULL), 0);
	assert_int_equal(perf_drain(world->engine, UINT64_MAX, NULL), 0);
	assert_int_equal(world->fake.samples.count, 4);
	assert_int_equal(weight_of(world, 1), 170);
	assert_int_equal(weight_of(world, 2), 50);
	assert_int_equal(weight_of(world, 3), 5);
	for (size_t i = 1; i < 4; i++)
		assert_int_equal(world->fake.samples.items[i].stack,
				 world->fake.samples.items[0].stack);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(sums_count_with_the_stack_that_comes_with_them),
		TEST(the_longest_wait_for_a_lock_is_a_sample_by_itself),
		TEST(sums_are_shared_by_the_stacks_of_their_place),
		TEST(a_place_that_nobody_knows_has_its_time_all_the_same),
		TEST(sums_that_were_not_sent_count_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
