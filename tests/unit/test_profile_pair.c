/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/profile_pair.h"

#include "make_profile.h"

/* A stack of one function of some place. */
static void add(struct profile *profile, const char *name, const char *file, const char *module,
		int64_t samples)
{
	struct profile_line line = {
		.function =
			profile_function(profile, name, file, module,
					 strstr(module, ".so") ? ORIGIN_LIBRARY : ORIGIN_PROGRAM)};
	uint32_t at = profile_location(profile, module, line.function, &line, 1);

	assert_int_equal(profile_add(profile, stack_tree_child(&profile->stacks, 0, at), 0,
				     (int64_t[]){samples, samples}),
			 0);
}

static struct profile_pair join(const struct profile *before, const struct profile *after)
{
	const struct profile *sides[2] = {before, after};
	struct profile_pair pair;

	assert_int_equal(profile_pair_init(&pair, sides, (uint32_t[]){1, 1}), 0);
	return pair;
}

static void assert_entry(const struct profile_pair *pair, size_t entry, int64_t before,
			 int64_t after)
{
	const int64_t *values = profile_entry_values(pair->both, entry);

	assert_int_equal(values[PAIR_BEFORE], before);
	assert_int_equal(values[PAIR_AFTER], after);
	assert_int_equal(values[PAIR_BOTH], before + after);
}

static void equal_stacks_are_one_with_both_values(void **state)
{
	struct profile *before = make_profile();
	struct profile *after = make_profile();
	struct profile_pair pair;

	make_stack(before, 0, "main;gone@1", 3);
	make_stack(before, 0, "main;parse@1", 4);
	make_stack(before, 0, "main;parse@2", 1);
	make_stack(after, 0, "main;parse@7", 2);
	make_stack(after, 0, "main;fresh>parse", 6);
	pair = join(before, after);
	assert_int_equal(pair.both->functions.count, 4);
	assert_int_equal(pair.both->entries.count, 3);
	assert_entry(&pair, 0, 3 * MAKE_PERIOD_NS, 0);
	assert_entry(&pair, 1, 5 * MAKE_PERIOD_NS, 2 * MAKE_PERIOD_NS);
	assert_entry(&pair, 2, 0, 6 * MAKE_PERIOD_NS);
	assert_int_equal(profile_entry_values(pair.both, 1)[PAIR_SAMPLES_BEFORE], 5);
	assert_int_equal(profile_entry_values(pair.both, 1)[PAIR_SAMPLES_AFTER], 2);
	profile_pair_fini(&pair);
	profile_free(before);
	profile_free(after);
}

static void a_moved_and_renamed_program_has_the_same_functions(void **state)
{
	struct profile *before = make_profile();
	struct profile *after = make_profile();
	struct profile_pair pair;

	add(before, "parse", "", "/old/app-1.0", 1);
	add(after, "parse", "/src/parse.c", "/new/app-1.1", 2);
	pair = join(before, after);
	assert_int_equal(pair.both->functions.count, 1);
	assert_string_equal(profile_text(pair.both, pair.both->functions.items[0].module),
			    "/new/app-1.1");
	assert_entry(&pair, 0, 1, 2);
	profile_pair_fini(&pair);
	profile_free(before);
	profile_free(after);
}

static void a_name_that_is_there_twice_is_told_apart_by_its_place(void **state)
{
	struct profile *before = make_profile();
	struct profile *after = make_profile();
	struct profile_pair pair;

	add(before, "init", "/a/x.c", "/bin/app", 1);
	add(before, "init", "/a/y.c", "/bin/app", 2);
	add(before, "init", "", "/lib/libz.so.1", 4);
	add(after, "init", "/b/x.c", "/bin/app2", 8);
	add(after, "init", "/b/y.c", "/bin/app2", 16);
	add(after, "init", "", "/opt/libz.so.1", 32);
	pair = join(before, after);
	assert_int_equal(pair.both->functions.count, 3);
	assert_int_equal(pair.both->entries.count, 3);
	assert_entry(&pair, 0, 1, 8);
	assert_entry(&pair, 1, 2, 16);
	assert_entry(&pair, 2, 4, 32);
	profile_pair_fini(&pair);
	profile_free(before);
	profile_free(after);
}

static void an_empty_side_is_a_side(void **state)
{
	struct profile *before = make_profile();
	struct profile *after = make_profile();
	struct profile_pair pair;

	make_stack(after, 0, "main", 2);
	pair = join(before, after);
	assert_entry(&pair, 0, 0, 2 * MAKE_PERIOD_NS);
	profile_pair_fini(&pair);
	pair = join(before, before);
	assert_int_equal(pair.both->entries.count, 0);
	profile_pair_fini(&pair);
	profile_free(before);
	profile_free(after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_are_one_with_both_values),
		cmocka_unit_test(a_moved_and_renamed_program_has_the_same_functions),
		cmocka_unit_test(a_name_that_is_there_twice_is_told_apart_by_its_place),
		cmocka_unit_test(an_empty_side_is_a_side),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
