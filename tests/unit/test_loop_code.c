/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/loop_code.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define VADDR 0x1000u

static void calls_and_jumps_that_leave_the_code_are_found(void **state)
{
	static const uint8_t a64[] = {
		0x40, 0x00, 0x00, 0x94, /* bl  +0x100 */
		0x41, 0x00, 0x00, 0x14, /* b   +0x104 */
		0x02, 0x00, 0x00, 0x94, /* bl  +8: inside */
		0x00, 0x10, 0x00, 0xb4, /* cbz +0x200 */
		0x1f, 0x20, 0x03, 0xd5, /* nop */
	};
	static const uint8_t x64[] = {
		0xe8, 0xfb, 0x00, 0x00, 0x00,       /* call +0x100 */
		0xe9, 0xfb, 0x01, 0x00, 0x00,       /* jmp  +0x200 */
		0x0f, 0x84, 0xfa, 0x02, 0x00, 0x00, /* je   +0x300 */
		0x90,
	};
	struct code_bytes arm = {EM_AARCH64, a64, sizeof(a64), VADDR};
	struct code_bytes intel = {EM_X86_64, x64, sizeof(x64), VADDR};
	uint64_t targets[8];

	(void)state;
	assert_int_equal(loop_code_calls(&arm, targets, 8), 1);
	assert_int_equal(targets[0], VADDR + 0x100);
	assert_int_equal(loop_code_jumps(&arm, targets, 8), 2);
	assert_int_equal(targets[0], VADDR + 4 + 0x104);
	assert_int_equal(targets[1], VADDR + 12 + 0x200);
	assert_int_equal(loop_code_calls(&intel, targets, 8), 1);
	assert_int_equal(targets[0], VADDR + 0x100);
	assert_int_equal(loop_code_jumps(&intel, targets, 8), 2);
	assert_int_equal(targets[0], VADDR + 5 + 0x200);
	assert_int_equal(targets[1], VADDR + 10 + 0x300);
	assert_int_equal(loop_code_jumps(&intel, targets, 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_and_jumps_that_leave_the_code_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
