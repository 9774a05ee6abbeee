/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/alarms.h"
#include "record/breaker.h"

#define STRETCH_NS 250000000ull

/* A target whose samples cost so much each, on so many CPUs, for some stretches. */
static double run(struct budget *budget, uint64_t sample_ns, int cpus, int stretches)
{
	double spent_ns = 0;

	for (int i = 0; i < stretches; i++) {
		struct budget_stretch stretch = {
			.target_ns = STRETCH_NS * (uint64_t)cpus,
			.wall_ns = STRETCH_NS,
		};

		stretch.cost_ns = stretch.target_ns / 1000 * budget->hz / 1000000 * sample_ns;
		spent_ns += (double)stretch.cost_ns;
		(void)budget_look(budget, &stretch);
	}
	return spent_ns / ((double)STRETCH_NS * cpus * stretches);
}

static void a_cheap_target_gets_the_rate_that_was_asked_for(void **state)
{
	struct budget budget;

	(void)state;
	budget_init(&budget, 0.02, 997, BUDGET_MACHINE_HZ);
	assert_int_equal(budget.hz, 997); /* the usual budget does not begin below the usual rate */
	(void)run(&budget, 3000, 1, 40);
	assert_int_equal(budget.hz, 997);
}

static void a_dear_target_costs_what_the_budget_allows(void **state)
{
	static const uint64_t costs_ns[] = {5000, 15000, 50000, 200000};

	(void)state;
	for (size_t i = 0; i < sizeof(costs_ns) / sizeof(costs_ns[0]); i++) {
		struct budget budget;

		budget_init(&budget, 0.01, 5000, BUDGET_MACHINE_HZ);
		(void)run(&budget, costs_ns[i], 4, 40);
		assert_in_range(1e6 * run(&budget, costs_ns[i], 4, 40), 8500, 10800);
	}
}

static void the_rate_rises_again_when_there_is_room(void **state)
{
	struct budget budget;

	(void)state;
	budget_init(&budget, 0.01, 1000, BUDGET_MACHINE_HZ);
	(void)run(&budget, 100000, 1, 20);
	assert_in_range(budget.hz, 80, 108);
	(void)run(&budget, 2000, 1, 100);
	assert_int_equal(budget.hz, 1000);
}

static void it_does_not_swing(void **state)
{
	struct budget budget;
	uint32_t before;
	int changes = 0;

	(void)state;
	budget_init(&budget, 0.01, 5000, BUDGET_MACHINE_HZ);
	(void)run(&budget, 15000, 1, 40);
	for (int i = 0; i < 100; i++) {
		before = budget.hz;
		(void)run(&budget, i % 2 ? 15300 : 14700, 1, 1); /* as costs vary */
		changes += budget.hz != before;
	}
	assert_in_range(changes, 0, 3);
}

/* Few samples at a time come in clumps: a stretch has three times its cost, or none. */
static void a_target_that_hardly_runs_has_its_budget(void **state)
{
	struct budget budget;
	double hz = 0;

	(void)state;
	budget_init(&budget, 0.01, 5000, BUDGET_MACHINE_HZ);
	for (int i = 0; i < 400; i++) {
		struct budget_stretch stretch = {.target_ns = 20000000, .wall_ns = STRETCH_NS};

		stretch.cost_ns = i % 3 == 0 ? budget.hz * 3 * 20000 / 50 : 0;
		(void)budget_look(&budget, &stretch);
		hz += i >= 100 ? budget.hz / 300.0 : 0;
	}
	assert_in_range(hz, 350, 650); /* 500 samples of 20 us are 1 % */
}

/* A second of work at another cost is no reason to stay where the rate was. */
static void a_dear_phase_is_noticed_at_once(void **state)
{
	struct budget budget;

	(void)state;
	budget_init(&budget, 0.01, 5000, BUDGET_MACHINE_HZ);
	(void)run(&budget, 5000, 2, 60);
	assert_in_range(budget.hz, 1600, 2200);
	(void)run(&budget, 50000, 2, 4);
	assert_in_range(budget.hz, 150, 260);
}

static void the_recorder_counts_but_a_burst_of_it_does_not(void **state)
{
	struct budget_stretch burst = {
		.target_ns = STRETCH_NS, .wall_ns = STRETCH_NS, .own_ns = STRETCH_NS * 4 / 100};
	struct budget budget;

	(void)state;
	budget_init(&budget, 0.02, 997, BUDGET_MACHINE_HZ);
	(void)budget_look(&budget, &burst);
	assert_int_equal(budget.hz, 997);
	for (int i = 0; i < 20; i++)
		(void)budget_look(&budget, &burst);
	assert_in_range(budget.hz, 10, 500);
}

