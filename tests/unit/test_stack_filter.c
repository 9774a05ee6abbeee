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
#include "load/filter/stack_filter.h"
#include "load/load.h"
#include "make_profile.h"

/* How many of the stacks of a small profile the options accept. */
static size_t accepted(const struct load_options *options)
{
	static const char *const stacks[] = {"main;parse;read", "main;parse>inlined",
					     "main;libcall", "other"};
	static const struct value_type types[] = {{"samples", "count"}, {"cpu", "nanoseconds"}};
	struct stack_filter filter;
	struct profile *profile;
	size_t n = 0;
	size_t i;

	assert_int_equal(profile_new(types, 2, &profile), 0);
	for (i = 0; i < ARRAY_SIZE(stacks); i++)
		make_stack(profile, profile_thread(profile, 1, 1, "app", "app"), stacks[i], 1);
	assert_int_equal(stack_filter_init(&filter, options, NULL), 0);
	for (i = 0; i < profile->entries.count; i++)
		n += stack_filter_accepts(&filter, profile, profile->entries.items[i].stack);
	stack_filter_fini(&filter);
	profile_free(profile);
	return n;
}

static void without_filters_every_stack_is_wanted(void **state)
{
	(void)state;
	assert_int_equal(accepted(&(struct load_options){0}), 4);
}

static void only_wants_one_match_anywhere_in_the_stack(void **state)
{
	static const char *const words[] = {"^parse$", "^other$"};

	(void)state;
	assert_int_equal(accepted(&(struct load_options){.only = words, .only_count = 1}), 2);
	assert_int_equal(accepted(&(struct load_options){.only = words, .only_count = 2}), 3);
}

static void an_inlined_function_counts_like_any_other(void **state)
{
	static const char *const words[] = {"inlined"};

	(void)state;
	assert_int_equal(accepted(&(struct load_options){.only = words, .only_count = 1}), 1);
}

static void ignore_wins_over_only(void **state)
{
	static const char *const only[] = {"main"};
	static const char *const ignore[] = {"read", "libcall"};

	(void)state;
	assert_int_equal(
		accepted(&(struct load_options){
			.only = only, .only_count = 1, .ignore = ignore, .ignore_count = 2}),
		1);
}

static void a_module_is_named_by_its_path_or_the_last_part_of_it(void **state)
{
	static const char *const names[] = {"libdemo.so.1", "/usr/lib/libdemo.so.1", "demo"};
	size_t expected[] = {1, 1, 0};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(
			accepted(&(struct load_options){.modules = &names[i], .module_count = 1}),
			expected[i]);
}

static void a_bad_expression_leaves_nothing_behind(void **state)
{
	static const char *const words[] = {"good", "[a"};
	struct load_options options = {.ignore = words, .ignore_count = 2};
	struct stack_filter filter;
	struct error err = {0};

	(void)state;
	assert_int_equal(stack_filter_init(&filter, &options, &err), -EINVAL);
	assert_non_null(strstr(err.text, "[a"));
	assert_null(filter.ignore.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_filters_every_stack_is_wanted),
		cmocka_unit_test(only_wants_one_match_anywhere_in_the_stack),
		cmocka_unit_test(an_inlined_function_counts_like_any_other),
		cmocka_unit_test(ignore_wins_over_only),
		cmocka_unit_test(a_module_is_named_by_its_path_or_the_last_part_of_it),
		cmocka_unit_test(a_bad_expression_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
