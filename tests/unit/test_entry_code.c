/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/entry_code.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cfi/arch/x64_length.h"

#define X(...) {__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

/* Instructions as compilers emit them: their length is all there is. */
static void test_lengths(void **state)
{
	static const struct {
		uint8_t bytes[15];
		size_t size;
		bool by_place;
		bool branches;
		bool calls;
	} cases[] = {
		{X(0x55), 0, 0, 0},                               /* push rbp */
		{X(0x41, 0x57), 0, 0, 0},                         /* push r15 */
		{X(0x48, 0x89, 0xe5), 0, 0, 0},                   /* mov rbp, rsp */
		{X(0x48, 0x83, 0xec, 0x18), 0, 0, 0},             /* sub rsp, 24 */
		{X(0x48, 0x81, 0xec, 0, 1, 0, 0), 0, 0, 0},       /* sub rsp, 256 */
		{X(0xf3, 0x0f, 0x1e, 0xfa), 0, 0, 0},             /* endbr64 */
		{X(0x48, 0x8b, 0x05, 1, 2, 3, 4), 1, 0, 0},       /* mov rax, [rip + …] */
		{X(0x48, 0x8b, 0x44, 0x24, 0x08), 0, 0, 0},       /* mov rax, [rsp + 8] */
		{X(0x8b, 0x04, 0x25, 1, 2, 3, 4), 0, 0, 0},       /* mov eax, [disp32] */
		{X(0xb8, 1, 0, 0, 0), 0, 0, 0},                   /* mov eax, 1 */
		{X(0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8), 0, 0, 0}, /* movabs rax */
		{X(0x66, 0xb8, 1, 2), 0, 0, 0},                   /* mov ax, … */
		{X(0x66, 0x81, 0xc3, 1, 2), 0, 0, 0},             /* add bx, … */
		{X(0xf6, 0xc3, 1), 0, 0, 0},                      /* test bl, 1 */
		{X(0xf7, 0xc3, 1, 0, 0, 0), 0, 0, 0},             /* test ebx, 1 */
		{X(0xf7, 0xd3), 0, 0, 0},                         /* not ebx */
		{X(0x74, 0x05), 0, 1, 0},                         /* je */
		{X(0x0f, 0x84, 1, 0, 0, 0), 0, 1, 0},             /* je, far */
		{X(0xe8, 1, 0, 0, 0), 0, 1, 1},                   /* call */
		{X(0x66, 0x66, 0x48, 0xe8, 1, 0, 0, 0), 0, 1, 1}, /* call, of thread-local memory */
		{X(0x41, 0xff, 0xd4), 0, 0, 1},                   /* call r12 */
		{X(0xff, 0x15, 1, 0, 0, 0), 1, 0, 1},             /* call [rip + …] */
		{X(0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0), 0, 0, 0}, /* mov rax, fs:40 */
		{X(0x66, 0x0f, 0x3a, 0x0f, 0xc1, 8), 0, 0, 0},             /* palignr */
		{X(0xc5, 0xf8, 0x77), 0, 0, 0},                            /* vzeroupper */
		{X(0xc5, 0xfe, 0x6f, 0x05, 1, 2, 3, 4), 1, 0, 0},          /* vmovdqu [rip + …] */
		{X(0xc4, 0xe3, 0x7d, 0x39, 0xc1, 1), 0, 0, 0},             /* vextracti128 */
		{X(0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x07), 0, 0, 0},          /* vmovdqu64 zmm */
		{X(0xc3), 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct x64_extent extent;
		uint8_t bytes[32] = {0};

		memcpy(bytes, cases[i].bytes, cases[i].size);
		assert_true(x64_measure(bytes, sizeof(bytes), &extent));
		assert_int_equal(extent.size, cases[i].size);
		assert_int_equal(extent.by_place, cases[i].by_place);
		assert_int_equal(extent.branches, cases[i].branches);
		assert_int_equal(extent.calls, cases[i].calls);
		/* Cut off, it is not known. */
		assert_false(x64_measure(bytes, cases[i].size - 1, &extent));
	}
}

static void test_unknown_instructions(void **state)
{
	static const uint8_t cases[][8] = {
		{0x06},                         /* push es, of other times */
		{0x0f, 0x0a},                   /* nothing */
		{0xc7, 0xf8, 1, 0, 0, 0},       /* xbegin: it leads elsewhere */
		{0x66, 0xe9, 1, 0, 0, 0},       /* CPUs differ in its length */
		{0x8f, 0xe8, 0x78, 0xc0, 0xc1}, /* XOP */
		{0xc4, 0xe8, 0x78, 0xc0, 0xc1}, /* a map that is not known */
	};
	struct x64_extent extent;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_false(x64_measure(cases[i], sizeof(cases[0]), &extent));
	for (int prefix = 0; prefix < 1; prefix++) {
		uint8_t prefixes[20];

		memset(prefixes, 0x66, sizeof(prefixes)); /* longer than any may be */
		assert_false(x64_measure(prefixes, sizeof(prefixes), &extent));
	}
}

/* What is to become of a function. */
struct entry_case {
	uint8_t bytes[24];
	size_t size;
	uint8_t offset;
	uint8_t moved;
	uint8_t marked;
	const char *refused;
};

static void check_entries(uint16_t machine, const struct entry_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct entry_code entry = {0};
		const char *refused =
			entry_code_look(machine, cases[i].bytes, cases[i].size, &entry);

		if (cases[i].refused) {
			assert_non_null(refused);
			assert_non_null(strstr(refused, cases[i].refused));
			continue;
		}
		assert_null(refused);
		assert_int_equal(entry.offset, cases[i].offset);
		assert_int_equal(entry.moved, cases[i].moved);
		assert_int_equal(entry.marked, cases[i].marked);
	}
}

