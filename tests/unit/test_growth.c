/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/timeline/growth.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "heap/timeline/findings.h"
#include "heap_stream.h"

/*
 * Programs of a minute, made up by seed: what a site holds at the end of each tenth of a second.
 */

#define STEPS 600u
#define STEP_NS UINT64_C(100000000)
#define SEEDS 100u

struct program {
	uint64_t random;
	double live[STEPS];
};

static double chance(struct program *program)
{
	program->random ^= program->random << 13;
	program->random ^= program->random >> 7;
	program->random ^= program->random << 17;
	return (double)(program->random >> 11) / (double)(UINT64_C(1) << 53);
}

static double between(struct program *program, double low, double high)
{
	return low + (high - low) * chance(program);
}

static void linear_leak(struct program *program)
{
	double blocks = between(program, 0.05, 50); /* a step, on average */
	double size = between(program, 16, 4096);
	double begin = between(program, 0, 10);
	double live = 0;

	for (size_t i = 0; i < STEPS; i++) {
		double due = blocks;

		for (; i >= begin * 10 && due > 0; due--)
			live += chance(program) < due ? size : 0;
		program->live[i] = live;
	}
}

/* What requests hold for a while, up to twice of what is lost in all the time. */
static void slow_leak_under_noise(struct program *program)
{
	double size = between(program, 100, 1000);
	double noise = between(program, 0.1, 2) * size * STEPS;
	double drift = 0;

	for (size_t i = 0; i < STEPS; i++) {
		drift = 0.9 * drift + between(program, -0.01, 0.01) * size * STEPS;
		program->live[i] = size * (double)i + noise * chance(program) + fabs(drift);
	}
}

static void leak_on_top_of_a_cache(struct program *program)
{
	double bound = between(program, 1e4, 1e6);
	double filled = between(program, 1, 6); /* seconds */
	double rate = bound * between(program, 0.01, 0.1);

	for (size_t i = 0; i < STEPS; i++) {
		double time = (double)i / 10;

		program->live[i] = bound * (1 - exp(-time / filled)) + rate * time +
				   bound * between(program, 0, 0.01);
	}
}

static void leak_that_grows_faster(struct program *program)
{
	double rate = between(program, 10, 1000);

	for (size_t i = 0; i < STEPS; i++)
		program->live[i] =
			rate * (double)i * (1 + (double)i / STEPS) + rate * between(program, 0, 20);
}

static void cache_that_fills(struct program *program)
{
	double bound = between(program, 1e4, 1e8);
	double filled = between(program, 1, 25);
	double churn = between(program, 0, 0.05);

	for (size_t i = 0; i < STEPS; i++)
		program->live[i] =
			bound * (1 - exp(-(double)i / 10 / filled)) * (1 - churn * chance(program));
}

static void cache_with_a_hard_bound(struct program *program)
{
	double full = between(program, 5, 45); /* seconds */
	double churn = between(program, 0, 0.05);

	for (size_t i = 0; i < STEPS; i++)
		program->live[i] =
			1e6 * fmin(1, (double)i / 10 / full) * (1 - churn * chance(program));
}

static void sawtooth(struct program *program)
{
	double period = between(program, 1, 30);
	double phase = between(program, 0, period);

	for (size_t i = 0; i < STEPS; i++)
		program->live[i] =
			1e5 * fmod((double)i / 10 + phase, period) / period + 1e4 * chance(program);
}

static void periodic(struct program *program)
{
	double period = between(program, 2, 30);
	double phase = between(program, 0, 6.28);

	for (size_t i = 0; i < STEPS; i++)
		program->live[i] = 1e5 * (1.1 + sin(6.2832 * (double)i / 10 / period + phase)) +
				   2e4 * chance(program);
}

static void one_step(struct program *program)
{
	double when = between(program, 1, 59);

	for (size_t i = 0; i < STEPS; i++)
		program->live[i] =
			((double)i / 10 > when ? 1e6 : 2e5) * (1 - 0.1 * chance(program));
}

static void noise_alone(struct program *program)
{
	double level = 1e5;

	for (size_t i = 0; i < STEPS; i++) {
		level += 0.05 * (1e5 - level) + between(program, -5e3, 5e3);
		program->live[i] = fmax(0, level);
	}
}

struct shape {
	const char *name;
	void (*make)(struct program *program);
	bool grows;
};

static const struct shape shapes[] = {
	{"a leak", linear_leak, true},
	{"a slow leak under noise", slow_leak_under_noise, true},
	{"a leak on top of a cache", leak_on_top_of_a_cache, true},
	{"a leak that grows faster", leak_that_grows_faster, true},
	{"a cache that fills", cache_that_fills, false},
	{"a cache with a hard bound", cache_with_a_hard_bound, false},
	{"a sawtooth", sawtooth, false},
	{"something periodic", periodic, false},
	{"one step", one_step, false},
	{"noise", noise_alone, false},
};

/* How many of the programs are judged wrongly, over all seeds. */
static unsigned int count_wrong(const struct shape *shape)
{
	unsigned int wrong = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct program program = {.random = seed * 0x9e3779b97f4a7c15u};
		struct growth growth;

		for (unsigned int i = 0; i < 8; i++)
			(void)chance(&program);
		shape->make(&program);
		growth = growth_judge(program.live, STEPS, STEP_NS);
		wrong += (growth.confidence >= GROWTH_SURE) != shape->grows;
	}
	return wrong;
}

