/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/uprobe/probe_cost.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SECOND_NS 1000000000ull

static const struct probe_cost cost = {.entry_ns = 500, .return_ns = 300};

static void test_a_pair_is_an_allocation_and_a_free(void **state)
{
	(void)state;
	assert_float_equal(probe_cost_pairs(1000, 1000, SECOND_NS), 1000, 0);
	assert_float_equal(probe_cost_pairs(200, 200, SECOND_NS / 5), 1000, 1e-9);
	assert_float_equal(probe_cost_pairs(1000, 0, SECOND_NS), 500, 0);
	assert_float_equal(probe_cost_pairs(1000, 1000, 0), 0, 0);
}

static void test_what_is_too_much(void **state)
{
	(void)state;
	assert_false(probe_cost_is_too_much(0));
	assert_false(probe_cost_is_too_much(HIT_COST_MANY_PAIRS));
	assert_true(probe_cost_is_too_much(HIT_COST_MANY_PAIRS + 1));
}

static void test_what_it_comes_to(void **state)
{
	(void)state;
	assert_int_equal(probe_cost_pair_ns(&cost, true), 1000);
	assert_int_equal(probe_cost_pair_ns(&cost, false), 1300);
	assert_float_equal(probe_cost_share(200000, 1300), 0.26, 1e-9);
}

static void test_runs_that_are_not_timed_take_as_long(void **state)
{
	(void)state;
	assert_int_equal(probe_cost_run_ns(3000, 10, 10), 3000);
	assert_int_equal(probe_cost_run_ns(3000, 10, 25), 7500);
	assert_int_equal(probe_cost_run_ns(0, 0, 25), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_pair_is_an_allocation_and_a_free),
		cmocka_unit_test(test_what_is_too_much),
		cmocka_unit_test(test_what_it_comes_to),
		cmocka_unit_test(test_runs_that_are_not_timed_take_as_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
