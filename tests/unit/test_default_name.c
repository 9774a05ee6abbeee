/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/vec.h"
#include "cli/default_name.h"

static void an_output_is_named_after_its_input(void **state)
{
	static const struct {
		const char *input;
		const char *expected;
	} cases[] = {
		{"app.wick", "app.svg"},       {"/var/tmp/app.wick", "app.svg"}, {"app", "app.svg"},
		{"a.b.wick", "a.b.svg"},       {".hidden", ".hidden.svg"},       {"-", "wick.svg"},
		{"my app.wick", "my app.svg"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		char *name = default_name(cases[i].input, ".svg");

		assert_string_equal(name, cases[i].expected);
		free(name);
	}
}

static void a_recording_is_named_after_time_and_program(void **state)
{
	char *name = default_recording_name("/usr/bin/make it \xc3\xb6k; rm");

	(void)state;
	assert_int_equal(strncmp(name, "wick-20", 7), 0);
	assert_string_equal(name + strlen("wick-YYYYmmdd-HHMMSS"), "-make_it___k__rm.wick");
	assert_int_equal(strspn(name + 5, "0123456789"), 8);
	free(name);
}

static void a_second_recording_within_a_second_takes_another_name(void **state)
{
	char folder[] = "/tmp/wick-test-XXXXXX";
	char *names[3];
	size_t i;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	for (i = 0; i < 3; i++) {
		int fd;

		names[i] = default_recording_name("app");
		fd = open(names[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		assert_true(fd >= 0); /* else it would write over the one before */
		assert_int_equal(close(fd), 0);
	}
	for (i = 0; i < 3; i++) {
		assert_int_equal(unlink(names[i]), 0);
		free(names[i]);
	}
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_output_is_named_after_its_input),
		cmocka_unit_test(a_recording_is_named_after_time_and_program),
		cmocka_unit_test(a_second_recording_within_a_second_takes_another_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
