/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/id_index.h"
#include "process_stacks/stack_cache.h"

static const uint64_t stack[] = {0x1000, 0x2000, 0x3000};

static int open_cache(void **state)
{
	*state = stack_cache_new();
	return *state ? 0 : -1;
}

static int close_cache(void **state)
{
	stack_cache_free(*state);
	return 0;
}

static void a_stack_that_was_filed_is_found(void **state)
{
	assert_int_equal(stack_cache_find(*state, 7, stack, 3), ID_NONE);
	stack_cache_add(*state, 7, stack, 3, 42);
	assert_int_equal(stack_cache_find(*state, 7, stack, 3), 42);
	assert_int_equal(stack_cache_added(*state), 1);
}

static void a_part_of_a_stack_is_another_stack(void **state)
{
	assert_int_equal(stack_cache_find(*state, 7, stack, 3), ID_NONE);
	stack_cache_add(*state, 7, stack, 3, 42);
	assert_int_equal(stack_cache_find(*state, 7, stack, 2), ID_NONE);
	assert_int_equal(stack_cache_find(*state, 7, stack + 1, 2), ID_NONE);
}

static void the_same_addresses_in_another_context_are_another_stack(void **state)
{
	assert_int_equal(stack_cache_find(*state, 7, stack, 3), ID_NONE);
	stack_cache_add(*state, 7, stack, 3, 42);
	assert_int_equal(stack_cache_find(*state, 8, stack, 3), ID_NONE);
	stack_cache_add(*state, 8, stack, 3, 43);
	assert_int_equal(stack_cache_find(*state, 7, stack, 3), 42);
	assert_int_equal(stack_cache_find(*state, 8, stack, 3), 43);
}

static void a_stack_without_frames_is_filed_like_any_other(void **state)
{
	assert_int_equal(stack_cache_find(*state, 7, stack, 0), ID_NONE);
	stack_cache_add(*state, 7, stack, 0, 5);
	assert_int_equal(stack_cache_find(*state, 7, stack, 0), 5);
}

static void when_memory_gets_short_older_stacks_are_forgotten_and_new_ones_kept(void **state)
{
	static uint64_t deep[2048];
	uint32_t n = (1u << 20) / 2048 + 1; /* one more than fit */
	uint32_t i;

	for (i = 0; i < n; i++) {
		deep[0] = i;
		assert_int_equal(stack_cache_find(*state, 1, deep, 2048), ID_NONE);
		stack_cache_add(*state, 1, deep, 2048, i);
	}
	assert_int_equal(stack_cache_find(*state, 1, deep, 2048), n - 1);
	deep[0] = 0;
	assert_int_equal(stack_cache_find(*state, 1, deep, 2048), ID_NONE);
	assert_int_equal(stack_cache_added(*state), 0); /* not known any more */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_cache, close_cache)
	const struct CMUnitTest tests[] = {
		TEST(a_stack_that_was_filed_is_found),
		TEST(a_part_of_a_stack_is_another_stack),
		TEST(the_same_addresses_in_another_context_are_another_stack),
		TEST(a_stack_without_frames_is_filed_like_any_other),
		TEST(when_memory_gets_short_older_stacks_are_forgotten_and_new_ones_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
