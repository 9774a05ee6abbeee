/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/function_cost.h"

#include "make_profile.h"

static uint32_t stack_of(const struct profile *profile, size_t entry)
{
	return profile->entries.items[entry].stack;
}

/* Every function is a row of its own, the first named ones first. */
static struct cost_table table_of(const struct profile *profile)
{
	uint32_t rows[16];
	struct cost_table table;
	uint32_t i;

	for (i = 0; i < 16; i++)
		rows[i] = i;
	assert_true(profile->functions.count <= 16);
	assert_int_equal(cost_table_init(&table, profile, 0, rows, profile->functions.count), 0);
	return table;
}

static void a_function_that_calls_itself_counts_once(void **state)
{
	struct profile *profile = make_profile();
	struct cost_table table;

	make_stack(profile, 0, "main;visit;visit;visit", 5);
	make_stack(profile, 0, "main;visit", 2);
	make_stack(profile, 0, "main", 1);
	table = table_of(profile);
	assert_int_equal(table.whole.weight, 8);
	assert_int_equal(table.rows[0].total.weight, 8); /* main */
	assert_int_equal(table.rows[0].self.weight, 1);
	assert_int_equal(table.rows[1].total.weight, 7); /* visit */
	assert_int_equal(table.rows[1].total.samples, 7);
	assert_int_equal(table.rows[1].self.weight, 7);
	assert_int_equal(table.slices, 0);
	cost_table_fini(&table);
	profile_free(profile);
}

static void functions_of_one_row_are_one(void **state)
{
	static const uint32_t rows[] = {ID_NONE, 0, 0};
	struct profile *profile = make_profile();
	struct cost_table table;

	make_stack(profile, 0, "main;parse;lib_copy", 5);
	make_stack(profile, 0, "main;lib_copy", 2);
	make_stack(profile, 0, "main", 1);
	assert_int_equal(cost_table_init(&table, profile, 1, rows, 1), 0);
	assert_int_equal(table.rows[0].total.weight, 7 * MAKE_PERIOD_NS);
	assert_int_equal(table.rows[0].self.samples, 7);
	cost_table_fini(&table);
	profile_free(profile);
}

/* Slices of 4, 0 and 3 samples, of which f has 1, 0 and 3; then again nothing and 2. */
static void steps_are_differences_of_neighbouring_slices(void **state)
{
	struct profile *profile = make_profile();
	struct cost_table table;

	make_stack(profile, 0, "f", 6);
	make_stack(profile, 0, "g", 3);
	/* Not in the order of time. */
	(void)vec_push(&profile->moments, (struct profile_moment){2, stack_of(profile, 0), {3, 3}});
	(void)vec_push(&profile->moments, (struct profile_moment){0, stack_of(profile, 1), {3, 3}});
	(void)vec_push(&profile->moments, (struct profile_moment){0, stack_of(profile, 0), {1, 1}});
	(void)vec_push(&profile->moments, (struct profile_moment){4, stack_of(profile, 0), {2, 2}});
	table = table_of(profile);
	assert_int_equal(table.slices, 5);
	assert_int_equal((int)table.whole.steps, 16 + 9 + 9 + 4);
	assert_int_equal((int)table.rows[0].total.steps, 1 + 9 + 9 + 4);
	assert_int_equal((int)table.rows[0].self.joint, 4 + 9 + 9 + 4);
	assert_int_equal((int)table.rows[1].total.steps, 9);
	assert_int_equal((int)table.rows[1].total.joint, 12);
	cost_table_fini(&table);
	profile_free(profile);
}

static void an_empty_profile_costs_nothing(void **state)
{
	struct profile *profile = make_profile();
	struct cost_table table = table_of(profile);

	assert_int_equal(table.whole.weight, 0);
	assert_int_equal(table.count, 0);
	cost_table_fini(&table);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_that_calls_itself_counts_once),
		cmocka_unit_test(functions_of_one_row_are_one),
		cmocka_unit_test(steps_are_differences_of_neighbouring_slices),
		cmocka_unit_test(an_empty_profile_costs_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
