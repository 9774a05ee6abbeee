/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/language_filter.h"

#include "make_profile.h"

static int64_t samples_in(const struct profile *profile)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < profile->entries.count; i++)
		sum += profile_entry_values(profile, i)[0];
	return sum;
}

static void stacks_with_a_call_in_the_language_stay_until_it_is_undone(void **state)
{
	struct profile *profile = make_profile();
	uint32_t thread = profile_thread(profile, 1, 1, "app", "app");
	struct language_filter filter = {0};

	make_stack(profile, thread, "main;read;sys_read", 3);
	make_stack(profile, thread, "main;read", 5);
	make_stack(profile, thread, "main;read>sys_inlined;copy", 7);
	profile->quality = (struct profile_quality){.in_file = 20, .samples = 15, .lost = 5};

	assert_int_equal(language_filter_apply(&filter, profile, LANGUAGE_KERNEL), 0);
	assert_int_equal(profile->entries.count, 2);
	assert_int_equal(samples_in(profile), 10);
	assert_int_equal(profile->quality.samples, 10);
	assert_int_equal(profile->quality.lost, 5);

	language_filter_undo(&filter);
	assert_int_equal(profile->entries.count, 3);
	assert_int_equal(samples_in(profile), 15);
	assert_int_equal(profile->quality.samples, 15);
	/* Entries are found again, and not added twice. */
	make_stack(profile, thread, "main;read", 1);
	assert_int_equal(profile->entries.count, 3);
	profile_free(profile);
}

static void nothing_stays_of_a_language_that_is_not_there(void **state)
{
	struct profile *profile = make_profile();
	uint32_t thread = profile_thread(profile, 1, 1, "app", "app");
	struct language_filter filter = {0};

	make_stack(profile, thread, "main;read", 5);
	assert_int_equal(language_filter_apply(&filter, profile, LANGUAGE_PYTHON), 0);
	assert_int_equal(profile->entries.count, 0);
	language_filter_undo(&filter);
	language_filter_undo(&filter);
	assert_int_equal(profile->entries.count, 1);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_with_a_call_in_the_language_stay_until_it_is_undone),
		cmocka_unit_test(nothing_stays_of_a_language_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
