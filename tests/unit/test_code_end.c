/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/code_end.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"

struct code_case {
	const char *what;
	uint64_t size;
	uint8_t code[24];
};

static const struct code_case x64_cases[] = {
	{"a return, padding, another function",
	 3,
	 {0x31, 0xc0, 0xc3, 0x66, 0x90, 0x31, 0xc0, 0xc3}},
	{"a branch over a return",
	 10,
	 {0x85, 0xff, 0x74, 3, 0xff, 0xc8, 0xc3, 0x31, 0xc0, 0xc3, 0x90}},
	{"a branch back", 5, {0xff, 0xc8, 0x75, 0xfc, 0xc3, 0x90, 0xc3}},
	{"a jump ahead", 5, {0xeb, 2, 0x31, 0xc0, 0xc3, 0x90, 0xc3}},
	{"a jump to another function", 5, {0xe9, 0, 8, 0, 0, 0x31, 0xc0, 0xc3}},
	{"a jump through a pointer", 2, {0xff, 0xe0, 0x31, 0xc0, 0xc3}},
	{"a call", 6, {0xe8, 0x10, 0, 0, 0, 0xc3, 0x90, 0xc3}},
	{"a return with the prefix that AMD wanted", 2, {0xf3, 0xc3, 0x90, 0xc3}},
	{"AVX-512", 7, {0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc1, 0xc3, 0x90, 0xc3}},
	{"what is not known", 2, {0x31, 0xc0, 0x06, 0xc3}},
	{"nothing that is known", 0, {0x06, 0xc3}},
};

#define RET 0xc0, 0x03, 0x5f, 0xd6
#define MOV 0x00, 0x00, 0x80, 0xd2

static const struct code_case a64_cases[] = {
	{"a return, another function", 8, {MOV, RET, MOV, RET}},
	{"a branch over a return", 16, {0x40, 0x00, 0x00, 0xb4, RET, MOV, RET, MOV}},
	{"a branch back", 12, {MOV, 0xe0, 0xff, 0xff, 0xb5, RET, MOV, RET}},
	{"a jump to another function", 4, {0x00, 0x04, 0x00, 0x14, MOV, RET}},
	{"data", 4, {MOV, 0, 0, 0, 0, RET}},
};

static void check(uint16_t machine, const struct code_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t size = code_end_find(machine, cases[i].code, sizeof(cases[i].code));

		if (size != cases[i].size)
			fail_msg("%s: %llu bytes", cases[i].what, (unsigned long long)size);
	}
}

static void a_function_of_x86_64_ends_behind_the_last_instruction_that_it_reaches(void **state)
{
	(void)state;
	check(EM_X86_64, x64_cases, ARRAY_SIZE(x64_cases));
}

static void a_function_of_aarch64_ends_behind_the_last_instruction_that_it_reaches(void **state)
{
	(void)state;
	check(EM_AARCH64, a64_cases, ARRAY_SIZE(a64_cases));
}

static void code_that_does_not_end_reaches_to_the_end_of_what_there_is(void **state)
{
	const uint8_t code[] = {0x90, 0x90, 0x90};

	(void)state;
	assert_int_equal(code_end_find(EM_X86_64, code, sizeof(code)), sizeof(code));
	assert_int_equal(code_end_find(EM_X86_64, code, 0), 0);
	assert_int_equal(code_end_find(EM_386, code, sizeof(code)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_function_of_x86_64_ends_behind_the_last_instruction_that_it_reaches),
		cmocka_unit_test(
			a_function_of_aarch64_ends_behind_the_last_instruction_that_it_reaches),
		cmocka_unit_test(code_that_does_not_end_reaches_to_the_end_of_what_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
