/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/names/known_root.h"

#include "make_profile.h"

/* Whether a location of one function is a root. */
static bool is_root(const char *name, const char *module, enum function_origin origin, bool is_leaf)
{
	struct profile *profile = make_profile();
	struct profile_line line = {0};
	uint32_t location;
	bool r;

	assert_non_null(profile);
	line.function = profile_function(profile, name, "", module, origin);
	location = profile_location(profile, module, 0x1000, &line, 1);
	r = known_root_is(profile, location, is_leaf);
	profile_free(profile);
	return r;
}

static void programs_and_threads_begin_in_known_functions(void **state)
{
	static const char *const names[] = {
		"_start",
		"main",
		"__libc_start_main@@GLIBC_2.34",
		"__libc_start_call_main",
		"start_thread",
		"__clone3",
		"runtime.goexit.abi0",
		"runtime.mstart1",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!is_root(names[i], "/usr/bin/app", ORIGIN_PROGRAM, false))
			fail_msg("%s", names[i]);
	assert_true(is_root("main", "/usr/bin/app", ORIGIN_PROGRAM, true));
}

static void other_functions_are_no_roots(void **state)
{
	static const char *const names[] = {"parse", "main_loop", "_start_all", "cloned", "qsort"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (is_root(names[i], "/usr/lib/libc.so.6", ORIGIN_LIBRARY, false))
			fail_msg("%s", names[i]);
}

static void a_stripped_c_library_starts_threads_without_a_name(void **state)
{
	(void)state;
	assert_true(is_root("libc.so.6+0x2724a", "/usr/lib/libc.so.6", ORIGIN_UNKNOWN, false));
	assert_false(is_root("libc.so.6+0x2724a", "/usr/lib/libc.so.6", ORIGIN_UNKNOWN, true));
	assert_false(is_root("libx.so+0x10", "/usr/lib/libx.so", ORIGIN_UNKNOWN, false));
	assert_false(is_root("[anon]+0x10", "", ORIGIN_UNKNOWN, false));
}

static void stacks_of_the_kernel_alone_are_whole(void **state)
{
	(void)state;
	assert_true(is_root("ret_from_fork", "[kernel]", ORIGIN_KERNEL, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_and_threads_begin_in_known_functions),
		cmocka_unit_test(other_functions_are_no_roots),
		cmocka_unit_test(a_stripped_c_library_starts_threads_without_a_name),
		cmocka_unit_test(stacks_of_the_kernel_alone_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
