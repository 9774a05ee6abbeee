/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/value_choice.h"

#include "base/error.h"
#include "make_profile.h"

static void a_value_is_chosen_by_name_or_number(void **state)
{
	struct profile *profile = make_profile();
	uint32_t value = 9;
	struct error err = {0};

	assert_int_equal(value_choose(profile, NULL, VALUE_MAIN, &value, &err), 0);
	assert_int_equal(value, 1);
	assert_int_equal(value_choose(profile, NULL, 0, &value, &err), 0);
	assert_int_equal(value, 0);
	assert_int_equal(value_choose(profile, "cpu", 0, &value, &err), 0);
	assert_int_equal(value, 1);
	profile_free(profile);
}

static void a_value_that_is_not_there_is_refused_with_those_that_are(void **state)
{
	struct profile *profile = make_profile();
	uint32_t value = 9;
	struct error err = {0};

	assert_int_equal(value_choose(profile, "cycles", 0, &value, &err), -EINVAL);
	assert_non_null(strstr(err.text, "cycles"));
	assert_int_equal(value_choose(profile, NULL, 2, &value, &err), -EINVAL);
	assert_non_null(strstr(err.text, "2 value types"));
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_is_chosen_by_name_or_number),
		cmocka_unit_test(a_value_that_is_not_there_is_refused_with_those_that_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
