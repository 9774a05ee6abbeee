/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/uprobe/allocator.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/heap_event.h"

static void test_whoever_comes_before_the_c_library_is_used(void **state)
{
	(void)state;
	assert_int_equal(allocator_rank("/lib/libc.so.6", false), ALLOCATOR_LIBC);
	assert_int_equal(allocator_rank("/lib/libc-2.31.so", false), ALLOCATOR_LIBC);
	assert_int_equal(allocator_rank("/lib/ld-musl-x86_64.so.1", false), ALLOCATOR_LIBC);
	assert_int_equal(allocator_rank("/lib/ld-linux-aarch64.so.1", false), ALLOCATOR_NEVER);
	assert_true(allocator_rank("/lib/libjemalloc.so.2", false) > ALLOCATOR_LIBC);
	assert_true(allocator_rank("/lib/libcow.so", false) > ALLOCATOR_LIBC);
	assert_true(allocator_rank("/lib/libc.so.6", true) >
		    allocator_rank("/lib/libjemalloc.so.2", false));
}

static void test_names_are_parts_of_file_names_or_paths(void **state)
{
	(void)state;
	assert_true(allocator_is_named("jemalloc", "/usr/lib/libjemalloc.so.2"));
	assert_false(allocator_is_named("jemalloc", "/opt/jemalloc/libc.so.6"));
	assert_true(allocator_is_named("/opt/jemalloc/libc.so.6", "/opt/jemalloc/libc.so.6"));
	assert_false(allocator_is_named("/libc.so.6", "/opt/libc.so.6"));
	assert_true(allocator_is_named("/proc/self/../self/exe", "/proc/self/exe"));
}

static void test_functions_are_what_they_are_called(void **state)
{
	const char *name;
	uint32_t shape;
	uint32_t call;
	uint32_t i;

	(void)state;
	for (i = 0; allocator_function(i, &name, &shape, &call); i++) {
		bool is_delete = strncmp(name, "_Zd", 3) == 0;
		bool is_new = strncmp(name, "_Zn", 3) == 0;

		assert_true((shape == BPF_HEAP_FREE) == (is_delete || strstr(name, "free")));
		assert_true((call == HEAP_NEW || call == HEAP_NEW_ARRAY) == (is_delete || is_new));
		if (is_new || is_delete)
			assert_true((call == HEAP_NEW_ARRAY) == (name[3] == 'a'));
	}
	assert_in_range(i, 30, BPF_HEAP_FUNCTIONS);
}

static void test_our_own_is_found(void **state)
{
	struct allocator allocator;
	struct error err = {0};
	/* What is called malloc here, whoever that is. */
	uint64_t address = (uint64_t)(uintptr_t)malloc;
	int r = allocator_find(getpid(), NULL, &allocator, &err);

	(void)state;
	if (r == -EOPNOTSUPP || r == -ENOENT)
		skip();
	assert_int_equal(r, 0);
	assert_true(allocator.count >= 6);
	assert_true(address >= allocator.ranges[0].start && address < allocator.ranges[0].end);
	assert_int_equal(BPF_HEAP_SHAPE_OF(allocator.probes[0].cookie), BPF_HEAP_SIZE);
	assert_true(allocator_is_in(&allocator, getpid()));
	assert_false(allocator_is_in(&allocator, 1));
	for (uint32_t i = 1; i < allocator.count; i++)
		for (uint32_t j = 0; j < i; j++)
			assert_true(allocator.probes[i].offset != allocator.probes[j].offset);
}

static void test_what_is_not_there_is_named(void **state)
{
	struct allocator allocator;
	struct error err = {0};

	(void)state;
	assert_int_equal(allocator_find(getpid(), "nosuchthing", &allocator, &err), -EINVAL);
	assert_non_null(strstr(err.text, "nosuchthing"));
	assert_int_equal(allocator_find(getpid(), "/proc/self/exe", &allocator, &err), -EINVAL);
	assert_non_null(strstr(err.text, "malloc"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whoever_comes_before_the_c_library_is_used),
		cmocka_unit_test(test_names_are_parts_of_file_names_or_paths),
		cmocka_unit_test(test_functions_are_what_they_are_called),
		cmocka_unit_test(test_our_own_is_found),
		cmocka_unit_test(test_what_is_not_there_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