static void without_a_budget_the_rate_stays(void **state)
{
	struct budget budget;

	(void)state;
	budget_init(&budget, 0, 997, BUDGET_MACHINE_HZ);
	(void)run(&budget, 900000, 1, 20);
	assert_int_equal(budget.hz, 997);
	assert_true(budget.spent > 0.5); /* but it is known what it costs */
}

static void without_a_budget_a_halved_rate_rises_again(void **state)
{
	struct budget budget;

	(void)state;
	budget_init(&budget, 0, 100, BUDGET_AGENT_HZ);
	assert_int_equal(budget_halve(&budget), 47); /* samples were lost */
	(void)run(&budget, 10000, 1, 20);
	assert_int_equal(budget.hz, 100);
}

/* An agent: seconds that cost 0.7 % of one CPU, and a window that ends in one of sixty. */
static uint32_t lowest_with_windows(struct budget *budget, uint64_t own_ns, uint64_t window_ns)
{
	uint32_t lowest_hz = UINT32_MAX;

	for (int second = 0; second < 300; second++) {
		struct budget_stretch stretch = {.target_ns = 1000000000, .wall_ns = 1000000000};

		stretch.own_ns = own_ns + (second % 60 == 59 ? window_ns : 0);
		(void)budget_look(budget, &stretch);
		if (second >= 60 && budget->hz < lowest_hz)
			lowest_hz = budget->hz;
	}
	return lowest_hz;
}

static void the_end_of_a_window_counts_by_the_minute(void **state)
{
	struct budget budget;

	(void)state;
	budget_init_slow(&budget, 0.01, 100, BUDGET_AGENT_HZ);
	assert_int_equal(lowest_with_windows(&budget, 7000000, 100000000), 100); /* 0.87 % */
	budget_init_slow(&budget, 0.01, 100, BUDGET_AGENT_HZ);
	assert_in_range(lowest_with_windows(&budget, 7000000, 600000000), 1, 80); /* 1.7 % */
}

static void it_never_falls_below_its_floor(void **state)
{
	static const struct {
		uint32_t asked_hz, floor_hz, least_hz;
	} cases[] = {
		{997, BUDGET_PROCESS_HZ, 97},
		{997, BUDGET_MACHINE_HZ, 10},
		{997, BUDGET_AGENT_HZ, 1},
		{97, BUDGET_PROCESS_HZ, 10}, /* who asks for little gets less */
		{5, BUDGET_PROCESS_HZ, 5},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct budget budget;

		budget_init(&budget, 0.001, cases[i].asked_hz, cases[i].floor_hz);
		(void)run(&budget, 10000000, 1, 50);
		assert_int_equal(budget.hz, cases[i].least_hz);
		assert_int_equal(budget_halve(&budget), cases[i].least_hz);
		assert_false(budget_is_exhausted(&budget)); /* the halving has yet to show */
		(void)run(&budget, 10000000, 1, 4);
		assert_true(budget_is_exhausted(&budget));
	}
}

