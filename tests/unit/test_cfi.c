/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/vec.h"

#include "cfi_builder.h"

#define RULE(...) ((struct unwind_rule){__VA_ARGS__})
#define BYTES(...) ((const uint8_t[]){__VA_ARGS__}), sizeof((const uint8_t[]){__VA_ARGS__})

/* What a function starts with: CFA = rsp+8, RA at CFA-8; and CFA = sp, RA in x30. */
#define X86_ENTRY RULE(.cfa = UNWIND_CFA_SP, .cfa_offset = 8, .ra_offset = -8)
#define ARM_ENTRY RULE(.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_IN_LR)

struct expected {
	uint64_t pc; /* from CODE on */
	struct unwind_rule rule;
};

static size_t x86_cie(struct cfi_builder *b, const char *letters)
{
	return cfi_builder_cie(b, letters, BYTES(0x0c, 7, 8, 0x90, 1));
}

static size_t arm_cie(struct cfi_builder *b)
{
	return cfi_builder_cie(b, "zR", BYTES(0x0c, 31, 0));
}

static struct cfi_table compile(struct cfi_builder *b, struct cfi_stats *stats)
{
	struct elf_file *elf = cfi_builder_open(b);
	struct cfi_table table;
	struct error err = {0};

	assert_int_equal(cfi_compile(elf, &table, stats, &err), 0);
	elf_close(elf);
	return table;
}

static void assert_table(struct cfi_builder *b, const struct expected *expected, size_t count)
{
	struct cfi_table table = compile(b, NULL);

	assert_int_equal(table.table.row_count, count);
	for (size_t i = 0; i < count; i++) {
		const struct unwind_row *row = &table.table.rows[i];

		assert_int_equal(table.table.base + row->pc, CODE + expected[i].pc);
		assert_true(row->rule < table.table.rule_count);
		assert_memory_equal(&table.table.rules[row->rule], &expected[i].rule,
				    sizeof(expected[i].rule));
	}
	cfi_table_fini(&table);
}

#define ASSERT_TABLE(b, ...)                                                                       \
	assert_table(b, (const struct expected[]){__VA_ARGS__},                                    \
		     ARRAY_SIZE(((const struct expected[]){__VA_ARGS__})))

static void a_module_without_cfi_has_a_table_without_rows(void **state)
{
	struct cfi_builder b;

	cfi_builder_init(&b, EM_X86_64);
	struct cfi_table table = compile(&b, NULL);
	assert_int_equal(table.table.row_count, 0);
	assert_null(unwind_table_find(&table.table, CODE));
	cfi_table_fini(&table);
}

static void an_unknown_machine_is_refused(void **state)
{
	struct cfi_builder b;
	struct cfi_table table;
	struct error err = {0};

	cfi_builder_init(&b, EM_RISCV);
	struct elf_file *elf = cfi_builder_open(&b);
	assert_int_equal(cfi_compile(elf, &table, NULL, &err), -ENOTSUP);
	elf_close(elf);
}

static void a_prologue_becomes_rows_and_the_end_a_gap(void **state)
{
	struct cfi_builder b;

	cfi_builder_init(&b, EM_X86_64);
	/* push rbp; mov rbp, rsp; ...; pop rbp; ret */
	cfi_builder_fde(&b, x86_cie(&b, "zR"), CODE, 0x20,
			BYTES(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x50, 0x0c, 7, 8, 0xc6));
	ASSERT_TABLE(&b, {0, X86_ENTRY},
		     {1, RULE(.cfa = UNWIND_CFA_SP, .cfa_offset = 16, .ra_offset = -8,
			      .fp = UNWIND_FP_AT_CFA, .fp_offset = -16)},
		     {4, RULE(.cfa = UNWIND_CFA_FP, .cfa_offset = 16, .ra_offset = -8,
			      .fp = UNWIND_FP_AT_CFA, .fp_offset = -16)},
		     {0x14, X86_ENTRY}, {0x20, RULE(0)});
}

static void rows_that_change_other_registers_only_are_merged(void **state)
{
	struct cfi_builder b;
	struct cfi_stats stats;

	cfi_builder_init(&b, EM_X86_64);
	cfi_builder_fde(&b, x86_cie(&b, "zR"), CODE, 0x20, BYTES(0x41, 0x83, 2, 0x44, 0x8c, 3));
	struct cfi_table table = compile(&b, &stats);
	assert_int_equal(table.table.row_count, 2);
	assert_int_equal(stats.raw_rows, 3);
	assert_int_equal(stats.fdes, 1);
	cfi_table_fini(&table);
}