static void leaks_are_named_and_caches_are_not(void **state)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		unsigned int wrong = count_wrong(&shapes[i]);

		print_message("%s: %u of %u wrong\n", shapes[i].name, wrong, SEEDS);
		if (wrong > 2)
			fail_msg("%s: %u of %u are wrong", shapes[i].name, wrong, SEEDS);
	}
}

static void a_rate_that_changes_is_told_with_its_time(void **state)
{
	struct program program;
	struct growth growth;

	for (size_t i = 0; i < STEPS; i++)
		program.live[i] =
			i < 300 ? 10.0 * (double)(i + 1) : 3000 + 100.0 * (double)(i - 299);
	growth = growth_judge(program.live, STEPS, STEP_NS);
	assert_int_equal(growth.kind, GROWTH_UNBOUNDED);
	assert_int_equal(growth.change_ns, 300 * STEP_NS);
	assert_true(fabs(growth.before_bytes_per_second - 100) < 1);
	assert_true(fabs(growth.after_bytes_per_second - 1000) < 10);
}

static void the_rate_of_a_line_is_its_slope(void **state)
{
	struct program program;
	struct growth growth;

	for (size_t i = 0; i < STEPS; i++)
		program.live[i] = 50.0 * (double)(i + 1);
	growth = growth_judge(program.live, STEPS, STEP_NS);
	assert_int_equal(growth.kind, GROWTH_UNBOUNDED);
	assert_true(fabs(growth.bytes_per_second - 500) < 1);
	assert_int_equal(growth.change_ns, 0);
	assert_true(growth.confidence > 0.9);
}

static void what_is_freed_when_the_program_ends_has_grown_all_the_same(void **state)
{
	struct program program;

	for (size_t i = 0; i < STEPS; i++)
		program.live[i] = i < STEPS - 5 ? 50.0 * (double)(i + 1) : 0;
	assert_int_equal(growth_judge(program.live, STEPS, STEP_NS).kind, GROWTH_UNBOUNDED);
	for (size_t i = STEPS / 2; i < STEPS; i++)
		program.live[i] = 0;
	assert_int_equal(growth_judge(program.live, STEPS, STEP_NS).kind, GROWTH_NONE);
}

static void a_short_time_is_no_proof(void **state)
{
	struct program program;

	for (size_t i = 0; i < STEPS; i++)
		program.live[i] = 50.0 * (double)(i + 1);
	assert_true(growth_judge(program.live, 19, STEP_NS).kind == GROWTH_NONE);
	assert_true(growth_judge(program.live, 20, STEP_NS).confidence < GROWTH_SURE);
	assert_true(growth_judge(program.live, 0, STEP_NS).kind == GROWTH_NONE);
}

static void sites_of_a_group_grow_together(void **state)
{
	uint32_t of_site[3];
	struct heap_groups groups = {of_site, 2};
	struct growth found[2];
	const struct heap_report *report;
	struct stream stream;

	stream_open(&stream, (struct heap_config){0});
	stream_alloc(&stream, 0, 1, 0x100, 5000, 9);
	for (uint64_t i = 0; i < 400; i++) /* either site alone has not enough rises */
		stream_alloc(&stream, 0, i * STEP_NS + 2, 0x1000 + 16 * i, 100, i < 200 ? 7 : 8);
	report = stream_finish(&stream);
	of_site[site_of(report, 7)] = of_site[site_of(report, 8)] = 1;
	of_site[site_of(report, 9)] = 0;
	assert_int_equal(growth_find(report, &groups, found), 0);
	assert_int_equal(found[1].kind, GROWTH_UNBOUNDED);
	assert_true(fabs(found[1].bytes_per_second - 1000) < 20);
	assert_int_equal(found[0].kind, GROWTH_NONE);
	of_site[site_of(report, 7)] = ID_NONE;
	of_site[site_of(report, 8)] = ID_NONE;
	assert_int_equal(growth_find(report, &groups, found), 0);
	assert_int_equal(found[1].kind, GROWTH_NONE);
	stream_close(&stream);
}

/* The number is in the text of --fail-on. */
static void what_grows_is_named_from_eight_seconds_on(void **state)
{
	const size_t steps = GROWTH_SHORTEST_NS / STEP_NS;
	double live[STEPS];

	for (size_t i = 0; i < STEPS; i++)
		live[i] = 1000.0 * (double)(i + 1);
	assert_true(growth_judge(live, steps, STEP_NS).confidence >= GROWTH_SURE);
	assert_true(growth_judge(live, steps - 1, STEP_NS).confidence < GROWTH_SURE);
	assert_int_equal(growth_judge(live, steps - 1, STEP_NS).kind, GROWTH_UNBOUNDED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaks_are_named_and_caches_are_not),
		cmocka_unit_test(a_rate_that_changes_is_told_with_its_time),
		cmocka_unit_test(the_rate_of_a_line_is_its_slope),
		cmocka_unit_test(what_is_freed_when_the_program_ends_has_grown_all_the_same),
		cmocka_unit_test(a_short_time_is_no_proof),
		cmocka_unit_test(what_grows_is_named_from_eight_seconds_on),
		cmocka_unit_test(sites_of_a_group_grow_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
