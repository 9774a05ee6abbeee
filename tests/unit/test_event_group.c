/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/vec.h"
#include "engine/perf/event.h"
#include "engine/perf/event_group.h"

static void the_first_leads_and_the_others_are_members(void **state)
{
	struct event_group group;

	(void)state;
	assert_int_equal(event_group_parse("cpu-clock", &group, NULL), 0);
	assert_int_equal(group.member_count, 0);
	assert_int_equal(event_group_parse("page-faults,cycles,cpu-clock", &group, NULL), 0);
	assert_string_equal(group.leader->name, "page-faults");
	assert_int_equal(group.member_count, 2);
	assert_string_equal(group.members[0]->name, "cycles");
	assert_string_equal(group.members[1]->name, "cpu-clock");
}

static void names_that_make_no_group_are_refused(void **state)
{
	static const struct {
		const char *text;
		const char *says;
	} cases[] = {
		{"cpu-clock,cpu-cloc", "cpu-cloc"},
		{"cpu-clock,,cycles", "no event called"},
		{"cpu-clock,", "no event called"},
		{"cycles,cycles", "twice"},
		{"cpu-clock,page-faults,cycles,branches,branch-misses,cache-misses,"
		 "cache-references,instructions,context-switches",
		 "at most 8"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct event_group group;
		struct error err = {0};

		assert_int_equal(event_group_parse(cases[i].text, &group, &err), -EINVAL);
		assert_non_null(strstr(err.text, cases[i].says));
	}
}

static void only_what_a_kernel_before_6_12_cannot_do_is_given_up_first(void **state)
{
	struct event_request request = {.kind = event_find("cpu-clock", NULL),
					.frequency_hz = 1000,
					.depth = 64,
					.inherit = true,
					.group = true};
	struct event_grant grant;

	(void)state;
	event_grant_init(&grant, &request);
	assert_true(grant.attr.sample_type & PERF_SAMPLE_READ);
	assert_int_equal(grant.attr.read_format, PERF_FORMAT_GROUP);
	assert_true(event_lower(&grant, -EINVAL));
	assert_true(grant.alone);
	assert_false(grant.attr.inherit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_leads_and_the_others_are_members),
		cmocka_unit_test(names_that_make_no_group_are_refused),
		cmocka_unit_test(only_what_a_kernel_before_6_12_cannot_do_is_given_up_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