struct op_case {
	const char *name;
	uint8_t program[24];
	size_t size;
	struct unwind_rule rule; /* from the second byte of the function on */
};

#define OPS(...) {__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

/* Each program moves one byte on first, so that what follows begins there. */
static const struct op_case op_cases[] = {
	{"advance_loc1",
	 OPS(0x02, 1, 0x0e, 24),
	 {.cfa = UNWIND_CFA_SP, .cfa_offset = 24, .ra_offset = -8}},
	{"advance_loc2",
	 OPS(0x03, 1, 0, 0x0e, 24),
	 {.cfa = UNWIND_CFA_SP, .cfa_offset = 24, .ra_offset = -8}},
	{"advance_loc4",
	 OPS(0x04, 1, 0, 0, 0, 0x0e, 24),
	 {.cfa = UNWIND_CFA_SP, .cfa_offset = 24, .ra_offset = -8}},
	{"advance_loc8",
	 OPS(0x1d, 1, 0, 0, 0, 0, 0, 0, 0, 0x0e, 24),
	 {.cfa = UNWIND_CFA_SP, .cfa_offset = 24, .ra_offset = -8}},
	{"set_loc",
	 OPS(0x01, 0x01, 0x10, 0, 0, 0x0e, 24),
	 {.cfa = UNWIND_CFA_SP, .cfa_offset = 24, .ra_offset = -8}},
	{"def_cfa to another register",
	 OPS(0x41, 0x0c, 10, 8),
	 {.cfa = UNWIND_CFA_REGISTER, .cfa_register = 10, .cfa_offset = 8, .ra_offset = -8}},
	{"def_cfa_sf",
	 OPS(0x41, 0x12, 7, 0x7d),
	 {.cfa = UNWIND_CFA_SP, .cfa_offset = 24, .ra_offset = -8}},
	{"def_cfa_offset_sf",
	 OPS(0x41, 0x13, 0x7d),
	 {.cfa = UNWIND_CFA_SP, .cfa_offset = 24, .ra_offset = -8}},
	{"offset_extended",
	 OPS(0x41, 0x05, 6, 2),
	 {.cfa = UNWIND_CFA_SP,
	  .cfa_offset = 8,
	  .ra_offset = -8,
	  .fp = UNWIND_FP_AT_CFA,
	  .fp_offset = -16}},
	{"offset_extended_sf",
	 OPS(0x41, 0x11, 6, 2),
	 {.cfa = UNWIND_CFA_SP,
	  .cfa_offset = 8,
	  .ra_offset = -8,
	  .fp = UNWIND_FP_AT_CFA,
	  .fp_offset = -16}},
	{"GNU_negative_offset_extended",
	 OPS(0x41, 0x2f, 6, 2),
	 {.cfa = UNWIND_CFA_SP,
	  .cfa_offset = 8,
	  .ra_offset = -8,
	  .fp = UNWIND_FP_AT_CFA,
	  .fp_offset = 16}},
	{"undefined frame pointer",
	 OPS(0x41, 0x07, 6),
	 {.cfa = UNWIND_CFA_SP, .cfa_offset = 8, .ra_offset = -8, .fp = UNWIND_FP_UNKNOWN}},
	{"frame pointer in a register",
	 OPS(0x41, 0x09, 6, 9),
	 {.cfa = UNWIND_CFA_SP, .cfa_offset = 8, .ra_offset = -8, .fp = UNWIND_FP_UNKNOWN}},
	{"val_offset of the frame pointer",
	 OPS(0x41, 0x14, 6, 2),
	 {.cfa = UNWIND_CFA_SP, .cfa_offset = 8, .ra_offset = -8, .fp = UNWIND_FP_UNKNOWN}},
	{"val_expression of the frame pointer",
	 OPS(0x41, 0x16, 6, 2, 0x77, 0),
	 {.cfa = UNWIND_CFA_SP, .cfa_offset = 8, .ra_offset = -8, .fp = UNWIND_FP_UNKNOWN}},
	{"expression over the CFA's register",
	 OPS(0x41, 0x10, 6, 2, 0x77, 0x78),
	 {.cfa = UNWIND_CFA_SP,
	  .cfa_offset = 8,
	  .ra_offset = -8,
	  .fp = UNWIND_FP_AT_CFA,
	  .fp_offset = -16}},
	{"return address in a register",
	 OPS(0x41, 0x09, 16, 1),
	 {.cfa = UNWIND_CFA_SP, .cfa_offset = 8, .ra = UNWIND_RA_REGISTER, .ra_offset = 1}},
	{"undefined return address",
	 OPS(0x41, 0x07, 16),
	 {.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_ROOT}},
	{"PLT, 11",
	 OPS(0x41, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22),
	 {.cfa = UNWIND_CFA_PLT, .cfa_extra = 11, .ra_offset = -8}},
	{"PLT, 10",
	 OPS(0x41, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3a, 0x2a, 0x33, 0x24, 0x22),
	 {.cfa = UNWIND_CFA_PLT, .cfa_extra = 10, .ra_offset = -8}},
	{"OpenSSL over sp",
	 OPS(0x41, 0x0f, 6, 0x77, 0xd8, 0, 0x06, 0x23, 8),
	 {.cfa = UNWIND_CFA_DEREF_SP, .cfa_offset = 88, .cfa_extra = 8, .ra_offset = -8}},
	{"OpenSSL behind a number of words",
	 OPS(0x41, 0x0f, 10, 0x77, 8, 0x79, 0, 0x38, 0x1e, 0x22, 0x06, 0x23, 8),
	 {.cfa = UNWIND_CFA_DEREF_SP,
	  .cfa_register = 9,
	  .cfa_offset = 8,
	  .cfa_extra = 8,
	  .ra_offset = -8}},
	{"words without a place in memory",
	 OPS(0x41, 0x0f, 7, 0x77, 8, 0x79, 0, 0x38, 0x1e, 0x22),
	 {0}},
	{"OpenSSL over fp",
	 OPS(0x41, 0x0f, 5, 0x76, 0x78, 0x06, 0x23, 8),
	 {.cfa = UNWIND_CFA_DEREF_FP, .cfa_offset = -8, .cfa_extra = 8, .ra_offset = -8}},
	{"literals added and taken away",
	 OPS(0x41, 0x0f, 7, 0x77, 8, 0x38, 0x22, 0x09, 0xf8, 0x1c),
	 {.cfa = UNWIND_CFA_SP, .cfa_offset = 24, .ra_offset = -8}},
	{"an expression nobody knows", OPS(0x41, 0x0f, 3, 0x77, 8, 0x19), {0}},
	{"def_cfa_offset after an expression",
	 OPS(0x41, 0x0f, 3, 0x77, 8, 0x19, 0x0e, 24),
	 {.cfa = UNWIND_CFA_SP, .cfa_offset = 24, .ra_offset = -8}},
	{"GNU_args_size and nop",
	 OPS(0x41, 0x2e, 0x80, 1, 0, 0x0e, 24),
	 {.cfa = UNWIND_CFA_SP, .cfa_offset = 24, .ra_offset = -8}},
	{"same_value after offset",
	 OPS(0x86, 2, 0x08, 6, 0x41, 0x0e, 24),
	 {.cfa = UNWIND_CFA_SP, .cfa_offset = 24, .ra_offset = -8}},
	{"restore_extended",
	 OPS(0x86, 2, 0x06, 6, 0x41, 0x0e, 24),
	 {.cfa = UNWIND_CFA_SP, .cfa_offset = 24, .ra_offset = -8}},
};

