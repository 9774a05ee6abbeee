/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/remote_pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

#define PAGES 8u
#define WORDS (REMOTE_PAGE / sizeof(uint64_t))

static uint64_t calls; /* to the kernel */

ssize_t __real_process_vm_readv(pid_t pid, const struct iovec *here, unsigned long here_count,
				const struct iovec *there, unsigned long there_count,
				unsigned long flags);
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *here, unsigned long here_count,
				const struct iovec *there, unsigned long there_count,
				unsigned long flags);

ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *here, unsigned long here_count,
				const struct iovec *there, unsigned long there_count,
				unsigned long flags)
{
	calls++;
	return __real_process_vm_readv(pid, here, here_count, there, there_count, flags);
}

struct given {
	struct remote_pages pages;
	uint64_t *memory; /* of this process, which reads itself; each word is its own number */
};

static int set_up(void **state)
{
	struct given *given = calloc(1, sizeof(*given));

	assert_non_null(given);
	given->memory = aligned_alloc(REMOTE_PAGE, (size_t)PAGES * REMOTE_PAGE);
	assert_non_null(given->memory);
	for (size_t i = 0; i < PAGES * WORDS; i++)
		given->memory[i] = i;
	remote_pages_begin(&given->pages, getpid());
	calls = 0;
	*state = given;
	return 0;
}

static int tear_down(void **state)
{
	struct given *given = *state;

	free(given->memory);
	free(given);
	return 0;
}

static void expect(struct given *given, size_t number, uint64_t value)
{
	uint64_t word = ~0ull;

	assert_true(remote_pages_read(&given->pages, (uint64_t)(uintptr_t)&given->memory[number],
				      &word, sizeof(word)));
	assert_int_equal(word, value);
}

/* Reads one word of each page. */
static void read_all(struct given *given, size_t inside)
{
	for (size_t i = 0; i < PAGES; i++)
		expect(given, i * WORDS + inside, i * WORDS + inside);
}

static void what_was_needed_is_read_in_one_call(void **state)
{
	struct given *given = *state;

	read_all(given, 5);
	assert_int_equal(calls, PAGES);
	for (uint64_t round = 1; round < 4; round++) {
		remote_pages_begin(&given->pages, getpid());
		read_all(given, 5);
		assert_int_equal(calls, PAGES + round);
	}
}

static void a_new_round_sees_new_values(void **state)
{
	struct given *given = *state;

	read_all(given, 5);
	given->memory[5] = 77;
	expect(given, 5, 5);
	remote_pages_begin(&given->pages, getpid());
	expect(given, 5, 77);
}

static void other_parts_of_a_page_are_read_when_they_are_needed(void **state)
{
	struct given *given = *state;

	for (size_t i = 0; i < WORDS; i += 50)
		expect(given, i, i);
	expect(given, WORDS - 1, WORDS - 1);
	assert_int_equal(calls, 2);
}

static void where_other_parts_are_needed_in_turns_all_of_them_are_read(void **state)
{
	struct given *given = *state;
	uint64_t before;

	for (size_t i = 0; i < 4; i++) {
		read_all(given, i % 2 * 400);
		remote_pages_begin(&given->pages, getpid());
	}
	before = calls;
	read_all(given, 0);
	read_all(given, 200);
	read_all(given, 400);
	assert_int_equal(calls, before);
}

static void words_may_cross_pages(void **state)
{
	struct given *given = *state;
	uint64_t words[4];

	for (int round = 0; round < 2; round++) {
		assert_true(remote_pages_read(&given->pages,
					      (uint64_t)(uintptr_t)&given->memory[WORDS - 2], words,
					      sizeof(words)));
		for (size_t i = 0; i < 4; i++)
			assert_int_equal(words[i], WORDS - 2 + i);
		remote_pages_begin(&given->pages, getpid());
	}
}

static void a_last_part_comes_with_what_was_needed(void **state)
{
	struct given *given = *state;
	uint64_t copy[4] = {0};
	const struct remote_last last = {(uint64_t)(uintptr_t)&given->memory[7 * WORDS], copy,
					 sizeof(copy)};

	read_all(given, 5);
	remote_pages_begin_with(&given->pages, getpid(), &last);
	assert_int_equal(calls, PAGES + 1);
	assert_true(remote_pages_has_last(&given->pages));
	assert_int_equal(copy[3], 7 * WORDS + 3);
	read_all(given, 5);
	assert_true(remote_pages_end(&given->pages));
	assert_int_equal(calls, PAGES + 1);
}

static void a_last_part_is_copied_again_if_more_was_needed(void **state)
{
	struct given *given = *state;
	uint64_t copy[4] = {0};
	const struct remote_last last = {(uint64_t)(uintptr_t)&given->memory[7 * WORDS], copy,
					 sizeof(copy)};

	expect(given, 5, 5);
	expect(given, WORDS + 5, WORDS + 5);
	remote_pages_begin_with(&given->pages, getpid(), &last);
	given->memory[7 * WORDS] = 77;
	expect(given, 2 * WORDS, 2 * WORDS);
	assert_false(remote_pages_has_last(&given->pages));
	assert_true(remote_pages_end(&given->pages));
	assert_int_equal(copy[0], 77);
}

static void a_last_part_that_cannot_be_read_is_missed(void **state)
{
	struct given *given = *state;
	uint64_t copy[4];
	const struct remote_last last = {REMOTE_PAGE, copy, sizeof(copy)};

	read_all(given, 5);
	remote_pages_begin_with(&given->pages, getpid(), &last);
	assert_false(remote_pages_has_last(&given->pages));
	read_all(given, 5);
	assert_int_equal(calls, PAGES + 1);
	assert_false(remote_pages_end(&given->pages));
}

static void memory_that_is_not_there_is_refused(void **state)
{
	struct given *given = *state;
	uint64_t word;

	assert_false(remote_pages_read(&given->pages, REMOTE_PAGE, &word, sizeof(word)));
	read_all(given, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_needed_is_read_in_one_call, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_new_round_sees_new_values, set_up, tear_down),
		cmocka_unit_test_setup_teardown(other_parts_of_a_page_are_read_when_they_are_needed,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			where_other_parts_are_needed_in_turns_all_of_them_are_read, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(words_may_cross_pages, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_last_part_comes_with_what_was_needed, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_last_part_is_copied_again_if_more_was_needed,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_last_part_that_cannot_be_read_is_missed, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(memory_that_is_not_there_is_refused, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
