/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proc/process_title.h"

#define PARSE(text, comm) (process_title_parse(text, sizeof(text), comm, title) ? title : "none")

static char title[PROCESS_TITLE_MAX];

static void a_title_is_found(void **state)
{
	(void)state;
	assert_string_equal(PARSE("nginx: worker process\0\0\0", "nginx"), "nginx: worker process");
	assert_string_equal(PARSE("postgres: 15/main: checkpointer ", "postgres"),
			    "postgres: 15/main: checkpointer");
	assert_string_equal(PARSE("a_name_of_twenty_byt: works", "a_name_of_twent"),
			    "a_name_of_twenty_byt: works");
}

static void what_it_is_told_with_is_left_out(void **state)
{
	(void)state;
	assert_string_equal(PARSE("nginx: master process /usr/sbin/nginx -g daemon on;", "nginx"),
			    "nginx: master process");
	assert_string_equal(PARSE("postgres: app shop 10.1.2.3(5555) SELECT", "postgres"),
			    "postgres: app shop");
	assert_string_equal(PARSE("tool: --password=x y", "tool"), "none");
}

static void arguments_are_none(void **state)
{
	(void)state;
	assert_string_equal(PARSE("nginx:\0worker", "nginx"), "none");
	assert_string_equal(PARSE("/usr/bin/nginx", "nginx"), "none");
	assert_string_equal(PARSE("nginx", "nginx"), "none");
	assert_string_equal(PARSE("nginx: ", "nginx"), "none");
	assert_string_equal(PARSE("other: worker", "nginx"), "none");
	assert_string_equal(PARSE("nginx2: worker", "nginx"), "none");
	assert_string_equal(PARSE("", "nginx"), "none");
	assert_string_equal(PARSE(": worker", ""), "none");
	assert_false(process_title_parse("nginx: worker", 0, "nginx", title));
}

static void a_long_one_ends_with_a_word(void **state)
{
	char text[300] = "tool:";

	(void)state;
	for (size_t i = 0; i < 50; i++)
		memcpy(text + 5 + 5 * i, " word", 5);
	assert_true(process_title_parse(text, sizeof(text), "tool", title));
	assert_int_equal(strlen(title), 60);
	assert_string_equal(title + 55, " word");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_title_is_found),
		cmocka_unit_test(what_it_is_told_with_is_left_out),
		cmocka_unit_test(arguments_are_none),
		cmocka_unit_test(a_long_one_ends_with_a_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
