/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/go/go_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "cfi/compile.h"

#include "cfi_builder.h"

#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u
#define HEADER_BYTES 72u
#define TOP_FRAME 1
#define SP_WRITE 2

/* sp 0 for one step, 32 down for six, 0 again; a step has 4 bytes on aarch64. */
#define DEPTHS "\0\x02\x01\x40\x06\x3f\x01"

struct function {
	uint32_t start;
	uint8_t flags;
};

/* Functions, the last one is where they end; all have the depths above. */
static struct bytes build(uint32_t magic, uint8_t step, const struct function *functions,
			  uint32_t count)
{
	uint32_t functab = HEADER_BYTES + sizeof(DEPTHS);
	uint32_t first = (2 * count + 1) * 4;
	uint32_t size = magic == MAGIC_1_20 ? 44 : 40;
	struct bytes out = {0};

	bytes_put_u32(&out, magic);
	bytes_put_u16(&out, 0);
	bytes_put_u8(&out, step);
	bytes_put_u8(&out, 8);
	bytes_put_u64(&out, count);
	bytes_put_u64(&out, 0);
	bytes_put_u64(&out, CODE);
	for (int i = 0; i < 3; i++)
		bytes_put_u64(&out, HEADER_BYTES);
	bytes_put_u64(&out, HEADER_BYTES);
	bytes_put_u64(&out, functab);
	bytes_put(&out, DEPTHS, sizeof(DEPTHS));
	for (uint32_t i = 0; i < count; i++) {
		bytes_put_u32(&out, functions[i].start);
		bytes_put_u32(&out, first + i * size);
	}
	bytes_put_u32(&out, functions[count].start);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t words[10] = {functions[i].start, 0, 0, 0, 1};

		bytes_put(&out, words, size - 4);
		bytes_put_u8(&out, 0);
		bytes_put_u8(&out, functions[i].flags);
		bytes_put_u16(&out, 0);
	}
	assert_false(out.failed);
	return out;
}

struct program {
	struct cfi_builder builder;
	struct bytes table;
	const char *section;
	uint64_t address; /* of the section */
};

static void program_init(struct program *program, uint16_t machine)
{
	cfi_builder_init(&program->builder, machine);
	program->section = ".gopclntab";
	program->address = 0;
}

static struct cfi_table compile(struct program *program)
{
	struct elf_builder *b = &program->builder.elf;
	struct cfi_table table;
	uint16_t at;

	(void)builder_header(
		b, ".text",
		(Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_addr = CODE, .sh_size = CODE_BYTES});
	at = builder_section(b, program->section, SHT_PROGBITS, program->table.data,
			     program->table.size);
	b->sections[at].sh_addr = program->address;
	struct elf_file *elf = cfi_builder_open(&program->builder);
	assert_int_equal(cfi_compile(elf, &table, NULL, NULL), 0);
	elf_close(elf);
	bytes_fini(&program->table);
	return table;
}

static void assert_rule(const struct cfi_table *table, uint64_t at, struct unwind_rule expected)
{
	const struct unwind_rule *rule = unwind_table_find(&table->table, CODE + at);

	assert_non_null(rule);
	assert_memory_equal(rule, &expected, sizeof(expected));
}

static const struct function plain[] = {{0x10, 0}, {0x40, TOP_FRAME}, {0x80, 0}};

static void frames_have_the_link_register_at_their_lowest_address(void **state)
{
	const struct unwind_rule entry = {.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_IN_LR};
	const struct unwind_rule inside = {
		.cfa = UNWIND_CFA_SP, .cfa_offset = 32, .ra_offset = -32};
	static const uint32_t magics[] = {MAGIC_1_18, MAGIC_1_20};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(magics); i++) {
		struct program program;

		program_init(&program, EM_AARCH64);
		program.table = build(magics[i], 4, plain, 2);
		struct cfi_table table = compile(&program);
		assert_null(unwind_table_find(&table.table, CODE + 0xf));
		assert_rule(&table, 0x10, entry);
		assert_rule(&table, 0x14, inside);
		assert_rule(&table, 0x2b, inside);
		assert_rule(&table, 0x2c, entry);
		assert_rule(&table, 0x40,
			    (struct unwind_rule){.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_ROOT});
		assert_null(unwind_table_find(&table.table, CODE + 0x80));
		cfi_table_fini(&table);
	}
}

