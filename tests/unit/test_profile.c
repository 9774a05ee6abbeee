/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct value_type types[] = {{"samples", "count"}, {"cpu", "nanoseconds"}};

static void equal_things_have_equal_ids(void **state)
{
	struct profile *profile;
	struct profile_line lines[2];
	uint32_t id;

	assert_int_equal(profile_new(types, 2, &profile), 0);
	id = profile_function(profile, "f", "f.c", "/lib", ORIGIN_LIBRARY);
	assert_int_equal(profile_function(profile, "f", "f.c", "/lib", ORIGIN_LIBRARY), id);
	assert_int_not_equal(profile_function(profile, "f", "g.c", "/lib", ORIGIN_LIBRARY), id);
	assert_int_equal(profile_function_of(profile, &profile->functions.items[id]), id);
	lines[0] = (struct profile_line){id, 1};
	lines[1] = (struct profile_line){id, 2};
	id = profile_location(profile, "/lib", 16, lines, 2);
	assert_int_equal(profile_location(profile, "/lib", 16, lines, 2), id);
	assert_int_not_equal(profile_location(profile, "/lib", 16, lines, 1), id);
	assert_int_equal(profile_location(profile, "/lib", 0, NULL, 0),
			 profile_location(profile, "/lib", 0, NULL, 0));
	id = profile_thread(profile, 1, 2, "t", "p");
	assert_int_equal(profile_thread(profile, 1, 2, "t", "p"), id);
	assert_int_not_equal(profile_thread(profile, 1, 3, "t", "p"), id);
	profile_free(profile);
}

static void values_of_an_entry_add_up(void **state)
{
	struct profile *profile;
	const int64_t *values;

	assert_int_equal(profile_new(types, 2, &profile), 0);
	assert_int_equal(profile_add(profile, 0, 0, (int64_t[]){1, 10}), 0);
	assert_int_equal(profile_add(profile, 0, 1, (int64_t[]){1, 100}), 0);
	assert_int_equal(profile_add(profile, 0, 0, (int64_t[]){1, 5}), 0);
	assert_int_equal(profile->entries.count, 2);
	values = profile_entry_values(profile, 0);
	assert_int_equal(values[0], 2);
	assert_int_equal(values[1], 15);
	profile_free(profile);
}

static void sums_stop_at_the_ends_of_their_type(void **state)
{
	struct profile *profile;

	assert_int_equal(profile_new(types, 2, &profile), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(profile_add(profile, 0, 0, (int64_t[]){INT64_MAX, INT64_MIN}), 0);
	assert_int_equal(profile_entry_values(profile, 0)[0], INT64_MAX);
	assert_int_equal(profile_entry_values(profile, 0)[1], INT64_MIN);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_things_have_equal_ids),
		cmocka_unit_test(values_of_an_entry_add_up),
		cmocka_unit_test(sums_stop_at_the_ends_of_their_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
