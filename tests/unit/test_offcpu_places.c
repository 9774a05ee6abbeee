/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ebpf/offcpu_places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/ebpf/offcpu_watch.h"
#include "wire/bpf_offcpu.h"
#include "wire/bpf_walk.h"

#define MS 1000000ull
#define SUM(ns, count) ((struct away_sum){(ns), (count)})

static struct bpf_walk_sums sums_at(uint64_t pc)
{
	return (struct bpf_walk_sums){.pc = pc, .sp = 0x7000, .state = BPF_WALK_SLEEPING};
}

static void places_are_told_apart(void **state)
{
	struct offcpu_places *places = offcpu_places_new();
	struct bpf_walk_sums one = sums_at(0x1000);
	struct bpf_walk_sums other = sums_at(0x1000);
	const struct away_time time = {1, 1, 10, 0};

	(void)state;
	assert_non_null(places);
	other.calls = 5; /* the same place, but other callers */
	offcpu_place_add(offcpu_places_find(places, 7, &one), &time);
	assert_int_equal(offcpu_places_find(places, 7, &one)->count, 1);
	assert_int_equal(offcpu_places_find(places, 7, &other)->count, 0);
	assert_int_equal(offcpu_places_find(places, 8, &one)->count, 0);
	other = one;
	other.lock = 0x5000;
	assert_int_equal(offcpu_places_find(places, 7, &other)->count, 0);
	other = one;
	other.state = BPF_WALK_UNINTERRUPTIBLE;
	assert_int_equal(offcpu_places_find(places, 7, &other)->count, 0);
	offcpu_places_clear(places);
	assert_int_equal(offcpu_places_find(places, 7, &one)->count, 0);
	offcpu_places_free(places);
}

static void nobody_has_a_share_where_no_stack_is_known(void **state)
{
	struct offcpu_place place = {0};
	struct away_share shares[AWAY_STACKS];

	(void)state;
	assert_int_equal(offcpu_place_share_slept(&place, SUM(100, 10), shares), 0);
}

static void stacks_without_time_share_evenly(void **state)
{
	struct offcpu_place place = {0};
	struct away_share shares[AWAY_STACKS];

	(void)state;
	offcpu_place_add(&place, &(struct away_time){1, 1, 5, 0});
	offcpu_place_add(&place, &(struct away_time){2, 2, 15, 0});
	assert_int_equal(offcpu_place_share_waited(&place, SUM(100, 10), shares), 2);
	assert_int_equal(shares[0].ns, 50);
	assert_int_equal(offcpu_place_share_slept(&place, SUM(100, 10), shares), 2);
	assert_int_equal(shares[0].ns, 25);
	assert_int_equal(shares[1].ns, 75);
}

static void what_no_single_time_can_be_counts_as_more_than_one(void **state)
{
	struct offcpu_place place = {0};
	struct away_share shares[AWAY_STACKS];
	struct away_sum sum = SUM(100, 2);

	(void)state;
	offcpu_place_add(&place, &(struct away_time){1, 1, 1, 0});
	offcpu_place_add(&place, &(struct away_time){2, 2, 9, 0});
	sum.longest_ns = 60;
	assert_int_equal(offcpu_place_share_slept(&place, sum, shares), 2);
	assert_int_equal(shares[0].ns, 10);
	assert_int_equal(shares[0].count, 1);
	assert_int_equal(shares[1].ns, 90);
	assert_int_equal(shares[1].count, 2);
	assert_int_equal(place.owed, 1);
}

static void one_time_has_each_stack_in_turn_as_often_as_its_times_are(void **state)
{
	struct offcpu_place place = {0};
	unsigned int first = 0;

	(void)state;
	assert_null(offcpu_place_choose(&place, 0));
	offcpu_place_add(&place, &(struct away_time){1, 1, 3000, 0, .lock = 0x5000});
	offcpu_place_add(&place, &(struct away_time){2, 2, 1000, 0, .lock = 0x5000});
	offcpu_place_add(&place, &(struct away_time){3, 3, 9000, 0, .lock = 0x6000});
	for (unsigned int i = 0; i < 1000; i++) {
		const struct away_time *time = offcpu_place_choose(&place, 0x5000);

		assert_int_equal(time->lock, 0x5000);
		first += time->slept_stack == 1;
	}
	assert_in_range(first, 740, 760);
	assert_non_null(offcpu_place_choose(&place, 0x7000)); /* no stack of it: any */
}

/* Where one place is for several locks, each has its part of the time and of the times. */
static void locks_of_one_place_share_time_and_number(void **state)
{
	struct offcpu_place place = {0};
	struct away_share shares[AWAY_STACKS];

	(void)state;
	for (int i = 0; i < 3; i++)
		offcpu_place_add(&place, &(struct away_time){1, 1, .slept_ns = 10, .lock = 0x5000});
	offcpu_place_add(&place, &(struct away_time){1, 1, .slept_ns = 90, .lock = 0x6000});
	assert_int_equal(offcpu_place_share_slept(&place, SUM(1200, 41), shares), 2);
	assert_int_equal(shares[0].lock, 0x5000);
	assert_int_equal(shares[1].lock, 0x6000);
	assert_int_equal(shares[0].ns + shares[1].ns, 1200);
	assert_in_range(shares[1].ns, 895, 905);
	assert_int_equal(shares[0].count + shares[1].count, 41);
	assert_in_range(shares[0].count, 30, 32);
	/* The wait for a CPU is for none. */
	assert_int_equal(offcpu_place_share_waited(&place, SUM(100, 41), shares), 1);
	assert_int_equal(shares[0].lock, 0);
	assert_int_equal(shares[0].count, 41);
}

