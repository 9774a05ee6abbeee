/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/files/service_names.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/vec.h"

static void check(const char *const *paths, const char *const *expected, size_t count)
{
	char **names;
	size_t i;

	assert_int_equal(service_names_new(paths, count, &names, NULL), 0);
	for (i = 0; i < count; i++) {
		assert_string_equal(names[i], expected[i]);
		free(names[i]);
	}
	free(names);
}

static void a_name_is_the_last_part_of_a_path(void **state)
{
	const char *const paths[] = {"/tmp/app.wick", "perf.data", ".wick"};
	const char *const names[] = {"app", "perf.data", ".wick"};

	check(paths, names, ARRAY_SIZE(paths));
}

static void equal_names_get_as_many_parts_as_it_takes(void **state)
{
	const char *const paths[] = {"x/one/app.wick", "y/one/app.wick", "/z/two/app.wick", "b"};
	const char *const names[] = {"x/one/app", "y/one/app", "two/app", "b"};

	check(paths, names, ARRAY_SIZE(paths));
}

static void a_file_that_differs_by_its_ending_only_is_called_by_its_path(void **state)
{
	const char *const paths[] = {"app", "app.wick"};
	const char *const names[] = {"app", "app.wick"};

	check(paths, names, ARRAY_SIZE(paths));
}

static void a_file_that_is_named_twice_is_refused(void **state)
{
	const char *const paths[] = {"/dev/null", "/dev/../dev/null"};
	struct error err;
	char **names;

	assert_int_equal(service_names_new(paths, 2, &names, &err), -EINVAL);
	assert_non_null(strstr(err.text, "same file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_the_last_part_of_a_path),
		cmocka_unit_test(equal_names_get_as_many_parts_as_it_takes),
		cmocka_unit_test(a_file_that_differs_by_its_ending_only_is_called_by_its_path),
		cmocka_unit_test(a_file_that_is_named_twice_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
