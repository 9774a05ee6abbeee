/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/allocators.h"

#include "make_profile.h"

/* The name of the function that a stack's block is of. */
static const char *place_of(const struct profile *profile, size_t entry)
{
	struct allocators allocators;
	struct allocation_lines lines = {0};
	uint32_t line;

	assert_int_equal(allocators_init(&allocators, profile), 0);
	assert_int_equal(allocators_lines(&allocators, profile->entries.items[entry].stack,
					  SIZE_MAX, &lines),
			 0);
	line = lines.items.items[lines.place].line;
	vec_fini(&lines.items);
	allocators_fini(&allocators);
	return profile_text(profile,
			    profile->functions.items[profile->lines.items[line].function].name);
}

static void common_wrappers_are_passed_over(void **state)
{
	static const char *const stacks[] = {
		"main;mine;malloc",
		"main;mine;jv_mem_alloc;malloc",
		"main;mine;xstrdup;xmalloc;malloc",
		"main;mine;g_malloc0(unsigned long)",
		"main;mine;alloc::raw_vec::finish_grow;__rust_alloc;malloc",
		"main;mine;std::string::append(char const*);operator new(unsigned long)",
	};
	struct profile *profile = make_profile();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(stacks); i++) {
		make_stack(profile, 0, stacks[i], 1);
		assert_string_equal(place_of(profile, i), "mine");
	}
	make_stack(profile, 0, "main;xmalloc_statistics;malloc", 1); /* begins like one */
	assert_string_equal(place_of(profile, i), "xmalloc_statistics");
	profile_free(profile);
}

static void others_are_passed_over_when_asked_for(void **state)
{
	struct profile *profile = make_profile();

	make_stack(profile, 0, "main;mine;pool_get;pool_grow;malloc", 1);
	assert_string_equal(place_of(profile, 0), "pool_grow");
	assert_int_equal(profile_add_fact(profile, ALLOCATORS_FACT, "^pool_(get|grow)$"), 0);
	assert_string_equal(place_of(profile, 0), "mine");
	assert_int_equal(profile_add_fact(profile, ALLOCATORS_FACT, "^mi"), 0);
	assert_string_equal(place_of(profile, 0), "main");
	profile_free(profile);
}

static void native_code_allocates_for_interpreted_code(void **state)
{
	struct profile *profile = make_profile();

	make_stack(profile, 0, "main;outer;script;resize;malloc", 1);
	for (size_t i = 0; i < profile->functions.count; i++)
		if (strcmp(profile_text(profile, profile->functions.items[i].name), "outer") == 0 ||
		    strcmp(profile_text(profile, profile->functions.items[i].name), "script") == 0)
			profile->functions.items[i].origin = ORIGIN_INTERPRETED;
	assert_string_equal(place_of(profile, 0), "script");
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(common_wrappers_are_passed_over),
		cmocka_unit_test(others_are_passed_over_when_asked_for),
		cmocka_unit_test(native_code_allocates_for_interpreted_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
