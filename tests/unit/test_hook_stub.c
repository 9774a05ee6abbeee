/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/heap/hook_stub.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cfi/arch/a64.h"
#include "cfi/arch/x64_length.h"

#define FUNCTION 0x55550000f000ull
#define GATE 0x7fff12345678ull

/* Below and above what it is for. */
static const uint64_t stubs[] = {FUNCTION - 0x1230000, FUNCTION + 0x7654000};

static uint64_t target_x64(const uint8_t *code, uint64_t at)
{
	struct x64_extent extent;

	assert_true(x64_measure(code, 16, &extent) && extent.branches && !extent.calls);
	return at + (uint64_t)extent.target;
}

static void test_x64(void **state)
{
	/* endbr64; push rbp; mov rbp, rsp; push r12 */
	struct session_hook hook = {
		.offset = 4,
		.moved = 6,
		.code = {0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x41, 0x54}};
	static const uint8_t begin[] = {0x55, 0x48, 0x89, 0xe5, 0x6a, 11, 0xff, 0x25, 0, 0, 0, 0};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct hook_place place = {FUNCTION, stubs[i], GATE, 11};
		struct hook_stub stub;
		uint64_t gate;

		hook_stub_make(HOOK_X64, &hook, &place, &stub);
		assert_memory_equal(stub.code, begin, sizeof(begin));
		memcpy(&gate, stub.code + sizeof(begin), sizeof(gate));
		assert_int_equal(gate, GATE);
		assert_memory_equal(stub.code + HOOK_STUB_ORIGINAL, hook.code + 4, 6);
		assert_int_equal(target_x64(stub.code + HOOK_STUB_ORIGINAL + 6,
					    stubs[i] + HOOK_STUB_ORIGINAL + 6),
				 FUNCTION + 10);
		assert_int_equal(stub.patch_bytes, 5);
		assert_int_equal(target_x64(stub.patch, FUNCTION + 4), stubs[i]);
	}
}

/* The longest that may have to be moved leaves room for the way back. */
static void test_longest(void **state)
{
	struct session_hook hook = {.offset = 4, .moved = 19};
	struct hook_place place = {FUNCTION, stubs[0], GATE, 0};
	struct hook_stub stub;

	(void)state;
	hook_stub_make(HOOK_X64, &hook, &place, &stub);
	assert_int_equal(
		target_x64(stub.code + HOOK_STUB_ORIGINAL + 19, stubs[0] + HOOK_STUB_ORIGINAL + 19),
		FUNCTION + 23);
	assert_true(HOOK_STUB_ORIGINAL + 19 + 5 <= HOOK_STUB_BYTES);
}

static uint32_t word_at(const uint8_t *code)
{
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	return word;
}

static uint64_t target_a64(const uint8_t *code, uint64_t at)
{
	struct a64_insn insn = a64_decode(word_at(code));

	assert_int_equal(insn.kind, A64_JUMP);
	return at + (uint64_t)(int64_t)insn.imm;
}

static void test_a64(void **state)
{
	/* paciasp; stp x29, x30, [sp, -32]! */
	struct session_hook hook = {
		.moved = 8, .marked = 1, .code = {0x3f, 0x23, 0x03, 0xd5, 0xfd, 0x7b, 0xbe, 0xa9}};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct hook_place place = {FUNCTION, stubs[i], GATE, 11};
		struct hook_stub stub;
		uint64_t gate;

		hook_stub_make(HOOK_A64, &hook, &place, &stub);
		assert_int_equal(word_at(stub.code), 0xd2800170u);     /* mov x16, 11 */
		assert_int_equal(word_at(stub.code + 4), 0x58000071u); /* ldr x17, [pc + 12] */
		assert_int_equal(word_at(stub.code + 8), 0xd61f0220u); /* br x17 */
		memcpy(&gate, stub.code + 16, sizeof(gate));
		assert_int_equal(gate, GATE);
		assert_memory_equal(stub.code + HOOK_STUB_ORIGINAL, hook.code, 8);
		assert_int_equal(target_a64(stub.code + HOOK_STUB_ORIGINAL + 8,
					    stubs[i] + HOOK_STUB_ORIGINAL + 8),
				 FUNCTION + 8);
		/* What may be called by pointers stays so. */
		assert_int_equal(stub.patch_bytes, 8);
		assert_int_equal(word_at(stub.patch), 0xd503245fu);
		assert_int_equal(target_a64(stub.patch + 4, FUNCTION + 4), stubs[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x64),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_a64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