/* A machine with a clock of its own: one busy process, and a recorder with work of its own. */
struct world {
	struct budget budget;
	uint64_t now_ns;
	uint64_t sample_ns;      /* what a sample costs the target */
	uint64_t own_sample_ns;  /* and the recorder */
	uint64_t burst_begin_ns; /* when it does what comes once, and how much that is */
	uint64_t burst_ns;
	uint32_t lowest_hz;
	uint32_t changes;
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void let_pass(struct world *world, uint64_t ns)
{
	for (uint64_t end_ns = world->now_ns + ns; world->now_ns < end_ns;) {
		uint64_t samples = STRETCH_NS * world->budget.hz / 1000000000;
		struct budget_stretch stretch = {
			.target_ns = STRETCH_NS,
			.wall_ns = STRETCH_NS,
			.cost_ns = samples * world->sample_ns,
			.own_ns = samples * world->own_sample_ns,
		};
		uint32_t before = world->budget.hz;

		world->now_ns += STRETCH_NS;
		if (world->now_ns > world->burst_begin_ns) {
			uint64_t burst_ns = smaller(world->burst_ns, STRETCH_NS - stretch.own_ns);

			stretch.own_ns += burst_ns;
			world->burst_ns -= burst_ns;
		}
		(void)budget_look(&world->budget, &stretch);
		world->changes += world->budget.hz != before;
		if (world->budget.hz < world->lowest_hz || world->lowest_hz == 0)
			world->lowest_hz = world->budget.hz;
	}
}

#define SECOND_NS 1000000000ull

/* The recorder compiles tables, finds names or reads a large program: that is over soon. */
static void work_that_comes_once_leaves_the_rate_alone(void **state)
{
	static const uint64_t bursts_ns[] = {50000000, 120000000, 250000000, 400000000};

	(void)state;
	for (size_t i = 0; i < sizeof(bursts_ns) / sizeof(bursts_ns[0]); i++) {
		struct world world = {.sample_ns = 3500,
				      .own_sample_ns = 2000,
				      .burst_begin_ns = i % 2 * 5 * SECOND_NS,
				      .burst_ns = bursts_ns[i]};

		budget_init(&world.budget, 0.02, 997, BUDGET_PROCESS_HZ);
		let_pass(&world, 20 * SECOND_NS);
		assert_int_equal(world.budget.hz, 997);
		assert_int_equal(world.lowest_hz, 997);
		assert_true(world.budget.spent < 0.006);
	}
}

static void longer_work_lowers_it_for_a_while_and_not_to_nothing(void **state)
{
	struct world world = {.sample_ns = 3500, .burst_begin_ns = SECOND_NS};

	(void)state;
	world.burst_ns = 2 * SECOND_NS;
	budget_init(&world.budget, 0.02, 997, BUDGET_MACHINE_HZ);
	let_pass(&world, 4 * SECOND_NS);
	assert_in_range(world.lowest_hz, 30, 700);
	let_pass(&world, 8 * SECOND_NS);
	assert_int_equal(world.budget.hz, 997);
	assert_in_range(world.changes, 2, 20);
}

/* One stretch of a cost that is above the limit is chance; some in a row are not. */
static void a_short_excess_is_forgiven_and_a_long_one_is_not(void **state)
{
	struct world world = {.sample_ns = 15000};

	(void)state;
	budget_init(&world.budget, 0.02, 997, BUDGET_PROCESS_HZ);
	let_pass(&world, 5 * SECOND_NS);
	for (int i = 0; i < 20; i++) {
		world.sample_ns = 30000;
		let_pass(&world, STRETCH_NS);
		world.sample_ns = 15000;
		let_pass(&world, 3 * STRETCH_NS);
	}
	assert_int_equal(world.changes, 0);
	world.sample_ns = 30000;
	let_pass(&world, 2 * SECOND_NS);
	assert_int_equal(world.changes, 1);
	assert_in_range(world.budget.hz, 600, 680);
	world.sample_ns = 27500; /* there is a little room again, not enough to move */
	let_pass(&world, 20 * SECOND_NS);
	assert_int_equal(world.changes, 1);
}

/* A host that is so busy for so many stretches. Returns how often the state changed. */
static int stretches_of(struct breaker *breaker, double busy, int count, uint64_t *clock)
{
	int changes = 0;

	for (int i = 0; i < count; i++) {
		*clock += 1000;
		changes += breaker_look(breaker, breaker->last_busy_ns + (uint64_t)(1000 * busy),
					*clock);
	}
	return changes;
}

static void the_breaker_opens_late_and_closes_later(void **state)
{
	struct breaker breaker;
	uint64_t clock = 1000;

	(void)state;
	breaker_init(&breaker, 0.9);
	(void)breaker_look(&breaker, 10, clock); /* since boot: says nothing */
	assert_int_equal(stretches_of(&breaker, 0.95, 1, &clock), 0);
	assert_int_equal(stretches_of(&breaker, 0.5, 1, &clock), 0);
	assert_int_equal(stretches_of(&breaker, 0.95, 2, &clock), 1);
	assert_true(breaker.open);
	assert_int_equal(stretches_of(&breaker, 0.85, 20, &clock), 0); /* not clearly below */
	assert_int_equal(stretches_of(&breaker, 0.7, 4, &clock), 0);
	assert_int_equal(stretches_of(&breaker, 0.7, 1, &clock), 1);
	assert_false(breaker.open);
}

static void a_slow_breaker_judges_ten_periods_and_closes_after_a_minute(void **state)
{
	struct breaker breaker;
	uint64_t clock = 1000;

	(void)state;
	breaker_init_slow(&breaker, 0.9);
	(void)breaker_look(&breaker, 10, clock);
	assert_int_equal(stretches_of(&breaker, 0.99, 9, &clock), 0);
	assert_int_equal(stretches_of(&breaker, 0.99, 1, &clock), 1);
	assert_true(breaker.open);
	/* Ten periods until the mean is below 80 %, less what the lower ones count. */
	assert_int_equal(stretches_of(&breaker, 0.85, 200, &clock), 0);
	assert_int_equal(stretches_of(&breaker, 0.7, 60, &clock), 0);
	assert_int_equal(stretches_of(&breaker, 0.7, 10, &clock), 1);
	assert_false(breaker.open);
	/* A short peak is not enough to open it. */
	assert_int_equal(stretches_of(&breaker, 1, 5, &clock), 0);
}

static void no_limit_never_opens(void **state)
{
	struct breaker breaker;
	uint64_t clock = 1000;

	(void)state;
	breaker_init(&breaker, 0);
	assert_int_equal(stretches_of(&breaker, 1, 20, &clock), 0);
}

static void each_alarm_has_its_threshold(void **state)
{
	const struct {
		struct alarm_stretch below, above;
		enum alarm_kind kind;
	} cases[] = {
		{{.samples = 96, .lost = 4}, {.samples = 94, .lost = 6}, ALARM_DROPS},
		{{.samples = 5, .lost = 5}, {.samples = 20, .lost = 20}, ALARM_DROPS},
		{{.ring_fill = 0.79}, {.ring_fill = 0.81}, ALARM_FILL},
		{{.lag_ns = 99000000}, {.lag_ns = 101000000}, ALARM_LAG},
		{{.buffer_bytes = 99000000}, {.buffer_bytes = 101000000}, ALARM_BUFFERS},
		{{.spent = 0.021, .allowed = 0.02}, {.spent = 0.03, .allowed = 0.02}, ALARM_COST},
		{{.spent = 0.5}, {.spent = 0.5, .allowed = 0.02}, ALARM_COST},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(alarms_look(&cases[i].below), 0);
		assert_int_equal(alarms_look(&cases[i].above), 1u << cases[i].kind);
	}
}

static void an_alarm_is_told_once_with_its_remedy(void **state)
{
	struct alarm_stretch stretch = {.samples = 50, .lost = 50};
	struct alarms alarms = {0};
	char text[320];
	char command[64];

	(void)state;
	assert_true(alarms_tell(&alarms, ALARM_DROPS));
	assert_false(alarms_tell(&alarms, ALARM_DROPS));
	assert_true(alarms_tell(&alarms, ALARM_LAG));
	alarms_text(ALARM_DROPS, &stretch, false, text, sizeof(text));
	assert_string_equal(text, "50 % of the samples are being lost: lower the rate with -F");
	alarms_text(ALARM_DROPS, &stretch, true, text, sizeof(text));
	assert_non_null(strstr(text, "the rate was lowered"));
	alarms_text(ALARM_LAG, &stretch, false, text, sizeof(text));
	(void)snprintf(command, sizeof(command), "sudo renice -n -5 -p %d", (int)getpid());
	assert_non_null(strstr(text, command)); /* as it is to be typed */
	stretch = (struct alarm_stretch){.spent = 0.05, .allowed = 0.02, .floor_hz = 97};
	alarms_text(ALARM_COST, &stretch, true, text, sizeof(text));
	assert_non_null(strstr(text, "the rate is already at its minimum of 97 Hz"));
}

static void alarms_of_a_heap_do_not_speak_of_a_rate(void **state)
{
	const enum alarm_kind kinds[] = {ALARM_DROPS, ALARM_FILL, ALARM_LAG, ALARM_BUFFERS};
	const struct alarm_stretch stretch = {.samples = 50, .lost = 50, .only_heap = true};
	char text[320];

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		alarms_text(kinds[i], &stretch, false, text, sizeof(text));
		assert_non_null(strstr(text, "record fewer blocks with --sample"));
		assert_null(strstr(text, "-F"));
		assert_null(strstr(text, "rate"));
		assert_null(strstr(text, "samples"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cheap_target_gets_the_rate_that_was_asked_for),
		cmocka_unit_test(a_dear_target_costs_what_the_budget_allows),
		cmocka_unit_test(the_rate_rises_again_when_there_is_room),
		cmocka_unit_test(it_does_not_swing),
		cmocka_unit_test(a_target_that_hardly_runs_has_its_budget),
		cmocka_unit_test(a_dear_phase_is_noticed_at_once),
		cmocka_unit_test(the_recorder_counts_but_a_burst_of_it_does_not),
		cmocka_unit_test(without_a_budget_the_rate_stays),
		cmocka_unit_test(without_a_budget_a_halved_rate_rises_again),
		cmocka_unit_test(the_end_of_a_window_counts_by_the_minute),
		cmocka_unit_test(it_never_falls_below_its_floor),
		cmocka_unit_test(work_that_comes_once_leaves_the_rate_alone),
		cmocka_unit_test(longer_work_lowers_it_for_a_while_and_not_to_nothing),
		cmocka_unit_test(a_short_excess_is_forgiven_and_a_long_one_is_not),
		cmocka_unit_test(the_breaker_opens_late_and_closes_later),
		cmocka_unit_test(a_slow_breaker_judges_ten_periods_and_closes_after_a_minute),
		cmocka_unit_test(no_limit_never_opens),
		cmocka_unit_test(each_alarm_has_its_threshold),
		cmocka_unit_test(an_alarm_is_told_once_with_its_remedy),
		cmocka_unit_test(alarms_of_a_heap_do_not_speak_of_a_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
