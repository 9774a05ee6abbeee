/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/significance.h"

#include <math.h>

#include "make_profile.h"
#include "model/function_cost.h"

#define CONFIDENCE 0.99 /* what gates ask for */
#define SLICES 300

/* A sequence of numbers that is the same in every run of the test: xorshift. */
static uint64_t random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static double random_unit(uint64_t *seed)
{
	return (double)(random_next(seed) >> 11) / (double)(1ull << 53);
}

/*
 * A load of one thread: hot() takes a share of the time. With every sample the
 * program goes on with what it does, unless chance (1 / burst) lets it choose anew:
 * a burst of so many samples on average.
 */
struct load {
	double share;
	double burst;
	uint32_t samples;
	bool timed; /* the profile knows when samples were taken */
};

static struct estimate record(const struct load *load, uint64_t *seed)
{
	static const uint32_t rows[] = {ID_NONE, 0, ID_NONE}; /* main, hot, cold */
	struct profile *profile = make_profile();
	struct cost_table table;
	struct estimate share;
	uint32_t stacks[2];
	int64_t sums[2] = {0};
	bool hot = random_unit(seed) < load->share;
	uint32_t i;
	int k;

	make_stack(profile, 0, "main;hot", 0);
	make_stack(profile, 0, "main;cold", 0);
	for (k = 0; k < 2; k++)
		stacks[k] = profile->entries.items[k].stack;
	for (i = 0; i < load->samples; i++) {
		if (random_unit(seed) < 1 / load->burst)
			hot = random_unit(seed) < load->share;
		sums[hot ? 0 : 1]++;
		if ((i + 1) % (load->samples / SLICES) != 0)
			continue;
		for (k = 0; k < 2; k++) {
			struct profile_moment moment = {
				i / (load->samples / SLICES), stacks[k], {sums[k], sums[k]}};

			if (load->timed)
				assert_int_equal(vec_push(&profile->moments, moment), 0);
			assert_int_equal(profile_add(profile, stacks[k], 0, moment.values), 0);
			sums[k] = 0;
		}
	}
	assert_int_equal(cost_table_init(&table, profile, 1, rows, 1), 0);
	share = estimate_share(&table.rows[0].total, &table);
	cost_table_fini(&table);
	profile_free(profile);
	return share;
}

/* How many of so many pairs trip a gate "hot>+limit". */
static int trips(struct load before, double change, double limit, int pairs)
{
	uint64_t seed = 88172645463325252u;
	struct load after = before;
	int count = 0;

	after.share *= 1 + change;
	while (pairs-- > 0) {
		struct estimate old = record(&before, &seed);
		struct estimate now = record(&after, &seed);

		count += significance_more(&old, &now, 1 + limit, 0) >= CONFIDENCE;
	}
	return count;
}

static void the_same_program_twice_trips_no_gate(void **state)
{
	static const struct load loads[] = {
		{.share = 0.3, .burst = 1, .samples = 60000, .timed = true},
		{.share = 0.3, .burst = 1, .samples = 60000},
		{.share = 0.01, .burst = 1, .samples = 6000},
		{.share = 0.5, .burst = 20, .samples = 60000, .timed = true},
		{.share = 0.05, .burst = 50, .samples = 60000, .timed = true},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(loads); i++) {
		int count = trips(loads[i], 0, 0, 200); /* "hot>+0%": the strictest there is */

		print_message("load %zu trips %d times in 200\n", i, count);
		if (count > 10)
			fail_msg("load %zu trips %d times in 200", i, count);
	}
}

static void five_percent_more_trip_the_gate(void **state)
{
	static const struct load loads[] = {
		{.share = 0.4, .burst = 1, .samples = 120000, .timed = true},
		{.share = 0.4, .burst = 1, .samples = 120000},
		{.share = 0.4, .burst = 5, .samples = 600000, .timed = true},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(loads); i++) {
		int count = trips(loads[i], 0.05, 0.02, 50);

		print_message("load %zu trips %d times in 50\n", i, count);
		if (count < 45)
			fail_msg("load %zu trips %d times in 50", i, count);
	}
}

static void bursts_are_no_proof(void **state)
{
	struct load load = {.share = 0.5, .burst = 20, .samples = 60000};

	assert_true(trips(load, 0, 0, 200) > 40); /* counts alone are fooled */
	load.timed = true;
	assert_true(trips(load, 0, 0, 200) <= 10);
}

