/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "engine/ptrace/stop_times.h"

static struct stop_times times;

static int start_empty(void **state)
{
	(void)state;
	times = (struct stop_times){0};
	return 0;
}

static void without_stops_all_is_nothing(void **state)
{
	(void)state;
	assert_int_equal(stop_times_quantile_ns(&times, 0.5), 0);
	assert_int_equal(stop_times_quantile_ns(&times, 1), 0);
}

static void a_quantile_is_not_exceeded_by_its_share(void **state)
{
	(void)state;
	for (uint64_t us = 1; us <= 100; us++)
		stop_times_add(&times, us * NS_PER_US - 1);
	assert_int_equal(times.count, 100);
	assert_int_equal(stop_times_quantile_ns(&times, 0), NS_PER_US);
	assert_int_equal(stop_times_quantile_ns(&times, 0.5), 50 * NS_PER_US);
	assert_int_equal(stop_times_quantile_ns(&times, 0.99), 99 * NS_PER_US);
	assert_int_equal(stop_times_quantile_ns(&times, 1), 100 * NS_PER_US - 1);
}

static void what_is_too_long_for_the_histogram_counts_as_the_longest(void **state)
{
	(void)state;
	stop_times_add(&times, 10 * NS_PER_US);
	stop_times_add(&times, 5 * NS_PER_SEC);
	assert_int_equal(times.longest_ns, 5 * NS_PER_SEC);
	assert_int_equal(stop_times_quantile_ns(&times, 0.5), 11 * NS_PER_US);
	assert_int_equal(stop_times_quantile_ns(&times, 0.99), 5 * NS_PER_SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(without_stops_all_is_nothing, start_empty),
		cmocka_unit_test_setup(a_quantile_is_not_exceeded_by_its_share, start_empty),
		cmocka_unit_test_setup(what_is_too_long_for_the_histogram_counts_as_the_longest,
				       start_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
