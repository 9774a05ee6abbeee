/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

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
	assert_string_equal(err.text, "cannot open x: no such file or directory");
}

static void no_descriptors_come_with_the_limit_that_helps(void **state)
{
	struct rlimit before;
	struct rlimit low;
	struct error err = {0};

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	low = (struct rlimit){64, before.rlim_max}; /* which anybody may raise again */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	(void)error_errno(&err, -EMFILE, "cannot open x");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_string_equal(err.text, "cannot open x: too many open files");
	assert_non_null(strstr(err.remedy, "now 64: ulimit -n "));
}

/* Whatever fails has a remedy: for every code of the system, and for every way to fail. */
static void every_code_of_the_system_has_a_remedy(void **state)
{
	struct error err = {0};

	for (int code = 1; code < 134; code++) {
		(void)error_errno(&err, -code, "cannot do it");
		assert_true(err.remedy[0] != '\0');
		(void)error_file(&err, -code, "cannot open x");
		assert_true(err.remedy[0] != '\0');
	}
	(void)error_set(&err, -ENOMEM, "out of memory");
	assert_true(err.remedy[0] != '\0');
	(void)error_set(&err, -EINVAL, "x is wrong");
	assert_string_equal(err.remedy, ""); /* only whoever says it knows what helps */
}

static void what_helps_depends_on_what_it_is_about(void **state)
{
	struct error err = {0};

	(void)error_file(&err, -ENOENT, "cannot open x");
	assert_non_null(strstr(err.remedy, "path"));
	(void)error_errno(&err, -ENOENT, "cannot watch x");
	assert_null(strstr(err.remedy, "path"));
	(void)error_file(&err, -EACCES, "cannot open x");
	assert_non_null(strstr(err.remedy, "ls -ld"));
}

static void a_limit_that_was_met_is_told_with_what_raises_it(void **state)
{
	struct rlimit old;
	struct rlimit low;
	struct error err = {0};

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	(void)error_file(&err, -EFBIG, "cannot write x");
	if (old.rlim_cur == RLIM_INFINITY)
		assert_null(strstr(err.remedy, "ulimit"));
	low = (struct rlimit){.rlim_cur = 1 << 20, .rlim_max = old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
	(void)error_file(&err, -EFBIG, "cannot write x");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_non_null(strstr(err.remedy, "raise the limit on file sizes (KB), now 1024: "));
	if (old.rlim_max == RLIM_INFINITY)
		assert_non_null(strstr(err.remedy, "now 1024: ulimit -f unlimited"));
	(void)error_set(&err, -EFBIG, "x is larger than 5");
	assert_string_equal(err.remedy, ""); /* that is a limit of ours */
}

static void advice_is_for_what_has_no_remedy(void **state)
{
	struct error err = {0};

	assert_int_equal(error_advise(&err, error_set(&err, -EINVAL, "x"), "do %s", "y"), -EINVAL);
	assert_string_equal(err.remedy, "do y");
	assert_int_equal(error_advise(&err, -EIO, "do z"), -EIO);
	assert_string_equal(err.remedy, "do y");
	assert_int_equal(error_advise(NULL, -EIO, "do z"), -EIO);
}

static void without_an_error_only_the_code_matters(void **state)
{
	assert_int_equal(error_set(NULL, -1, "x"), -1);
	assert_int_equal(error_errno(NULL, -2, "x"), -2);
	assert_int_equal(error_file(NULL, -2, "x"), -2);
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
		cmocka_unit_test(every_code_of_the_system_has_a_remedy),
		cmocka_unit_test(what_helps_depends_on_what_it_is_about),
		cmocka_unit_test(a_limit_that_was_met_is_told_with_what_raises_it),
		cmocka_unit_test(advice_is_for_what_has_no_remedy),
		cmocka_unit_test(without_an_error_only_the_code_matters),
		cmocka_unit_test(long_texts_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
