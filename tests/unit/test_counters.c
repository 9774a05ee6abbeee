/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/perf/counters.h"

static uint64_t since(struct counters *counters, pid_t tid, uint32_t cpu, uint64_t now)
{
	uint64_t values[2] = {now, 2 * now};

	assert_int_equal(counters_since(counters, tid, cpu, values, 2), 0);
	/* 0 when a counter began anew, twice the first otherwise. */
	assert_int_equal(values[1], 2 * values[0]);
	return values[0];
}

static void what_was_counted_since_the_last_time_is_told(void **state)
{
	struct counters counters = {0};

	(void)state;
	assert_int_equal(since(&counters, 1, 0, 10), 10);
	assert_int_equal(since(&counters, 1, 0, 15), 5);
	assert_int_equal(since(&counters, 1, 0, 15), 0);
	/* Each thread on each CPU has its own. */
	assert_int_equal(since(&counters, 1, 1, 4), 4);
	assert_int_equal(since(&counters, 2, 0, 3), 3);
	assert_int_equal(since(&counters, 1, 0, 20), 5);
	counters_fini(&counters);
}

static void a_counter_that_begins_anew_counts_from_nothing(void **state)
{
	static const int cpus[] = {0, 1};
	struct counters counters = {0};

	(void)state;
	assert_int_equal(since(&counters, 1, 0, 100), 100);
	assert_int_equal(since(&counters, 1, 0, 30), 30); /* has gone back */
	counters_forget(&counters, 1, cpus, 2);
	assert_int_equal(since(&counters, 1, 0, 40), 40); /* another thread of the same id */
	counters_fini(&counters);
}

static void threads_that_come_and_go_take_no_more_and_more_memory(void **state)
{
	static const int cpus[] = {0, 1};
	struct counters counters = {0};

	(void)state;
	assert_int_equal(since(&counters, 1000000, 0, 7), 7);
	for (pid_t tid = 1; tid < 100000; tid++) {
		assert_int_equal(since(&counters, tid, 0, 5), 5);
		assert_int_equal(since(&counters, tid, 1, 6), 6);
		counters_forget(&counters, tid, cpus, 2);
	}
	assert_true(counters.items.count < 10000);
	assert_int_equal(since(&counters, 1000000, 0, 8), 1);
	counters_fini(&counters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_counted_since_the_last_time_is_told),
		cmocka_unit_test(a_counter_that_begins_anew_counts_from_nothing),
		cmocka_unit_test(threads_that_come_and_go_take_no_more_and_more_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