static void each_instruction_does_what_the_standard_says(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(op_cases); i++) {
		const struct op_case *one = &op_cases[i];
		struct cfi_builder b;

		cfi_builder_init(&b, EM_X86_64);
		cfi_builder_fde(&b, x86_cie(&b, "zR"), CODE, 0x20, one->program, one->size);
		struct cfi_table table = compile(&b, NULL);
		const struct unwind_rule *rule = unwind_table_find(&table.table, CODE + 1);
		const struct unwind_rule *first = unwind_table_find(&table.table, CODE);
		struct unwind_rule entry = X86_ENTRY;

		print_message("%s\n", one->name);
		assert_non_null(first);
		assert_memory_equal(first, &entry, sizeof(entry));
		if (one->rule.cfa == UNWIND_CFA_NONE) {
			assert_null(rule);
		} else {
			assert_non_null(rule);
			assert_memory_equal(rule, &one->rule, sizeof(*rule));
		}
		cfi_table_fini(&table);
	}
}

static void a_remembered_state_comes_back(void **state)
{
	struct cfi_builder b;

	cfi_builder_init(&b, EM_X86_64);
	cfi_builder_fde(&b, x86_cie(&b, "zR"), CODE, 0x20,
			BYTES(0x44, 0x0e, 32, 0x44, 0x0a, 0x0e, 8, 0x44, 0x0b));
	struct unwind_rule body = RULE(.cfa = UNWIND_CFA_SP, .cfa_offset = 32, .ra_offset = -8);
	ASSERT_TABLE(&b, {0, X86_ENTRY}, {4, body}, {8, X86_ENTRY}, {12, body}, {0x20, RULE(0)});
}