static void pushed_return_addresses_are_above_the_frame(void **state)
{
	struct program program;

	(void)state;
	program_init(&program, EM_X86_64);
	program.table = build(MAGIC_1_20, 1, plain, 2);
	struct cfi_table table = compile(&program);
	assert_rule(&table, 0x10,
		    (struct unwind_rule){.cfa = UNWIND_CFA_SP, .cfa_offset = 8, .ra_offset = -8});
	assert_rule(&table, 0x11,
		    (struct unwind_rule){.cfa = UNWIND_CFA_SP, .cfa_offset = 40, .ra_offset = -8});
	cfi_table_fini(&table);
}

/* Go's clocks run on another stack, and its switches of stacks have no caller on theirs. */
static void a_change_of_stacks_is_followed_by_its_frame_pointer_or_is_the_root(void **state)
{
	static const struct function functions[] = {
		{0, SP_WRITE}, {0x40, SP_WRITE}, {0x80, SP_WRITE}, {0xc0, 0}};
	const uint32_t set = 0xd10023fd;   /* sub x29, sp, #8 */
	const uint32_t taken = 0xf940379d; /* ldr x29, [x28, #104] */
	const struct unwind_rule root = {.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_ROOT};
	struct program program;

	(void)state;
	program_init(&program, EM_AARCH64);
	program.table = build(MAGIC_1_20, 4, functions, 3);
	memcpy(program.builder.code + 8, &set, sizeof(set));
	memcpy(program.builder.code + 0x48, &set, sizeof(set));
	memcpy(program.builder.code + 0x50, &taken, sizeof(taken));
	struct cfi_table table = compile(&program);
	assert_rule(&table, 8,
		    (struct unwind_rule){.cfa = UNWIND_CFA_SP, .cfa_offset = 32, .ra_offset = -32});
	assert_rule(&table, 12,
		    (struct unwind_rule){
			    .cfa = UNWIND_CFA_FP_AWAY, .cfa_offset = 40, .ra_offset = -32});
	assert_rule(&table, 0x1c,
		    (struct unwind_rule){.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_IN_LR});
	assert_rule(&table, 0x58, root);
	assert_rule(&table, 0x98, root);
	cfi_table_fini(&table);
}

/* The runtime says that a stack begins there; the kernel's frame is behind it. */
static void what_a_signal_interrupted_is_behind_its_handler(void **state)
{
	static const char *const names[] = {"runtime.sigtramp", "runtime.cgoSigtramp",
					    "runtime.sigtrampgo"};
	const struct unwind_rule inside = {
		.cfa = UNWIND_CFA_SP, .cfa_offset = 32, .ra_offset = -32};
	const struct unwind_rule root = {.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_ROOT};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct program program;
		uint32_t at;

		program_init(&program, EM_AARCH64);
		program.table = build(MAGIC_1_20, 4, plain, 2);
		at = (uint32_t)program.table.size - HEADER_BYTES; /* names begin there */
		memcpy(program.table.data + program.table.size - 40, &at, sizeof(at));
		bytes_put(&program.table, names[i], strlen(names[i]) + 1);
		struct cfi_table table = compile(&program);
		if (i < 2)
			assert_rule(&table, 0x44, inside);
		else
			assert_rule(&table, 0x44, root);
		cfi_table_fini(&table);
	}
}

static void a_change_of_stacks_on_x86_is_followed_too(void **state)
{
	static const struct function functions[] = {{0, SP_WRITE}, {0x40, 0}};
	static const uint8_t lea[] = {0x48, 0x8d, 0x6c, 0x24, 0x18};
	struct program program;

	(void)state;
	program_init(&program, EM_X86_64);
	program.table = build(MAGIC_1_20, 4, functions, 1);
	memcpy(program.builder.code + 7, lea, sizeof(lea));
	struct cfi_table table = compile(&program);
	assert_rule(&table, 11,
		    (struct unwind_rule){.cfa = UNWIND_CFA_SP, .cfa_offset = 40, .ra_offset = -8});
	assert_rule(
		&table, 12,
		(struct unwind_rule){.cfa = UNWIND_CFA_FP_AWAY, .cfa_offset = 16, .ra_offset = -8});
	cfi_table_fini(&table);
}

static void the_return_of_signals_is_known_by_its_code(void **state)
{
	static const struct function functions[] = {{0x10, 0}, {0x30, TOP_FRAME}, {0x80, 0}};
	static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	struct program program;

	(void)state;
	program_init(&program, EM_X86_64);
	program.table = build(MAGIC_1_20, 1, functions, 2);
	memcpy(program.builder.code + 0x10, code, sizeof(code));
	struct cfi_table table = compile(&program);
	assert_rule(&table, 0xf, (struct unwind_rule){.cfa = UNWIND_CFA_SIGNAL});
	assert_rule(&table, 0x18, (struct unwind_rule){.cfa = UNWIND_CFA_SIGNAL});
	assert_null(unwind_table_find(&table.table, CODE + 0xe));
	cfi_table_fini(&table);
}

