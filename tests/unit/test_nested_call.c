/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "preload/nested_call.h"

#define STACK_BYTES (1ull << 20)
#define GONE 131072u /* from here on; a multiple of all page sizes */
#define WORD 0x123456789abcdef0ull

/* Memory in place of stacks; nobody has a stack of his own there. */
static int map_stack(void **state)
{
	*state =
		mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return *state == MAP_FAILED;
}

static int unmap_stack(void **state)
{
	return munmap(*state, STACK_BYTES);
}

/* A call whose frame is so far up in the memory. */
static struct nested_call call_at(void **state, uint64_t offset)
{
	uint64_t *frame = (uint64_t *)((char *)*state + offset);

	frame[1] = WORD;
	return (struct nested_call){(uint64_t)(uintptr_t)frame, WORD};
}

static uint64_t at(void **state, uint64_t offset)
{
	return (uint64_t)(uintptr_t)*state + offset;
}

static void a_call_below_is_within_until_the_word_changes(void **state)
{
	/* On the same page, on another, at the end of one. */
	static const uint64_t places[][2] = {{8192, 8192 - 64}, {40960, 4096}, {8192, 4096 + 8}};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct nested_call outer = call_at(state, places[i][0]);
		uint64_t *word = (uint64_t *)(uintptr_t)outer.frame + 1;

		assert_true(nested_is_within(NULL, outer, at(state, places[i][1])));
		*word ^= 1;
		assert_false(nested_is_within(NULL, outer, at(state, places[i][1])));
		*word ^= 1 ^ 1ull << 63;
		assert_false(nested_is_within(NULL, outer, at(state, places[i][1])));
	}
}

static void nobody_is_within_what_is_below_or_not_there(void **state)
{
	struct nested_call outer = call_at(state, 8192);

	assert_false(nested_is_within(NULL, outer, outer.frame));
	assert_false(nested_is_within(NULL, outer, at(state, 12288)));
	assert_false(nested_is_within(NULL, (struct nested_call){0, 0}, at(state, 4096)));
}

static void a_stack_that_is_gone_is_not_read(void **state)
{
	struct nested_call outer = call_at(state, GONE + 4096);
	struct nested_call last = call_at(state, STACK_BYTES - 16);

	assert_int_equal(mprotect((char *)*state + GONE, STACK_BYTES - GONE, PROT_NONE), 0);
	assert_false(nested_is_within(NULL, outer, at(state, GONE - 16384)));
	assert_false(nested_is_within(NULL, last, at(state, GONE - 16384)));
	assert_int_equal(munmap((char *)*state + GONE, STACK_BYTES - GONE), 0);
	assert_false(nested_is_within(NULL, outer, at(state, GONE - 16384)));
	/* An address that no memory can have. */
	assert_false(nested_is_within(NULL, (struct nested_call){~15ull, WORD}, ~15ull - 32768));
}

static void other_stacks_than_that_of_the_thread_are_others(void **state)
{
	struct nested_call outer = call_at(state, STACK_BYTES - 4096);
	static struct preload_thread thread;

	thread.unwind.stack =
		(struct unwind_stack){at(state, STACK_BYTES / 2), at(state, STACK_BYTES)};
	/* Far down, but on the same stack; what is below the stack is on none of the thread's. */
	assert_true(nested_is_within(&thread, outer, at(state, STACK_BYTES / 2 + 131072)));
	assert_false(nested_is_within(&thread, outer, at(state, STACK_BYTES / 4)));
	assert_false(nested_is_within(NULL, outer, at(state, STACK_BYTES / 4)));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, map_stack, unmap_stack)
	const struct CMUnitTest tests[] = {
		TEST(a_call_below_is_within_until_the_word_changes),
		TEST(nobody_is_within_what_is_below_or_not_there),
		TEST(a_stack_that_is_gone_is_not_read),
		TEST(other_stacks_than_that_of_the_thread_are_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
