/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"
#include "engine/perf/cpus.h"

static void ranges_and_single_cpus_are_listed(void **state)
{
	static const int expected[] = {0, 1, 2, 3, 8, 10, 11};
	struct cpu_list list = {0};

	(void)state;
	assert_int_equal(cpu_list_parse(&list, "0-3,8,10-11\n"), 0);
	assert_int_equal(list.count, ARRAY_SIZE(expected));
	assert_memory_equal(list.items, expected, sizeof(expected));
	vec_fini(&list);
}

static void what_is_no_list_is_refused(void **state)
{
	static const char *const cases[] = {"",   "\n",  "cpu0", "3-1", "0-99999999", "0 1",
					    "-1", "0;1", "1-",   "0-x", "0,,1",       "0-3,70000"};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cpu_list list = {0};

		assert_int_equal(cpu_list_parse(&list, cases[i]), -EINVAL);
		vec_fini(&list);
	}
}

static void this_machine_has_a_cpu(void **state)
{
	struct cpu_list list = {0};

	(void)state;
	assert_int_equal(cpu_list_online(&list), 0);
	assert_true(list.count > 0);
	vec_fini(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_and_single_cpus_are_listed),
		cmocka_unit_test(what_is_no_list_is_refused),
		cmocka_unit_test(this_machine_has_a_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
