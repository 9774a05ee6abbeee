/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/files/profile_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/profile.h"

static struct profile *new_profile(void)
{
	const struct value_type type = {"samples", "count"};
	struct profile *profile;

	assert_int_equal(profile_new(&type, 1, &profile), 0);
	return profile;
}

static void a_profile_belongs_to_one_request_at_a_time(void **state)
{
	struct profile_cache cache = {.max_bytes = 1 << 20};
	struct profile *profile = new_profile();

	assert_null(profile_cache_take(&cache, "a"));
	assert_int_equal(profile_cache_add(&cache, "a", profile), 0);
	assert_null(profile_cache_take(&cache, "a"));
	profile_cache_give_back(&cache, profile);
	assert_null(profile_cache_take(&cache, "b"));
	assert_ptr_equal(profile_cache_take(&cache, "a"), profile);
	profile_cache_fini(&cache);
}

static void the_oldest_are_freed_above_the_limit_unless_they_are_in_use(void **state)
{
	struct profile_cache cache = {.max_bytes = 0};
	struct profile *first = new_profile();
	struct profile *second = new_profile();

	assert_int_equal(profile_cache_add(&cache, "first", first), 0);
	assert_int_equal(cache.items.count, 1);
	cache.max_bytes = cache.bytes;
	profile_cache_give_back(&cache, first);
	assert_int_equal(profile_cache_add(&cache, "second", second), 0);
	assert_null(profile_cache_take(&cache, "first"));
	profile_cache_give_back(&cache, second);
	assert_ptr_equal(profile_cache_take(&cache, "second"), second);
	profile_cache_fini(&cache);
}

static void one_that_lost_entries_is_freed(void **state)
{
	struct profile_cache cache = {.max_bytes = 1 << 20};
	struct profile *profile = new_profile();
	const int64_t value = 1;

	assert_int_equal(profile_add(profile, 0, 0, &value), 0);
	assert_int_equal(profile_cache_add(&cache, "a", profile), 0);
	profile_clear_entries(profile);
	profile_cache_give_back(&cache, profile);
	assert_null(profile_cache_take(&cache, "a"));
	profile_cache_fini(&cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_profile_belongs_to_one_request_at_a_time),
		cmocka_unit_test(the_oldest_are_freed_above_the_limit_unless_they_are_in_use),
		cmocka_unit_test(one_that_lost_entries_is_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
