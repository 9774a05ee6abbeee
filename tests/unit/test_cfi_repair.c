/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/repair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/vec.h"
#include "cfi/arch/a64.h"
#include "cfi/compile.h"

#include "cfi_builder.h"

#define ENTRY ((struct unwind_rule){.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_IN_LR})
#define NOTHING ((struct unwind_rule){.cfa = UNWIND_CFA_NONE})

enum {
	RET = 0xd65f03c0,
	NOP = 0xd503201f,
	MOV_W0 = 0x528000a0,
	BL = 0x94000000,
	STP_FP_LR_PRE_32 = 0xa9be7bfd,  /* stp x29, x30, [sp, #-32]! */
	LDP_FP_LR_POST_32 = 0xa8c27bfd, /* ldp x29, x30, [sp], #32 */
	STP_X20_X19_16 = 0xa9014ff4,    /* stp x20, x19, [sp, #16] */
	LDP_X20_X19_16 = 0xa9414ff4,
	MOV_FP_SP = 0x910003fd,
	SUB_SP_144 = 0xd10243ff,
	ADD_SP_144 = 0x910243ff,
	STP_FP_LR_112 = 0xa9077bfd, /* stp x29, x30, [sp, #112] */
	LDP_FP_LR_112 = 0xa9477bfd,
	ADD_FP_SP_112 = 0x9101c3fd,
	STR_LR_PRE_16 = 0xf81f0ffe, /* str x30, [sp, #-16]! */
	LDR_LR_POST_16 = 0xf84107fe,
	SUB_SP_X8 = 0xcb2863ff,
	MOV_SP_FP = 0x910003bf,
	STR_X0_PRE_160 = 0xf8160fe0, /* str x0, [sp, #-160]! */
	ADD_SP_160 = 0x910283ff,
};

struct expected {
	uint32_t index; /* of the instruction */
	struct unwind_rule rule;
};

static struct unwind_rule framed(enum unwind_cfa cfa, int32_t offset, int32_t ra, int32_t fp)
{
	return (struct unwind_rule){.cfa = (uint8_t)cfa,
				    .cfa_offset = offset,
				    .ra = UNWIND_RA_AT_CFA,
				    .ra_offset = ra,
				    .fp = UNWIND_FP_AT_CFA,
				    .fp_offset = fp};
}

static struct unwind_rule moved(int32_t offset)
{
	return (struct unwind_rule){
		.cfa = UNWIND_CFA_SP, .cfa_offset = offset, .ra = UNWIND_RA_IN_LR};
}

/* A function of these instructions at CODE with this program. */
static struct cfi_table compile(const uint32_t *words, size_t count, const uint8_t *program,
				size_t size, struct cfi_stats *stats)
{
	static struct cfi_builder b;
	struct cfi_table table;
	struct elf_file *elf;
	size_t cie;

	cfi_builder_init(&b, EM_AARCH64);
	memcpy(b.code, words, count * sizeof(*words));
	cie = cfi_builder_cie(&b, "zR", (const uint8_t[]){0x0c, 31, 0}, 3);
	cfi_builder_fde(&b, cie, CODE, count * A64_INSN_BYTES, program, size);
	elf = cfi_builder_open(&b);
	assert_int_equal(cfi_compile(elf, &table, stats, NULL), 0);
	elf_close(elf);
	return table;
}

static void assert_rows(const struct cfi_table *table, const struct expected *expected,
			size_t count)
{
	assert_int_equal(table->table.row_count, count);
	for (size_t i = 0; i < count; i++) {
		const struct unwind_row *row = &table->table.rows[i];

		assert_int_equal(row->pc, expected[i].index * A64_INSN_BYTES);
		assert_memory_equal(&table->table.rules[row->rule], &expected[i].rule,
				    sizeof(expected[i].rule));
	}
}

#define CHECK(words, program, repaired, ...)                                                       \
	do {                                                                                       \
		struct cfi_stats stats_;                                                           \
		const struct expected rows_[] = {__VA_ARGS__};                                     \
		struct cfi_table table_ =                                                          \
			compile(words, ARRAY_SIZE(words), program, sizeof(program), &stats_);      \
		assert_rows(&table_, rows_, ARRAY_SIZE(rows_));                                    \
		assert_int_equal(stats_.repaired_rows, repaired);                                  \
		cfi_table_fini(&table_);                                                           \
	} while (0)

/* After three instructions: CFA = x29+32, x30 at CFA-24, x29 at CFA-32. */
static const uint8_t frame_32[] = {0x43, 0x0c, 29, 32, 0x9e, 3, 0x9d, 4};

static void prologue_and_epilogue_get_their_rows(void **state)
{
	static const uint32_t words[] = {STP_FP_LR_PRE_32, STP_X20_X19_16,    MOV_FP_SP, BL,
					 LDP_X20_X19_16,   LDP_FP_LR_POST_32, RET};

	CHECK(words, frame_32, 2, {0, ENTRY}, {1, framed(UNWIND_CFA_SP, 32, -24, -32)},
	      {3, framed(UNWIND_CFA_FP, 32, -24, -32)}, {6, ENTRY}, {7, NOTHING});
}

static void a_frame_made_by_sub_gets_a_row_for_each_step(void **state)
{
	static const uint32_t words[] = {
		SUB_SP_144, STP_FP_LR_112, ADD_FP_SP_112, BL, LDP_FP_LR_112, ADD_SP_144, RET};

	CHECK(words, frame_32, 4, {0, ENTRY}, {1, moved(144)},
	      {2, framed(UNWIND_CFA_SP, 144, -24, -32)}, {3, framed(UNWIND_CFA_FP, 32, -24, -32)},
	      {5, moved(144)}, {6, ENTRY}, {7, NOTHING});
}