static void test_entries_x64(void **state)
{
	static const struct entry_case cases[] = {
		/* push rbp; mov rbp, rsp; push r12; ret: six bytes are moved. */
		{X(0x55, 0x48, 0x89, 0xe5, 0x41, 0x54, 0xc3), 0, 6, 0, NULL},
		/* The same behind endbr64. */
		{X(0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x41, 0x54, 0xc3), 4, 6, 0,
		 NULL},
		{X(0x48, 0x8b, 0x05, 0, 0, 0, 0, 0xc3), 0, 0, 0, "position-dependent code"},
		{X(0x55, 0xe8, 0, 0, 0, 0, 0x5d, 0xc3), 0, 0, 0, "position-dependent code"},
		{X(0x41, 0xff, 0xd4, 0x90, 0x90, 0x90), 0, 0, 0, "position-dependent code"},
		{X(0x48, 0x85, 0xff, 0x74, 0x02, 0x90, 0x90, 0xc3), 0, 0, 0,
		 "position-dependent code"},
		{X(0x31, 0xc0, 0xc3), 0, 0, 0, "too short"},
		{X(0x31, 0xc0, 0xc3, 0x90, 0x90, 0x90), 0, 0, 0, "too short"},
		{X(0xf3, 0x0f, 0x1e, 0xfa, 0xc3), 0, 0, 0, "too short"},
		{X(0x06, 0x90, 0x90, 0x90, 0x90, 0x90), 0, 0, 0, "unknown instructions"},
		/* Five nops, and a jump to the third; to the first; to what is not moved. */
		{X(0x90, 0x90, 0x90, 0x90, 0x90, 0xeb, 0xfb), 0, 0, 0, "jumps back"},
		{X(0x90, 0x90, 0x90, 0x90, 0x90, 0xeb, 0xf9), 0, 0, 0, "jumps back"},
		{X(0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xeb, 0xfd), 0, 5, 0, NULL},
		/* A call of itself is none; one to its midst is. */
		{X(0x90, 0x90, 0x90, 0x90, 0x90, 0xe8, 0xf6, 0xff, 0xff, 0xff), 0, 5, 0, NULL},
		{X(0x90, 0x90, 0x90, 0x90, 0x90, 0xe8, 0xf7, 0xff, 0xff, 0xff), 0, 0, 0,
		 "jumps back"},
		/* What comes after is not known: it might jump. */
		{X(0x90, 0x90, 0x90, 0x90, 0x90, 0x06), 0, 0, 0, "unknown instructions"},
	};

	(void)state;
	check_entries(EM_X86_64, cases, sizeof(cases) / sizeof(cases[0]));
	check_entries(EM_386, &(const struct entry_case){X(0x90), .refused = "another CPU"}, 1);
}

#define W(word) (uint8_t)(word), (uint8_t)((word) >> 8), (uint8_t)((word) >> 16), (word) >> 24
#define STP 0xa9be7bfdu /* stp x29, x30, [sp, -32]! */
#define RET 0xd65f03c0u
#define BTI 0xd503245fu
#define PACIASP 0xd503233fu

static void test_entries_a64(void **state)
{
	static const struct entry_case cases[] = {
		{X(W(STP), W(RET)), 0, 4, 0, NULL},
		{X(W(BTI), W(STP), W(RET)), 4, 4, 0, NULL},
		/* Signing the return address is a mark too: both go, a plain mark comes. */
		{X(W(PACIASP), W(STP), W(RET)), 0, 8, 1, NULL},
		{X(W(PACIASP)), 0, 0, 0, "too short"},
		{X(W(BTI)), 0, 0, 0, "too short"},
		{X(W(0x90000103u), W(RET)), 0, 0, 0, "position-dependent code"}, /* adrp */
		{X(W(0x10000103u), W(RET)), 0, 0, 0, "position-dependent code"}, /* adr */
		{X(W(0x58000071u), W(RET)), 0, 0, 0, "position-dependent code"}, /* ldr, literal */
		{X(W(0x9c000071u), W(RET)), 0, 0, 0,
		 "position-dependent code"}, /* ldr q, literal */
		{X(W(0x98000071u), W(RET)), 0, 0, 0,
		 "position-dependent code"}, /* ldrsw, literal */
		{X(W(0xb4000040u), W(RET)), 0, 0, 0, "position-dependent code"}, /* cbz */
		{X(W(0x36000040u), W(RET)), 0, 0, 0, "position-dependent code"}, /* tbz */
		{X(W(0x54000040u), W(RET)), 0, 0, 0, "position-dependent code"}, /* b.eq */
		{X(W(0x14000002u), W(RET)), 0, 0, 0, "position-dependent code"}, /* b */
		{X(W(0x94000002u), W(RET)), 0, 0, 0, "position-dependent code"}, /* bl */
		{X(W(0xd63f0220u), W(RET)), 0, 0, 0, "position-dependent code"}, /* blr */
		/* Loops: over all; over what is not moved; a call of itself. */
		{X(W(STP), W(0xb5ffffe0u), W(RET)), 0, 0, 0, "jumps back"},
		{X(W(STP), W(0xaa0003e2u), W(0xb5ffffe0u), W(RET)), 0, 4, 0, NULL},
		{X(W(STP), W(0x97ffffffu), W(RET)), 0, 4, 0, NULL},
		{X(W(BTI), W(STP), W(0x17ffffffu)), 0, 0, 0, "jumps back"},
	};

	(void)state;
	check_entries(EM_AARCH64, cases, sizeof(cases) / sizeof(cases[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_unknown_instructions),
		cmocka_unit_test(test_entries_x64),
		cmocka_unit_test(test_entries_a64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