/* Fewer times than shares: over many sums there are as many as were told. */
static void shares_have_as_many_times_as_there_were(void **state)
{
	struct offcpu_place place = {0};
	struct away_share shares[AWAY_STACKS];
	uint64_t given = 0;
	uint64_t told = 0;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		offcpu_place_add(&place,
				 &(struct away_time){1, 1, .slept_ns = 10, .lock = 1 + i % 20});
		told += 1 + i % 31;
		for (size_t n = offcpu_place_share_slept(&place, SUM(1000, 1 + i % 31), shares);
		     n > 0; n--)
			given += shares[n - 1].count;
	}
	assert_in_range(given, told, told + 5 * AWAY_STACKS);
}

/* Locks without end at a place that is anywhere: those that came first have no more than others. */
static void who_came_first_has_no_more_than_others(void **state)
{
	struct offcpu_place place = {0};
	struct away_share shares[AWAY_STACKS];
	uint64_t found[100] = {0};

	(void)state;
	for (uint64_t i = 0; i < 10000; i++) {
		offcpu_place_add(&place, &(struct away_time){1, 1, .slept_ns = 10 + i % 3,
							     .lock = 1 + i % 100});
		for (size_t n = offcpu_place_share_slept(&place, SUM(1000, 10), shares); n > 0; n--)
			found[shares[n - 1].lock - 1] += shares[n - 1].ns;
	}
	for (size_t i = 0; i < 100; i++)
		assert_in_range(found[i], 50000, 200000);
}

/* Every third time is 20 times as long, and comes from another stack; one in 50 is taken. */
static void shares_come_out_right_in_the_long_run(void **state)
{
	struct offcpu_place place = {0};
	struct away_share shares[AWAY_STACKS];
	uint64_t truth[2] = {0};
	uint64_t found[2] = {0};
	uint64_t summed = 0;
	uint32_t random = 1;

	(void)state;
	for (int i = 0; i < 1000000; i++) {
		uint32_t stack = i % 3 == 0;
		uint64_t ns = stack ? 2000 : 100;

		truth[stack] += ns;
		random = random * 1664525u + 1013904223u;
		if ((random >> 16) % 50 != 0) {
			summed += ns;
			continue;
		}
		offcpu_place_add(&place, &(struct away_time){stack, stack, ns, 0});
		found[stack] += ns;
		for (size_t n = offcpu_place_share_slept(&place, SUM(summed, 50), shares); n > 0;
		     n--)
			found[shares[n - 1].stack] += shares[n - 1].ns;
		summed = 0;
	}
	assert_int_equal(found[0] + found[1] + summed, truth[0] + truth[1]);
	assert_in_range(1000 * found[1] / (found[0] + found[1]),
			1000 * truth[1] / (truth[0] + truth[1]) - 25,
			1000 * truth[1] / (truth[0] + truth[1]) + 25);
}

/* A program whose switches cost so much of its time with a gap of 1 ms, half with 2 ms … */
static uint64_t gap_after(struct offcpu_pace *pace, double share, int stretches)
{
	uint64_t run_ns = pace->run_ns;
	uint64_t cost_ns = pace->cost_ns;

	for (int i = 0; i < stretches; i++) {
		run_ns += 200 * MS;
		cost_ns += (uint64_t)(share * 200e6 * (double)MS / (double)pace->gap_ns);
		(void)offcpu_pace_look(pace, cost_ns, run_ns);
	}
	return pace->gap_ns;
}

static void stacks_are_taken_as_often_as_the_budget_allows(void **state)
{
	struct offcpu_pace pace = {.budget = 0.02, .gap_ns = MS};

	(void)state;
	assert_int_equal(gap_after(&pace, 0.01, 20), MS);
	assert_int_equal(gap_after(&pace, 0.1, 20), 8 * MS);
	assert_int_equal(gap_after(&pace, 100, 20), 64 * MS); /* no further */
	assert_int_equal(gap_after(&pace, 0.01, 20), MS);
}

static void a_target_that_hardly_runs_changes_nothing(void **state)
{
	struct offcpu_pace pace = {.budget = 0.02, .gap_ns = MS};

	(void)state;
	assert_int_equal(offcpu_pace_look(&pace, 10 * MS, 10 * MS), MS);
	assert_int_equal(offcpu_pace_look(&pace, 20 * MS, 20 * MS), 2 * MS);
}

static void every_stack_is_taken_until_that_costs_too_much(void **state)
{
	struct offcpu_pace pace = {.budget = 0.02};

	(void)state;
	assert_int_equal(offcpu_pace_look(&pace, 1 * MS, 100 * MS), 0);
	assert_int_equal(offcpu_pace_look(&pace, 11 * MS, 200 * MS), MS);
	assert_int_equal(offcpu_pace_look(&pace, 11 * MS, 300 * MS), MS); /* not to and fro */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_are_told_apart),
		cmocka_unit_test(nobody_has_a_share_where_no_stack_is_known),
		cmocka_unit_test(stacks_without_time_share_evenly),
		cmocka_unit_test(what_no_single_time_can_be_counts_as_more_than_one),
		cmocka_unit_test(one_time_has_each_stack_in_turn_as_often_as_its_times_are),
		cmocka_unit_test(locks_of_one_place_share_time_and_number),
		cmocka_unit_test(shares_have_as_many_times_as_there_were),
		cmocka_unit_test(who_came_first_has_no_more_than_others),
		cmocka_unit_test(shares_come_out_right_in_the_long_run),
		cmocka_unit_test(stacks_are_taken_as_often_as_the_budget_allows),
		cmocka_unit_test(a_target_that_hardly_runs_changes_nothing),
		cmocka_unit_test(every_stack_is_taken_until_that_costs_too_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
