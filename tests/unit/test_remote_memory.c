/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/remote_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define WORDS (64u << 10) /* half a megabyte */

/* This process stands in for another: the calls are the same. */
static uint64_t words[WORDS];
static struct remote_memory memory;

static int set_up(void **state)
{
	for (size_t i = 0; i < WORDS; i++)
		words[i] = 1000 + i;
	remote_memory_init(&memory, getpid());
	return 0;
}

static int tear_down(void **state)
{
	remote_memory_fini(&memory);
	return 0;
}

static uint64_t address_of(size_t i)
{
	return (uint64_t)(uintptr_t)&words[i];
}

static void assert_word(size_t i)
{
	uint64_t value = 0;

	assert_true(remote_memory_read(&memory, address_of(i), &value));
	assert_int_equal(value, 1000 + i);
}

static void a_stack_is_read_with_one_call(void **state)
{
	remote_memory_window(&memory, address_of(0), address_of(WORDS));
	for (size_t i = 0; i < 4096; i++)
		assert_word(i);
	assert_int_equal(memory.calls, 1);
}

static void a_deep_stack_takes_few_calls(void **state)
{
	remote_memory_window(&memory, address_of(0), address_of(WORDS));
	for (size_t i = 0; i < WORDS; i++)
		assert_word(i);
	assert_in_range(memory.calls, 2, 6);
}

static void words_outside_the_window_come_in_blocks(void **state)
{
	remote_memory_window(&memory, address_of(1024), address_of(2048));
	for (size_t i = 0; i < 32; i++)
		assert_word(i);
	assert_word(4000);
	assert_in_range(memory.calls, 1, 4);
	assert_word(1023);
	assert_word(2048);
}

static void a_new_window_forgets_what_was_read(void **state)
{
	uint64_t value;

	remote_memory_window(&memory, address_of(0), address_of(WORDS));
	assert_word(5);
	words[5] = 7;
	assert_word(6);
	assert_true(remote_memory_read(&memory, address_of(5), &value));
	assert_int_equal(value, 1005); /* believed until the next window */
	remote_memory_window(&memory, address_of(0), address_of(WORDS));
	assert_true(remote_memory_read(&memory, address_of(5), &value));
	assert_int_equal(value, 7);
}

static void words_need_no_alignment(void **state)
{
	const unsigned char *bytes = (const unsigned char *)words;
	uint64_t value;
	uint64_t expected;

	remote_memory_window(&memory, 0, 0);
	for (size_t at = 0; at < 600; at++) {
		assert_true(remote_memory_read(&memory, address_of(0) + at, &value));
		memcpy(&expected, bytes + at, sizeof(expected));
		assert_int_equal(value, expected);
	}
}

static void what_is_not_mapped_cannot_be_read(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t start = (uint64_t)(uintptr_t)pages;
	uint64_t value;

	assert_true(pages != MAP_FAILED);
	assert_int_equal(munmap(pages + page, page), 0);
	remote_memory_window(&memory, start, start + 2 * page);
	assert_true(remote_memory_read(&memory, start, &value));
	assert_true(remote_memory_read(&memory, start + page - 8, &value));
	assert_false(remote_memory_read(&memory, start + page - 4, &value));
	assert_false(remote_memory_read(&memory, start + page, &value));
	assert_false(remote_memory_read(&memory, 8, &value));
	assert_false(remote_memory_read(&memory, UINT64_MAX - 3, &value));
	assert_int_equal(munmap(pages, page), 0);
}

static void a_copy_ends_where_nothing_is_mapped(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	static unsigned char copy[256u << 10];
	unsigned char *pages =
		mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t start = (uint64_t)(uintptr_t)pages;

	assert_ptr_not_equal(pages, MAP_FAILED);
	memset(pages, 7, 4 * page);
	assert_int_equal(munmap(pages + 3 * page, page), 0);
	assert_int_equal(remote_memory_copy(getpid(), start + 100, copy, sizeof(copy)),
			 3 * page - 100);
	assert_int_equal(copy[3 * page - 101], 7);
	assert_int_equal(remote_memory_copy(getpid(), start + 100, copy, 50), 50);
	assert_int_equal(remote_memory_copy(getpid(), start + 3 * page, copy, 50), 0);
	assert_int_equal(remote_memory_copy(getpid(), UINT64_MAX - 10, copy, 50), 0);
	assert_int_equal(munmap(pages, 3 * page), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_stack_is_read_with_one_call, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_deep_stack_takes_few_calls, set_up, tear_down),
		cmocka_unit_test_setup_teardown(words_outside_the_window_come_in_blocks, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_new_window_forgets_what_was_read, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(words_need_no_alignment, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_mapped_cannot_be_read, set_up,
						tear_down),
		cmocka_unit_test(a_copy_ends_where_nothing_is_mapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