/* As linkers of C leave it in a PIE. */
static void a_table_among_other_data_counts_from_where_a_relocation_says(void **state)
{
	static const uint8_t others[24] = {0xf1, 0xff, 0xff, 0xff, 0, 0, 4, 8, 1};
	const uint64_t address = 0x8000;
	const Elf64_Rela relocations[] = {
		{.r_offset = address, .r_addend = 7},
		{.r_offset = address + sizeof(others) + 24, .r_addend = CODE + 0x100},
	};
	struct bytes bytes = build(MAGIC_1_20, 4, plain, 2);
	struct program program;

	(void)state;
	memset(bytes.data + 24, 0, 8);
	for (int has_note = 0; has_note < 2; has_note++) {
		program_init(&program, EM_AARCH64);
		program.section = ".data.rel.ro";
		program.address = address;
		program.table = (struct bytes){0};
		bytes_put(&program.table, others, sizeof(others));
		bytes_put(&program.table, bytes.data, bytes.size);
		(void)builder_section(&program.builder.elf, ".rela.dyn", SHT_RELA, relocations,
				      sizeof(relocations));
		if (has_note)
			(void)builder_section(&program.builder.elf, ".go.buildinfo", SHT_PROGBITS,
					      others, 1);
		struct cfi_table table = compile(&program);
		assert_int_equal(unwind_table_find(&table.table, CODE + 0x110) != NULL, has_note);
		assert_null(unwind_table_find(&table.table, CODE + 0x10));
		cfi_table_fini(&table);
	}
	bytes_fini(&bytes);
}

/* Without the relocation .text is a guess: the program must start with one of the functions. */
static void a_table_that_may_count_from_elsewhere_is_not_used(void **state)
{
	for (int starts = 0; starts < 2; starts++) {
		struct program program;

		program_init(&program, EM_AARCH64);
		program.table = build(MAGIC_1_20, 4, plain, 2);
		memset(program.table.data + 24, 0, 8);
		program.builder.elf.header.e_entry = CODE + (starts ? 0x40 : 0x44);
		struct cfi_table table = compile(&program);
		assert_int_equal(unwind_table_find(&table.table, CODE + 0x10) != NULL, starts);
		cfi_table_fini(&table);
	}
	(void)state;
}

static void functions_that_overlap_or_lie_outside_are_left_out(void **state)
{
	static const struct function functions[] = {{0x40, 0}, {0x80, 0},           {0x20, 0},
						    {0x60, 0}, {CODE_BYTES + 4, 0}, {0x100, 0}};
	struct program program;

	(void)state;
	program_init(&program, EM_AARCH64);
	program.table = build(MAGIC_1_20, 4, functions, 5);
	struct cfi_table table = compile(&program);
	assert_non_null(unwind_table_find(&table.table, CODE + 0x40));
	assert_null(unwind_table_find(&table.table, CODE + 0x20));
	assert_null(unwind_table_find(&table.table, CODE + 0x84));
	cfi_table_fini(&table);
}

static void a_table_cut_anywhere_does_no_harm(void **state)
{
	struct bytes whole = build(MAGIC_1_20, 4, plain, 2);

	(void)state;
	for (size_t size = 1; size < whole.size; size++) {
		struct program program;

		program_init(&program, EM_AARCH64);
		program.table = (struct bytes){0};
		bytes_put(&program.table, whole.data, size);
		struct cfi_table table = compile(&program);
		for (uint32_t i = 1; i < table.table.row_count; i++)
			assert_true(table.table.rows[i - 1].pc < table.table.rows[i].pc);
		cfi_table_fini(&table);
	}
	bytes_fini(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_have_the_link_register_at_their_lowest_address),
		cmocka_unit_test(pushed_return_addresses_are_above_the_frame),
		cmocka_unit_test(
			a_change_of_stacks_is_followed_by_its_frame_pointer_or_is_the_root),
		cmocka_unit_test(what_a_signal_interrupted_is_behind_its_handler),
		cmocka_unit_test(a_change_of_stacks_on_x86_is_followed_too),
		cmocka_unit_test(the_return_of_signals_is_known_by_its_code),
		cmocka_unit_test(a_table_among_other_data_counts_from_where_a_relocation_says),
		cmocka_unit_test(a_table_that_may_count_from_elsewhere_is_not_used),
		cmocka_unit_test(functions_that_overlap_or_lie_outside_are_left_out),
		cmocka_unit_test(a_table_cut_anywhere_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
