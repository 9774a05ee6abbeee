/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/file_guess.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/vec.h"

static const struct file_guess *guess(const char *text)
{
	return file_guess((const uint8_t *)text, strlen(text));
}

static void files_of_known_kinds_are_named(void **state)
{
	static const struct {
		const char *text;
		const char *words;
	} cases[] = {
		{"\177ELF\002\001", "ELF"},
		{"JAVA PROFILE 1.0.2", "hprof"},
		{"--- heapz 1 ---\nformat = java\n", "Java heap profile"},
		{"--- threadz 1 ---\n", "threadz"},
		{"goroutine profile: total 7\n1 @ 0x4\n", "debug=1"},
		{"version: 1\ncreator: callgrind\nevents: Ir\n", "callgrind"},
		{"{\"traceEvents\":[", "Chrome"},
		{"\x89PNG\r\n", "PNG"},
		{"# Samples: 5  of event 'cycles'\n# Event count (approx.): 9\n", "perf report"},
		{"#\n# Overhead  Command  Symbol\n", "perf report"},
		{"#\n# Children      Self  Symbol\n", "perf report"},
		{"    19.81%  sh       libc.so.6          [.] strcmp\n", "perf report"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_non_null(guess(cases[i].text));
		assert_non_null(strstr(guess(cases[i].text)->what, cases[i].words));
	}
	assert_null(guess(""));
	assert_null(guess("hello\n"));
	assert_null(guess("\x01\x02\x03"));
}

static void the_rest_is_text_or_nothing(void **state)
{
	(void)state;
	assert_non_null(file_guess_text((const uint8_t *)"hello\n", 6));
	assert_non_null(strstr(file_guess_text((const uint8_t *)"{}", 2)->what, "JSON"));
	assert_null(file_guess_text((const uint8_t *)"a\0b", 3));
	assert_null(file_guess_text((const uint8_t *)"", 0));
}

static void a_refusal_names_the_file_and_what_helps(void **state)
{
	struct error err = {0};

	(void)state;
	assert_int_equal(file_guess_refuse("x.png", guess("\x89PNG\r\n"), &err), -EOPNOTSUPP);
	assert_string_equal(err.text, "x.png looks like a picture (PNG), which wick cannot read");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_of_known_kinds_are_named),
		cmocka_unit_test(the_rest_is_text_or_nothing),
		cmocka_unit_test(a_refusal_names_the_file_and_what_helps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