static void programs_without_sense_are_left_out(void **state)
{
	static const struct op_case cases[] = {
		{"restore_state without remember_state", OPS(0x0b), {0}},
		{"unknown instruction", OPS(0x3f), {0}},
		{"cut off operand", OPS(0x0c, 7, 0x80), {0}},
		{"an expression longer than the program", OPS(0x0f, 0x20, 0x77), {0}},
		{"set_loc backwards", OPS(0x44, 0x01, 0x01, 0x10, 0, 0), {0}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cfi_builder b;
		struct cfi_stats stats;

		cfi_builder_init(&b, EM_X86_64);
		cfi_builder_fde(&b, x86_cie(&b, "zR"), CODE, 0x20, cases[i].program, cases[i].size);
		struct cfi_table table = compile(&b, &stats);
		assert_int_equal(stats.bad_fdes, 1);
		assert_int_equal(table.table.row_count, 0);
		cfi_table_fini(&table);
	}
}

static void pointers_have_many_encodings(void **state)
{
	static const uint8_t good[] = {0x00, 0x02, 0x03, 0x04, 0x0b, 0x0c, 0x1b, 0x1c, 0x10};
	static const uint8_t bad[] = {0x9b, 0xff, 0x45, 0x50};

	for (size_t i = 0; i < ARRAY_SIZE(good) + ARRAY_SIZE(bad); i++) {
		bool is_good = i < ARRAY_SIZE(good);
		struct cfi_builder b;
		struct cfi_stats stats;

		cfi_builder_init(&b, EM_AARCH64);
		b.encoding = is_good ? good[i] : bad[i - ARRAY_SIZE(good)];
		cfi_builder_fde(&b, arm_cie(&b), CODE + 0x10, 0x20, NULL, 0);
		struct cfi_table table = compile(&b, &stats);
		assert_int_equal(stats.bad_fdes, is_good ? 0 : 1);
		assert_int_equal(table.table.row_count, is_good ? 2 : 0);
		if (is_good)
			assert_non_null(unwind_table_find(&table.table, CODE + 0x2f));
		cfi_table_fini(&table);
	}
}

static void a_signal_frame_has_one_rule_whatever_its_program_says(void **state)
{
	struct cfi_builder b;

	cfi_builder_init(&b, EM_X86_64);
	cfi_builder_fde(&b, x86_cie(&b, "zRS"), CODE, 0x10,
			BYTES(0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 6, 2, 0x77, 0x78));
	ASSERT_TABLE(&b, {0, RULE(.cfa = UNWIND_CFA_SIGNAL)}, {0x10, RULE(0)});
}

static void signed_return_addresses_change_nothing(void **state)
{
	struct cfi_builder b;

	cfi_builder_init(&b, EM_AARCH64);
	cfi_builder_fde(&b, arm_cie(&b), CODE, 0x20, BYTES(0x41, 0x2d, 0x41, 0x2c, 0x2d));
	ASSERT_TABLE(&b, {0, ARM_ENTRY}, {0x20, RULE(0)});
}

static void short_gaps_are_padding_and_long_ones_have_no_rule(void **state)
{
	struct cfi_builder b;
	size_t cie;

	cfi_builder_init(&b, EM_X86_64);
	cie = x86_cie(&b, "zR");
	cfi_builder_fde(&b, cie, CODE, 0x11, BYTES(0x0e, 16));
	cfi_builder_fde(&b, cie, CODE + 0x20, 0x10, BYTES(0x0e, 24));
	cfi_builder_fde(&b, cie, CODE + 0x40, 0x10, BYTES(0x0e, 24));
	struct unwind_rule first = RULE(.cfa = UNWIND_CFA_SP, .cfa_offset = 16, .ra_offset = -8);
	struct unwind_rule next = RULE(.cfa = UNWIND_CFA_SP, .cfa_offset = 24, .ra_offset = -8);
	ASSERT_TABLE(&b, {0, first}, {0x20, next}, {0x30, RULE(0)}, {0x40, next}, {0x50, RULE(0)});
}

static void a_start_wins_over_an_end_at_the_same_pc(void **state)
{
	struct cfi_builder b;
	size_t cie;

	cfi_builder_init(&b, EM_X86_64);
	cie = x86_cie(&b, "zR");
	/* In the other order in the file, too. */
	cfi_builder_fde(&b, cie, CODE + 0x40, 0x40, BYTES(0x0e, 24));
	cfi_builder_fde(&b, cie, CODE, 0x40, BYTES(0x0e, 16));
	ASSERT_TABLE(&b, {0, RULE(.cfa = UNWIND_CFA_SP, .cfa_offset = 16, .ra_offset = -8)},
		     {0x40, RULE(.cfa = UNWIND_CFA_SP, .cfa_offset = 24, .ra_offset = -8)},
		     {0x80, RULE(0)});
}

static void of_functions_that_overlap_each_ends_where_the_next_starts(void **state)
{
	struct cfi_builder b;
	size_t cie;

	cfi_builder_init(&b, EM_X86_64);
	cie = x86_cie(&b, "zR");
	cfi_builder_fde(&b, cie, CODE, 0x40, BYTES(0x44, 0x0e, 16, 0x5c, 0x0e, 64));
	cfi_builder_fde(&b, cie, CODE + 0x10, 0x10, BYTES(0x0e, 24));
	cfi_builder_fde(&b, cie, CODE + 0x10, 0x30, BYTES(0x0e, 32)); /* the first one counts */
	ASSERT_TABLE(&b, {0, X86_ENTRY},
		     {4, RULE(.cfa = UNWIND_CFA_SP, .cfa_offset = 16, .ra_offset = -8)},
		     {0x10, RULE(.cfa = UNWIND_CFA_SP, .cfa_offset = 24, .ra_offset = -8)},
		     {0x20, RULE(0)});
}

static void functions_that_are_no_code_are_left_out(void **state)
{
	struct cfi_builder b;
	struct cfi_stats stats;
	size_t cie;

	cfi_builder_init(&b, EM_X86_64);
	cie = x86_cie(&b, "zR");
	cfi_builder_fde(&b, cie, 0, 0x40, NULL, 0);
	cfi_builder_fde(&b, cie, CODE, 0, NULL, 0);
	cfi_builder_fde(&b, cie, CODE, CODE_BYTES + 1, NULL, 0);
	struct cfi_table table = compile(&b, &stats);
	assert_int_equal(stats.bad_fdes, 3);
	assert_int_equal(table.table.row_count, 0);
	cfi_table_fini(&table);
}

static void debug_frame_fills_what_eh_frame_leaves(void **state)
{
	struct cfi_builder b;
	size_t cie;

	cfi_builder_init(&b, EM_X86_64);
	cfi_builder_fde(&b, x86_cie(&b, "zR"), CODE, 0x20, BYTES(0x0e, 16));
	cfi_builder_end_section(&b, ".debug_frame");
	b.encoding = 0x00;
	cie = x86_cie(&b, "");
	cfi_builder_fde(&b, cie, CODE, 0x20, BYTES(0x0e, 48));
	cfi_builder_fde(&b, cie, CODE + 0x10, 0x10, BYTES(0x0e, 48));
	cfi_builder_fde(&b, cie, CODE + 0x40, 0x20, BYTES(0x0e, 24));
	ASSERT_TABLE(&b, {0, RULE(.cfa = UNWIND_CFA_SP, .cfa_offset = 16, .ra_offset = -8)},
		     {0x20, RULE(0)},
		     {0x40, RULE(.cfa = UNWIND_CFA_SP, .cfa_offset = 24, .ra_offset = -8)},
		     {0x60, RULE(0)});
}

static void an_fde_of_no_cie_is_left_out(void **state)
{
	struct cfi_builder b;
	struct cfi_stats stats;
	size_t cie;

	cfi_builder_init(&b, EM_X86_64);
	cie = x86_cie(&b, "zR");
	cfi_builder_fde(&b, cie + 1, CODE, 0x20, NULL, 0);
	cfi_builder_fde(&b, cie, CODE + 0x40, 0x20, NULL, 0);
	struct cfi_table table = compile(&b, &stats);
	assert_int_equal(stats.bad_fdes, 1);
	assert_null(unwind_table_find(&table.table, CODE));
	assert_non_null(unwind_table_find(&table.table, CODE + 0x40));
	cfi_table_fini(&table);
}

/* As in glibc's lazy resolver: push %rbx; mov %rsp, %rbx; then CFA = rbx + 16. */
static void a_register_that_a_cfa_counts_from_is_followed_in_the_whole_module(void **state)
{
	struct cfi_builder b;
	size_t cie;

	cfi_builder_init(&b, EM_X86_64);
	cie = x86_cie(&b, "zR");
	cfi_builder_fde(&b, cie, CODE, 0x20,
			BYTES(0x41, 0x0e, 16, 0x83, 2, 0x43, 0x0d, 3, 0x50, 0x0c, 7, 8, 0xc3));
	cfi_builder_fde(&b, cie, CODE + 0x20, 0x20, BYTES(0x44, 0x0e, 32, 0x83, 3));
	ASSERT_TABLE(&b,
		     {0, RULE(.cfa = UNWIND_CFA_SP, .cfa_register = 3, .cfa_offset = 8,
			      .ra_offset = -8)},
		     {1, RULE(.cfa = UNWIND_CFA_SP, .cfa_register = 3, .cfa_offset = 16,
			      .cfa_extra = -16, .ra_offset = -8)},
		     {4, RULE(.cfa = UNWIND_CFA_REGISTER, .cfa_register = 3, .cfa_offset = 16,
			      .ra_offset = -8)},
		     {0x14, RULE(.cfa = UNWIND_CFA_SP, .cfa_register = 3, .cfa_offset = 8,
				 .ra_offset = -8)},
		     {0x24, RULE(.cfa = UNWIND_CFA_SP, .cfa_register = 3, .cfa_offset = 32,
				 .cfa_extra = -24, .ra_offset = -8)},
		     {0x40, RULE(0)});
}

/* As gcc aligns a stack: r10 = CFA; push -8(%r10); push %rbp; mov %rsp, %rbp; push %r10. */
static void a_function_that_aligns_its_stack_has_its_frame_pointer_where_fp_points(void **state)
{
	struct cfi_builder b;

	cfi_builder_init(&b, EM_X86_64);
	cfi_builder_fde(&b, x86_cie(&b, "zR"), CODE, 0x40,
			BYTES(0x45, 0x0c, 10, 0, 0x4c, 0x10, 6, 2, 0x76, 0, 0x42, 0x0f, 3, 0x76,
			      0x78, 0x06));
	ASSERT_TABLE(&b, {0, X86_ENTRY},
		     {5, RULE(.cfa = UNWIND_CFA_REGISTER, .cfa_register = 10, .ra_offset = -8)},
		     {17, RULE(.cfa = UNWIND_CFA_REGISTER, .cfa_register = 10, .ra_offset = -8,
			       .fp = UNWIND_FP_AT_FP)},
		     {19, RULE(.cfa = UNWIND_CFA_DEREF_FP, .cfa_offset = -8, .ra_offset = -8,
			       .fp = UNWIND_FP_AT_FP)},
		     {0x40, RULE(0)});
}

/* As in OpenSSL, where it is rax or r11: calls do not keep these, so nothing follows them. */
static void a_register_that_calls_destroy_is_not_followed(void **state)
{
	struct cfi_builder b;

	cfi_builder_init(&b, EM_X86_64);
	cfi_builder_fde(&b, x86_cie(&b, "zR"), CODE, 0x20, BYTES(0x43, 0x0d, 11));
	ASSERT_TABLE(&b, {0, X86_ENTRY},
		     {3, RULE(.cfa = UNWIND_CFA_REGISTER, .cfa_register = 11, .cfa_offset = 8,
			      .ra_offset = -8)},
		     {0x20, RULE(0)});
}

/* The start of the code is a section that no CFI describes. */
static void bare_section(struct cfi_builder *b, const char *name, const uint8_t *code, size_t size)
{
	uint16_t at = builder_section(&b->elf, name, SHT_PROGBITS, NULL, 0);

	memcpy(b->code, code, size);
	b->elf.sections[at].sh_addr = CODE;
	b->elf.sections[at].sh_size = size;
	b->elf.sections[at].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
}

#define X86_PUSHED(n) RULE(.cfa = UNWIND_CFA_SP, .cfa_offset = 8 + (n), .ra_offset = -8)

static void x86_code_that_every_program_starts_with_has_rules(void **state)
{
	struct cfi_builder b;

	cfi_builder_init(&b, EM_X86_64);
	/* endbr64; sub $8, %rsp; mov …, %rax; test; je; call *%rax; add $8, %rsp; ret */
	bare_section(&b, ".init",
		     BYTES(0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x08, 0x48, 0x8b, 0x05, 0, 0,
			   0, 0, 0x48, 0x85, 0xc0, 0x74, 0x02, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08,
			   0xc3));
	ASSERT_TABLE(&b, {0, X86_ENTRY}, {8, X86_PUSHED(8)}, {26, X86_ENTRY}, {27, RULE(0)});
}

static void an_x86_branch_around_a_frame_finds_none_made(void **state)
{
	struct cfi_builder b;

	cfi_builder_init(&b, EM_X86_64);
	/* cmpb $0, …; jne 1f; push %rbp; mov %rsp, %rbp; call; pop %rbp; ret; nop; 1: ret */
	bare_section(&b, ".text",
		     BYTES(0x80, 0x3d, 0, 0, 0, 0, 0, 0x75, 0x0e, 0x55, 0x48, 0x89, 0xe5, 0xe8, 0,
			   0, 0, 0, 0x5d, 0xc3, 0x0f, 0x1f, 0x00, 0xc3));
	ASSERT_TABLE(&b, {0, X86_ENTRY},
		     {10, RULE(.cfa = UNWIND_CFA_SP, .cfa_offset = 16, .ra_offset = -8,
			       .fp = UNWIND_FP_AT_CFA, .fp_offset = -16)},
		     {19, X86_ENTRY}, {24, RULE(0)});
}

static void a_lazy_x86_plt_without_cfi_has_rules(void **state)
{
	struct cfi_builder b;

	cfi_builder_init(&b, EM_X86_64);
	/* push …; jmp *…; nop; and an entry: jmp *…; push $0; jmp the first one */
	bare_section(&b, ".plt",
		     BYTES(0xff, 0x35, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0, 0x0f, 0x1f, 0x40, 0,
			   0xff, 0x25, 0, 0, 0, 0, 0x68, 0, 0, 0, 0, 0xe9, 0xe0, 0xff, 0xff, 0xff));
	ASSERT_TABLE(&b, {0, X86_PUSHED(8)}, {6, X86_PUSHED(16)}, {12, X86_ENTRY},
		     {27, X86_PUSHED(8)}, {32, RULE(0)});
}

static void x86_code_without_cfi_at_the_entry_is_where_a_program_begins(void **state)
{
	struct cfi_builder b;

	cfi_builder_init(&b, EM_X86_64);
	/* ret; and the entry: mov %rsp, %rdi; call …; mov %rax, %r12; jmp *%r12 */
	bare_section(&b, ".text",
		     BYTES(0xc3, 0x48, 0x89, 0xe7, 0xe8, 0, 0, 0, 0, 0x49, 0x89, 0xc4, 0x41, 0xff,
			   0xe4));
	b.elf.header.e_entry = CODE + 1;
	ASSERT_TABLE(&b, {0, X86_ENTRY}, {1, RULE(.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_ROOT)},
		     {15, RULE(0)});
}

static void x86_code_that_is_not_understood_has_no_rules(void **state)
{
	struct cfi_builder b;

	cfi_builder_init(&b, EM_X86_64);
	/* push %rbx; and $-16, %rsp; ret: where the frame is depends on the stack */
	bare_section(&b, ".text", BYTES(0x53, 0x48, 0x83, 0xe4, 0xf0, 0xc3));
	ASSERT_TABLE(&b, {0, X86_ENTRY}, {1, RULE(0)});
}

/* The only code of the vdso of aarch64 that has no CFI and is returned to. */
static void a_signal_trampoline_without_cfi_has_rows(void **state)
{
	static const char names[] = "\0clock\0__kernel_rt_sigreturn";
	const uint32_t code[] = {0xd2801168, 0xd4000001}; /* mov x8, #139; svc #0 */
	Elf64_Sym symbols[3] = {
		{0}, {.st_name = 1, .st_value = CODE}, {.st_name = 7, .st_value = CODE + 0x40}};

	for (int i = 0; i < 2; i++) {
		struct cfi_builder b;
		struct cfi_table table;

		cfi_builder_init(&b, EM_AARCH64);
		if (i == 0) /* then with the name alone */
			memcpy(b.code + 0x40, code, sizeof(code));
		(void)builder_section(&b.elf, ".dynsym", SHT_DYNSYM, symbols, sizeof(symbols));
		(void)builder_section(&b.elf, ".dynstr", SHT_STRTAB, names, sizeof(names));
		struct elf_file *elf = cfi_builder_open(&b);
		assert_int_equal(cfi_compile(elf, &table, NULL, NULL), 0);
		const struct unwind_rule *rule = unwind_table_find(&table.table, CODE + 0x3f);
		assert_int_equal(rule != NULL, i == 0);
		if (rule) {
			assert_int_equal(rule->cfa, UNWIND_CFA_SIGNAL);
			assert_ptr_equal(unwind_table_find(&table.table, CODE + 0x44), rule);
			assert_null(unwind_table_find(&table.table, CODE + 0x48));
			assert_null(unwind_table_find(&table.table, CODE + 0x3b));
		}
		cfi_table_fini(&table);
		elf_close(elf);
	}
}

/* This very program, without its section headers. */
static void a_file_without_section_headers_gives_the_same_rows(void **state)
{
	struct cfi_table tables[2];
	struct elf_file *elf;
	struct stat status;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0 && fstat(fd, &status) == 0);
	size_t size = (size_t)status.st_size;
	uint8_t *image = malloc(size);
	assert_int_equal(read(fd, image, size), size);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(elf_open_memory(image, size, "image", &elf, NULL), 0);
		assert_int_equal(cfi_compile_as_written(elf, &tables[i], NULL, NULL), 0);
		elf_close(elf);
		Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)image;
		header->e_shoff = header->e_shnum = header->e_shstrndx = 0;
	}
	assert_true(tables[0].table.row_count > 100);
	assert_int_equal(tables[0].table.row_count, tables[1].table.row_count);
	assert_memory_equal(tables[0].table.rows, tables[1].table.rows,
			    tables[0].table.row_count * sizeof(struct unwind_row));
	cfi_table_fini(&tables[0]);
	cfi_table_fini(&tables[1]);
	free(image);
	(void)close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_module_without_cfi_has_a_table_without_rows),
		cmocka_unit_test(an_unknown_machine_is_refused),
		cmocka_unit_test(a_prologue_becomes_rows_and_the_end_a_gap),
		cmocka_unit_test(rows_that_change_other_registers_only_are_merged),
		cmocka_unit_test(each_instruction_does_what_the_standard_says),
		cmocka_unit_test(a_remembered_state_comes_back),
		cmocka_unit_test(programs_without_sense_are_left_out),
		cmocka_unit_test(pointers_have_many_encodings),
		cmocka_unit_test(a_signal_frame_has_one_rule_whatever_its_program_says),
		cmocka_unit_test(signed_return_addresses_change_nothing),
		cmocka_unit_test(short_gaps_are_padding_and_long_ones_have_no_rule),
		cmocka_unit_test(a_start_wins_over_an_end_at_the_same_pc),
		cmocka_unit_test(of_functions_that_overlap_each_ends_where_the_next_starts),
		cmocka_unit_test(functions_that_are_no_code_are_left_out),
		cmocka_unit_test(debug_frame_fills_what_eh_frame_leaves),
		cmocka_unit_test(an_fde_of_no_cie_is_left_out),
		cmocka_unit_test(a_register_that_a_cfa_counts_from_is_followed_in_the_whole_module),
		cmocka_unit_test(
			a_function_that_aligns_its_stack_has_its_frame_pointer_where_fp_points),
		cmocka_unit_test(a_register_that_calls_destroy_is_not_followed),
		cmocka_unit_test(x86_code_that_every_program_starts_with_has_rules),
		cmocka_unit_test(an_x86_branch_around_a_frame_finds_none_made),
		cmocka_unit_test(a_lazy_x86_plt_without_cfi_has_rules),
		cmocka_unit_test(x86_code_without_cfi_at_the_entry_is_where_a_program_begins),
		cmocka_unit_test(x86_code_that_is_not_understood_has_no_rules),
		cmocka_unit_test(a_signal_trampoline_without_cfi_has_rows),
		cmocka_unit_test(a_file_without_section_headers_gives_the_same_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
