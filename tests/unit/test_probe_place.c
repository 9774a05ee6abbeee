/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/probe_place.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct place_case {
	uint8_t bytes[24];
	size_t size;
	uint32_t offset;
	bool emulated;
};

#define X(...) {__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

static void check(const struct place_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct probe_place place =
			probe_place_choose(EM_X86_64, cases[i].bytes, cases[i].size);

		assert_int_equal(place.offset, cases[i].offset);
		assert_int_equal(place.emulated, cases[i].emulated);
	}
}

static void test_a_probe_is_placed_at_the_first_push_or_jump(void **state)
{
	static const struct place_case cases[] = {
		{X(0x55, 0xc3), 0, true},                               /* push rbp */
		{X(0x41, 0x54, 0xc3), 0, true},                         /* push r12 */
		{X(0xe9, 1, 2, 3, 0), 0, true},                         /* jmp */
		{X(0x48, 0x85, 0xff, 0x74, 0x02, 0x55, 0xc3), 3, true}, /* test rdi, rdi; je */
		{X(0x48, 0x85, 0xff, 0x0f, 0x84, 0, 1, 0, 0, 0xc3), 3, true}, /* the same, far */
		{X(0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x57, 0xc3), 4, true},    /* endbr64; push r15 */
		{X(0x80, 0x3d, 1, 2, 3, 4, 0, 0x41, 0x54, 0xc3), 7, true}, /* cmp [rip + …], 0 */
		{X(0x48, 0x8b, 0x05, 1, 2, 3, 4, 0x55, 0xc3), 7, true}, /* mov rax, [rip + …] */
		{X(0x4c, 0x89, 0xc0, 0x55, 0xc3), 3, true},             /* mov rax, r8 */
		{X(0x41, 0x89, 0xfa, 0x55, 0xc3), 3, true},             /* mov r10d, edi */
	};

	(void)state;
	check(cases, sizeof(cases) / sizeof(cases[0]));
}

static void test_arguments_and_the_stack_are_as_at_the_first_byte(void **state)
{
	static const struct place_case cases[] = {
		{X(0x48, 0x89, 0xf7, 0x55, 0xc3), 0, false},             /* mov rdi, rsi */
		{X(0x48, 0x8b, 0x3d, 1, 2, 3, 4, 0x55, 0xc3), 0, false}, /* mov rdi, [rip + …] */
		{X(0x31, 0xd2, 0x55, 0xc3), 0, false},                   /* xor edx, edx */
		{X(0x48, 0x8d, 0x77, 8, 0x55, 0xc3), 0, false},          /* lea rsi, [rdi + 8] */
		{X(0x48, 0x8d, 0x64, 0x24, 8, 0x55, 0xc3), 0, false},    /* lea rsp, [rsp + 8] */
		{X(0x48, 0x83, 0xec, 8, 0x55, 0xc3), 0, false},          /* sub rsp, 8 */
		{X(0x48, 0x83, 0xc7, 8, 0x55, 0xc3), 0, false},          /* add rdi, 8 */
		{X(0xf7, 0xdf, 0x55, 0xc3), 0, false},                   /* neg edi */
		{X(0x66, 0x90, 0x55, 0xc3), 0, false},                   /* a prefix */
		{X(0x48, 0x87, 0xc7, 0x55, 0xc3), 0, false},             /* xchg rax, rdi */
		{X(0xff, 0x25, 1, 2, 3, 4), 0, false},                   /* jmp [rip + …] */
		{X(0xc3), 0, false},
	};

	(void)state;
	check(cases, sizeof(cases) / sizeof(cases[0]));
}

static void test_what_is_executed_without_a_call_is_not_probed(void **state)
{
	static const struct place_case cases[] = {
		/* 1: test rdi, rdi; je 5; 5: push; jmp 3 */
		{X(0x48, 0x85, 0xff, 0x74, 0x00, 0x55, 0xeb, 0xfb), 0, false},
		/* jmp 0, which is a call of itself */
		{X(0x48, 0x85, 0xff, 0x74, 0x00, 0x55, 0xeb, 0xf8), 3, true},
		/* unknown instructions may jump anywhere */
		{X(0x48, 0x85, 0xff, 0x74, 0x00, 0x06, 0xc3), 0, false},
		/* the place would be past the end */
		{X(0x48, 0x85, 0xff), 0, false},
		{X(0x48, 0x85, 0xff, 0x74), 0, false},
	};

	(void)state;
	check(cases, sizeof(cases) / sizeof(cases[0]));
	assert_int_equal(probe_place_choose(EM_X86_64, NULL, 0).offset, 0);
}

static void test_other_cpus_are_probed_at_the_first_byte(void **state)
{
	static const uint8_t code[] = {0x48, 0x85, 0xff, 0x74, 0x02, 0x55, 0xc3, 0};

	(void)state;
	assert_int_equal(probe_place_choose(EM_AARCH64, code, sizeof(code)).offset, 0);
	assert_false(probe_place_choose(EM_AARCH64, code, sizeof(code)).emulated);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_probe_is_placed_at_the_first_push_or_jump),
		cmocka_unit_test(test_arguments_and_the_stack_are_as_at_the_first_byte),
		cmocka_unit_test(test_what_is_executed_without_a_call_is_not_probed),
		cmocka_unit_test(test_other_cpus_are_probed_at_the_first_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
