/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/function_lines.h"

#include "make_profile.h"

/* A stack of one address of a function in its line, and what it costs. */
static uint32_t add(struct profile *profile, uint32_t parent, const char *name, uint32_t line,
		    int64_t samples)
{
	struct profile_line at = {.function = make_function(profile, name), .line = line};
	uint32_t location = profile_location(profile, "app", 0x1000 + line, &at, 1);
	uint32_t stack = stack_tree_child(&profile->stacks, parent, location);

	assert_int_equal(profile_add(profile, stack, 0, (int64_t[]){samples, samples}), 0);
	return stack;
}

static void the_line_that_costs_most_is_found(void **state)
{
	struct profile *profile = make_profile();
	uint32_t *lines = NULL;
	uint32_t caller = add(profile, 0, "main", 10, 0);

	add(profile, caller, "work", 21, 3);
	add(profile, caller, "work", 25, 5);
	add(profile, add(profile, 0, "main", 12, 1), "work", 21, 3);
	add(profile, caller, "bare", 0, 9);
	assert_int_equal(function_lines_new(profile, 0, &lines), 0);
	/* What main calls from line 10 counts for it. */
	assert_int_equal(lines[make_function(profile, "main")], 10);
	/* Line 21 has 6 from two callers. */
	assert_int_equal(lines[make_function(profile, "work")], 21);
	assert_int_equal(lines[make_function(profile, "bare")], 0);
	free(lines);
	profile_free(profile);
}

static void a_profile_of_nothing_has_no_lines(void **state)
{
	struct profile *profile = make_profile();
	uint32_t *lines = NULL;

	assert_int_equal(function_lines_new(profile, 0, &lines), 0);
	free(lines);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_that_costs_most_is_found),
		cmocka_unit_test(a_profile_of_nothing_has_no_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
