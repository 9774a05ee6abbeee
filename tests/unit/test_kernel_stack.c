/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "proc/kernel_stack.h"

static void lines_give_names_and_offsets_innermost_first(void **state)
{
	static const char text[] = "[<0>] futex_wait_queue+0x60/0x90\n"
				   "[<ffffffff810f2a1d>] ext4_read+0x1d/0x40 [ext4]\n";
	const char *at = text;
	struct kernel_stack_entry entry;

	(void)state;
	assert_true(kernel_stack_next(&at, text + strlen(text), &entry));
	assert_string_equal(entry.name, "futex_wait_queue");
	assert_int_equal(entry.offset, 0x60);
	assert_true(kernel_stack_next(&at, text + strlen(text), &entry));
	assert_string_equal(entry.name, "ext4_read");
	assert_int_equal(entry.offset, 0x1d);
	assert_false(kernel_stack_next(&at, text + strlen(text), &entry));
}

static void lines_without_a_function_are_skipped(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"[<0>]\n",
		"[<0>] \n",
		"[<0>] 0xffffffffffffffff\n",
		"no\n",
		"[<0>] +0x1/0x2\n",
		"[<0>] cut_off+0x1",
		"[\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *at = texts[i];
		struct kernel_stack_entry entry;

		assert_false(kernel_stack_next(&at, at + strlen(at), &entry));
	}
}

static void a_name_that_is_too_long_is_skipped(void **state)
{
	static const char rest[] = "+0x1/0x2\n[<0>] next+0x2/0x3\n";
	char text[600] = "[<0>] ";
	const char *at = text;
	struct kernel_stack_entry entry;

	(void)state;
	memcpy(text + 306, rest, sizeof(rest));
	memset(text + 6, 'x', 300);
	assert_true(kernel_stack_next(&at, text + strlen(text), &entry));
	assert_string_equal(entry.name, "next");
}

static void a_thread_that_is_gone_is_an_error(void **state)
{
	struct kernel_stack stack;

	(void)state;
	assert_true(kernel_stack_read(getpid(), 0, &stack) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_give_names_and_offsets_innermost_first),
		cmocka_unit_test(lines_without_a_function_are_skipped),
		cmocka_unit_test(a_name_that_is_too_long_is_skipped),
		cmocka_unit_test(a_thread_that_is_gone_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
