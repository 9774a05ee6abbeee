/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void texts_are_set_extended_and_prefixed(void **state)
{
	struct error err = {0};

	assert_int_equal(error_set(&err, -EINVAL, "bad %d", 5), -EINVAL);
	assert_string_equal(err.text, "bad 5");
	error_remedy(&err, "try %s", "6");
	assert_int_equal(error_prefix(&err, -EIO, "engine %s", "perf"), -EIO);
	assert_string_equal(err.text, "engine perf: bad 5");
	assert_string_equal(err.remedy, "try 6");
	assert_int_equal(err.code, -EIO);
	assert_int_equal(error_errno(&err, -ENOENT, "cannot open x"), -ENOENT);
	assert_string_equal(err.text, "cannot open x: No such file or directory");
	assert_string_equal(err.remedy, "");
}

static void no_descriptors_come_with_the_limit_that_helps(void **state)
{
	struct error err = {0};

	(void)error_errno(&err, -EMFILE, "cannot open x");
	assert_string_equal(err.text, "cannot open x: Too many open files");
	assert_non_null(strstr(err.remedy, "ulimit -n"));
}

static void without_an_error_only_the_code_matters(void **state)
{
	assert_int_equal(error_set(NULL, -1, "x"), -1);
	assert_int_equal(error_errno(NULL, -2, "x"), -2);
	assert_int_equal(error_prefix(NULL, -3, "x"), -3);
	error_remedy(NULL, "x");
}

static void long_texts_are_cut(void **state)
{
	static char text[5000];
	struct error err = {0};

	memset(text, 'x', sizeof(text) - 1);
	(void)error_set(&err, -1, "%s", text);
	(void)error_prefix(&err, -1, "%s", text);
	(void)error_errno(&err, -1, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_set_extended_and_prefixed),
		cmocka_unit_test(no_descriptors_come_with_the_limit_that_helps),
		cmocka_unit_test(without_an_error_only_the_code_matters),
		cmocka_unit_test(long_texts_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