/* Reads for the first third, computes for the rest: no noise at all. */
static void phases_of_a_program_are_no_noise(void **state)
{
	static const uint32_t rows[] = {0, ID_NONE};
	struct profile *profile = make_profile();
	struct cost_table table;
	struct estimate share;
	uint32_t i;

	for (i = 0; i < SLICES; i++) {
		const char *phase = i < SLICES / 3 ? "read" : "compute";

		make_stack(profile, 0, phase, 100);
		assert_int_equal(
			vec_push(&profile->moments,
				 (struct profile_moment){
					 i,
					 profile->entries.items[i < SLICES / 3 ? 0 : 1].stack,
					 {100, 100}}),
			0);
	}
	assert_int_equal(cost_table_init(&table, profile, 1, rows, 1), 0);
	share = estimate_share(&table.rows[0].total, &table);
	assert_true(fabs(share.value - 1.0 / 3) < 1e-9);
	assert_true(sqrt(share.variance) < 0.003);
	cost_table_fini(&table);
	profile_free(profile);
}

static struct estimate counted(uint64_t part, uint64_t whole)
{
	struct cost_table table = {.whole = {.weight = (int64_t)whole, .samples = whole}};
	struct cost cost = {.weight = (int64_t)part, .samples = part};

	return estimate_share(&cost, &table);
}

static void a_few_samples_prove_little(void **state)
{
	static const struct {
		uint64_t before;
		uint64_t after;
		bool sure;
	} cases[] = {{0, 1, false}, {0, 5, false}, {0, 10, true},  {1, 1, false},
		     {1, 6, false}, {2, 16, true}, {20, 22, false}};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct estimate before = counted(cases[i].before, 1000);
		struct estimate after = counted(cases[i].after, 1000);

		if ((significance_more(&before, &after, 1.05, 0) >= CONFIDENCE) != cases[i].sure)
			fail_msg("%d to %d", (int)cases[i].before, (int)cases[i].after);
	}
}

static void one_sample_each_says_nothing(void **state)
{
	struct estimate before = counted(0, 1);
	struct estimate after = counted(1, 1);

	assert_true(significance_more(&before, &after, 1, 0) < 0.9);
	assert_true(significance_differ(&before, &after) < 0.9);
}

static void the_same_is_no_difference(void **state)
{
	static const uint64_t parts[] = {0, 1, 500, 1000};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		struct estimate share = counted(parts[i], 1000);

		assert_true(significance_differ(&share, &share) == 0);
		assert_true(significance_more(&share, &share, 1, 0) <= 0.5);
	}
}

static void nothing_is_known_of_an_empty_profile(void **state)
{
	struct estimate empty = counted(0, 0);
	struct estimate full = counted(900, 1000);

	assert_true(isinf(empty.variance));
	assert_true(significance_more(&empty, &full, 1.05, 0) < 0.9);
	assert_true(significance_differ(&empty, &full) < 0.9);
}

static void points_are_an_offset(void **state)
{
	struct estimate before = counted(3000, 10000);
	struct estimate after = counted(3600, 10000);

	assert_true(significance_more(&before, &after, 1, 0.03) >= CONFIDENCE);
	assert_true(significance_more(&before, &after, 1, 0.06) < CONFIDENCE);
}

static void amounts_know_their_counts(void **state)
{
	struct cost_table small = {.whole = {.weight = 100, .samples = 100}};
	struct cost_table large = {.whole = {.weight = 120, .samples = 120}};
	struct estimate before = estimate_amount(&small.whole, &small);
	struct estimate after = estimate_amount(&large.whole, &large);

	assert_true(significance_more(&before, &after, 1, 0) < CONFIDENCE);
	small.whole = (struct cost){.weight = 10000, .samples = 10000};
	large.whole = (struct cost){.weight = 12000, .samples = 12000};
	before = estimate_amount(&small.whole, &small);
	after = estimate_amount(&large.whole, &large);
	assert_true(significance_more(&before, &after, 1.1, 0) >= CONFIDENCE);
	after = estimate_scaled(after, 0.5); /* it was recorded for twice the time */
	assert_true(significance_more(&before, &after, 1, 0) < 0.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_program_twice_trips_no_gate),
		cmocka_unit_test(five_percent_more_trip_the_gate),
		cmocka_unit_test(bursts_are_no_proof),
		cmocka_unit_test(phases_of_a_program_are_no_noise),
		cmocka_unit_test(a_few_samples_prove_little),
		cmocka_unit_test(one_sample_each_says_nothing),
		cmocka_unit_test(the_same_is_no_difference),
		cmocka_unit_test(nothing_is_known_of_an_empty_profile),
		cmocka_unit_test(points_are_an_offset),
		cmocka_unit_test(amounts_know_their_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