static void a_block_that_never_had_the_frame_is_told_apart(void **state)
{
	/* cbz w0 to the last two instructions, which stand behind the epilogue */
	static const uint32_t words[] = {0x34000000 | 6 << 5,
					 STP_FP_LR_PRE_32,
					 MOV_FP_SP,
					 BL,
					 LDP_FP_LR_POST_32,
					 RET,
					 MOV_W0,
					 RET};
	static const uint8_t program[] = {0x43, 0x0c, 29, 32, 0x9e, 3, 0x9d, 4};

	CHECK(words, program, 2, {0, ENTRY}, {2, framed(UNWIND_CFA_SP, 32, -24, -32)},
	      {3, framed(UNWIND_CFA_FP, 32, -24, -32)}, {5, ENTRY}, {8, NOTHING});
}

static void a_block_behind_a_return_has_the_frame_again(void **state)
{
	static const uint32_t words[] = {STP_FP_LR_PRE_32,
					 STP_X20_X19_16,
					 MOV_FP_SP,
					 0x34000000 | 4 << 5,
					 BL,
					 LDP_FP_LR_POST_32,
					 RET,
					 BL,
					 LDP_FP_LR_POST_32,
					 RET};

	CHECK(words, frame_32, 3, {0, ENTRY}, {1, framed(UNWIND_CFA_SP, 32, -24, -32)},
	      {3, framed(UNWIND_CFA_FP, 32, -24, -32)}, {6, ENTRY},
	      {7, framed(UNWIND_CFA_FP, 32, -24, -32)}, {9, ENTRY}, {10, NOTHING});
}

static void a_single_saved_register_is_enough(void **state)
{
	static const uint32_t words[] = {STR_LR_PRE_16, BL, LDR_LR_POST_16, RET};
	static const uint8_t program[] = {0x41, 0x0e, 16, 0x9e, 2};
	struct unwind_rule body = {.cfa = UNWIND_CFA_SP, .cfa_offset = 16, .ra_offset = -16};

	CHECK(words, program, 1, {0, ENTRY}, {1, body}, {3, ENTRY}, {4, NOTHING});
}

static void a_frame_of_unknown_size_is_found_again(void **state)
{
	static const uint32_t words[] = {
		STP_FP_LR_PRE_32, NOP, MOV_FP_SP, SUB_SP_X8, BL, MOV_SP_FP, LDP_FP_LR_POST_32, RET};

	CHECK(words, frame_32, 2, {0, ENTRY}, {1, framed(UNWIND_CFA_SP, 32, -24, -32)},
	      {3, framed(UNWIND_CFA_FP, 32, -24, -32)}, {7, ENTRY}, {8, NOTHING});
}

static void cfi_that_says_all_is_left_alone(void **state)
{
	static const uint32_t words[] = {STP_FP_LR_PRE_32, MOV_FP_SP, BL, LDP_FP_LR_POST_32, RET};
	static const uint8_t program[] = {0x41, 0x0e, 32,   0x9d, 4,    0x9e,
					  3,    0x43, 0xdd, 0xde, 0x0e, 0};

	CHECK(words, program, 0, {0, ENTRY}, {1, framed(UNWIND_CFA_SP, 32, -24, -32)}, {4, ENTRY},
	      {5, NOTHING});
}

static void cfi_that_the_instructions_contradict_is_left_alone(void **state)
{
	static const uint32_t words[] = {NOP, NOP, NOP, BL, LDP_FP_LR_POST_32, RET};

	CHECK(words, frame_32, 0, {0, ENTRY}, {3, framed(UNWIND_CFA_FP, 32, -24, -32)},
	      {6, NOTHING});
}

/* Clang describes a leaf as in its frame from the first instruction on. */
static void a_leaf_that_makes_its_frame_by_a_store_has_none_at_first(void **state)
{
	static const uint32_t words[] = {STR_X0_PRE_160, MOV_W0, NOP, ADD_SP_160, RET};
	static const uint8_t program[] = {0x0e, 0xa0, 0x01}; /* def_cfa_offset 160 */

	CHECK(words, program, 2, {0, ENTRY}, {1, moved(160)}, {4, ENTRY}, {5, NOTHING});
}

/* The cold part of a function that GCC has moved away: it is in the frame indeed. */
static void a_part_that_makes_no_frame_keeps_its_rule(void **state)
{
	static const uint32_t words[] = {MOV_W0, NOP, ADD_SP_160, RET};
	static const uint8_t program[] = {0x0e, 0xa0, 0x01};

	CHECK(words, program, 0, {0, moved(160)}, {4, NOTHING});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prologue_and_epilogue_get_their_rows),
		cmocka_unit_test(a_frame_made_by_sub_gets_a_row_for_each_step),
		cmocka_unit_test(a_block_that_never_had_the_frame_is_told_apart),
		cmocka_unit_test(a_block_behind_a_return_has_the_frame_again),
		cmocka_unit_test(a_single_saved_register_is_enough),
		cmocka_unit_test(a_frame_of_unknown_size_is_found_again),
		cmocka_unit_test(cfi_that_says_all_is_left_alone),
		cmocka_unit_test(cfi_that_the_instructions_contradict_is_left_alone),
		cmocka_unit_test(a_leaf_that_makes_its_frame_by_a_store_has_none_at_first),
		cmocka_unit_test(a_part_that_makes_no_frame_keeps_its_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
