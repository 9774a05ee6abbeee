/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/elf_symbols.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/error.h"
#include "elf/elf.h"

#include "cfi_builder.h"
#include "elf_builder.h"

#define TEXT 0x1000
#define TEXT_SIZE 0x1000

struct spec {
	const char *name;
	uint64_t value;
	uint64_t size;
	uint8_t bind;
	uint8_t type;
};

/* Adds one symbol table and its strings; symbols live in section 1. */
static void add_table(struct elf_builder *b, uint32_t type, const struct spec *specs, size_t count)
{
	Elf64_Sym symbols[16] = {0};
	char strings[512] = {0};
	size_t used = 1;
	uint16_t at;

	for (size_t i = 0; i < count; i++) {
		size_t n = strlen(specs[i].name) + 1;

		symbols[i + 1] = (Elf64_Sym){.st_name = (uint32_t)used,
					     .st_info = ELF64_ST_INFO(specs[i].bind, specs[i].type),
					     .st_shndx = 1,
					     .st_value = specs[i].value,
					     .st_size = specs[i].size};
		memcpy(strings + used, specs[i].name, n);
		used += n;
	}
	at = builder_section(b, "symbols", type, symbols, (count + 1) * sizeof(symbols[0]));
	b->sections[at].sh_link = at + 1u;
	builder_section(b, "strings", SHT_STRTAB, strings, used);
}

static struct elf_symbols *read_image(struct elf_builder *b)
{
	struct elf_symbols *symbols = NULL;
	struct elf_file *elf = NULL;

	builder_finish(b);
	assert_int_equal(elf_open_memory(b->data, b->size, "image", &elf, NULL), 0);
	assert_int_equal(elf_symbols_read(elf, &symbols, NULL), 0);
	elf_close(elf);
	return symbols;
}

static struct elf_symbols *read_specs(const struct spec *specs, size_t count)
{
	struct elf_builder b;

	builder_init(&b, ET_DYN);
	builder_text(&b, ".text", TEXT, TEXT_SIZE);
	add_table(&b, SHT_SYMTAB, specs, count);
	return read_image(&b);
}

static const char *name_at(const struct elf_symbols *symbols, uint64_t vaddr)
{
	uint32_t i = elf_symbols_find(symbols, vaddr);

	return i == ELF_SYMBOL_NONE ? "none" : elf_symbols_at(symbols, i).name;
}

static void assert_winner(const struct spec *specs, size_t count, const char *winner)
{
	struct elf_symbols *symbols = read_specs(specs, count);

	assert_string_equal(name_at(symbols, specs[0].value), winner);
	elf_symbols_free(symbols);
}

static void an_address_belongs_to_the_function_that_covers_it(void **state)
{
	const struct spec specs[] = {{"b", 0x1100, 0x20, STB_GLOBAL, STT_FUNC},
				     {"a", 0x1000, 0x10, STB_GLOBAL, STT_FUNC}};
	struct elf_symbols *symbols = read_specs(specs, 2);

	assert_string_equal(name_at(symbols, 0x1000), "a");
	assert_string_equal(name_at(symbols, 0x100f), "a");
	assert_string_equal(name_at(symbols, 0x111f), "b");
	assert_int_equal(elf_symbols_at(symbols, elf_symbols_find(symbols, 0x1110)).start, 0x1100);
	assert_int_equal(elf_symbols_at(symbols, elf_symbols_find(symbols, 0x1110)).size, 0x20);
	elf_symbols_free(symbols);
}

static void an_address_in_a_gap_belongs_to_none(void **state)
{
	const struct spec specs[] = {{"a", 0x1010, 0x10, STB_GLOBAL, STT_FUNC},
				     {"b", 0x1100, 0x20, STB_GLOBAL, STT_FUNC}};
	struct elf_symbols *symbols = read_specs(specs, 2);

	assert_string_equal(name_at(symbols, 0), "none");
	assert_string_equal(name_at(symbols, 0x100f), "none");
	assert_string_equal(name_at(symbols, 0x1020), "none");
	assert_string_equal(name_at(symbols, 0x1120), "none");
	assert_string_equal(name_at(symbols, UINT64_MAX), "none");
	elf_symbols_free(symbols);
}

static void a_function_wins_over_an_ifunc_and_that_over_an_untyped_symbol(void **state)
{
	const struct spec specs[] = {{"a", 0x1000, 8, STB_GLOBAL, STT_NOTYPE},
				     {"bb", 0x1000, 8, STB_LOCAL, STT_GNU_IFUNC},
				     {"ccc", 0x1000, 8, STB_LOCAL, STT_FUNC}};

	assert_winner(specs, 3, "ccc");
	assert_winner(specs, 2, "bb@ifunc");
}

static void a_sized_symbol_wins_over_a_sizeless_one(void **state)
{
	const struct spec specs[] = {{"a", 0x1000, 0, STB_GLOBAL, STT_FUNC},
				     {"__sized", 0x1000, 8, STB_LOCAL, STT_FUNC}};

	assert_winner(specs, 2, "__sized");
}

static void global_wins_over_weak_and_weak_over_local(void **state)
{
	const struct spec specs[] = {{"a", 0x1000, 8, STB_LOCAL, STT_FUNC},
				     {"_b", 0x1000, 8, STB_WEAK, STT_FUNC},
				     {"__c", 0x1000, 8, STB_GLOBAL, STT_FUNC}};

	assert_winner(specs, 2, "_b");
	assert_winner(specs, 3, "__c");
}

static void fewer_underscores_then_shorter_then_the_alphabet_decide(void **state)
{
	const struct spec specs[] = {{"__x", 0x1000, 8, STB_GLOBAL, STT_FUNC},
				     {"_longer", 0x1000, 8, STB_GLOBAL, STT_FUNC},
				     {"_yy", 0x1000, 8, STB_GLOBAL, STT_FUNC},
				     {"_xy", 0x1000, 8, STB_GLOBAL, STT_FUNC}};

	assert_winner(specs, 2, "_longer");
	assert_winner(specs, 3, "_yy");
	assert_winner(specs, 4, "_xy");
}

static void mapping_symbols_and_labels_name_nothing(void **state)
{
	const struct spec specs[] = {{"$x", 0x1000, 0, STB_LOCAL, STT_NOTYPE},
				     {"$d.12", 0x1010, 0, STB_LOCAL, STT_NOTYPE},
				     {".L7", 0x1020, 0, STB_LOCAL, STT_NOTYPE},
				     {"$xylophone", 0x1030, 0, STB_LOCAL, STT_NOTYPE}};
	struct elf_symbols *symbols = read_specs(specs, 4);

	assert_string_equal(name_at(symbols, 0x1000), "none");
	assert_string_equal(name_at(symbols, 0x1010), "none");
	assert_string_equal(name_at(symbols, 0x1020), "none");
	assert_string_equal(name_at(symbols, 0x1030), "$xylophone");
	elf_symbols_free(symbols);
}

/* 64 bytes of code: mov, ret, and zeros. */
static struct elf_symbols *read_code(uint32_t table, const struct spec *specs, size_t count)
{
	static const uint8_t code[64] = {0x00, 0x00, 0x80, 0xd2, 0xc0, 0x03, 0x5f, 0xd6};
	struct elf_builder b;
	uint16_t at;

	builder_init(&b, ET_DYN);
	at = builder_section(&b, ".text", SHT_PROGBITS, code, sizeof(code));
	b.sections[at].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	b.sections[at].sh_addr = TEXT;
	builder_segment(&b, (Elf64_Phdr){.p_type = PT_LOAD,
					 .p_flags = PF_R | PF_X,
					 .p_offset = b.sections[at].sh_offset,
					 .p_vaddr = TEXT,
					 .p_filesz = sizeof(code),
					 .p_memsz = sizeof(code)});
	add_table(&b, table, specs, count);
	return read_image(&b);
}

static void a_sizeless_symbol_of_a_stripped_file_ends_with_its_code(void **state)
{
	const struct spec specs[] = {{"bare", 0x1000, 0, STB_GLOBAL, STT_NOTYPE},
				     {"far", 0x1030, 8, STB_GLOBAL, STT_FUNC}};
	struct elf_symbols *stripped = read_code(SHT_DYNSYM, specs, 2);
	struct elf_symbols *full = read_code(SHT_SYMTAB, specs, 2);

	assert_string_equal(name_at(stripped, 0x1007), "bare");
	assert_string_equal(name_at(stripped, 0x1008), "none");
	assert_string_equal(name_at(stripped, 0x102f), "none");
	/* Here every function has a symbol: the next one ends it. */
	assert_string_equal(name_at(full, 0x102f), "bare");
	elf_symbols_free(stripped);
	elf_symbols_free(full);
}

static void a_sizeless_symbol_reaches_to_the_next_one_or_the_end_of_its_section(void **state)
{
	const struct spec specs[] = {{"_start", 0x1000, 0, STB_GLOBAL, STT_NOTYPE},
				     {"main", 0x1040, 0x10, STB_GLOBAL, STT_FUNC},
				     {"last", 0x1100, 0, STB_LOCAL, STT_FUNC}};
	struct elf_symbols *symbols = read_specs(specs, 3);

	assert_string_equal(name_at(symbols, 0x103f), "_start");
	assert_string_equal(name_at(symbols, 0x1050), "none");
	assert_string_equal(name_at(symbols, 0x1fff), "last");
	assert_string_equal(name_at(symbols, 0x2000), "none");
	elf_symbols_free(symbols);
}

static void a_function_inside_another_owns_its_range_only(void **state)
{
	const struct spec specs[] = {{"outer", 0x1000, 0x100, STB_GLOBAL, STT_FUNC},
				     {"inner", 0x1040, 0x10, STB_LOCAL, STT_FUNC},
				     {"deep", 0x1044, 4, STB_LOCAL, STT_FUNC}};
	struct elf_symbols *symbols = read_specs(specs, 3);

	assert_string_equal(name_at(symbols, 0x103f), "outer");
	assert_string_equal(name_at(symbols, 0x1040), "inner");
	assert_string_equal(name_at(symbols, 0x1047), "deep");
	assert_string_equal(name_at(symbols, 0x1048), "inner");
	assert_string_equal(name_at(symbols, 0x1050), "outer");
	assert_string_equal(name_at(symbols, 0x10ff), "outer");
	assert_string_equal(name_at(symbols, 0x1100), "none");
	elf_symbols_free(symbols);
}

static void a_label_inside_a_function_does_not_cut_it(void **state)
{
	const struct spec specs[] = {{"outer", 0x1000, 0x100, STB_GLOBAL, STT_FUNC},
				     {"inner", 0x1010, 0x30, STB_LOCAL, STT_FUNC},
				     {"loop", 0x1040, 0, STB_GLOBAL, STT_NOTYPE},
				     {"table", 0x1050, 8, STB_GLOBAL, STT_NOTYPE}};
	struct elf_symbols *symbols = read_specs(specs, 4);

	assert_string_equal(name_at(symbols, 0x1040), "outer");
	assert_string_equal(name_at(symbols, 0x1050), "outer");
	elf_symbols_free(symbols);
}

static void the_longer_of_two_at_one_address_goes_on_after_the_better(void **state)
{
	const struct spec specs[] = {{"better", 0x1000, 0x10, STB_GLOBAL, STT_FUNC},
				     {"longer", 0x1000, 0x40, STB_LOCAL, STT_FUNC}};
	struct elf_symbols *symbols = read_specs(specs, 2);

	assert_string_equal(name_at(symbols, 0x100f), "better");
	assert_string_equal(name_at(symbols, 0x1010), "longer");
	elf_symbols_free(symbols);
}

static void symbols_outside_their_section_or_of_data_are_dropped(void **state)
{
	const struct spec specs[] = {{"before", 0xfff, 8, STB_GLOBAL, STT_FUNC},
				     {"_etext", 0x2000, 0, STB_GLOBAL, STT_NOTYPE},
				     {"object", 0x1000, 8, STB_GLOBAL, STT_OBJECT},
				     {"huge", 0x1800, UINT64_MAX, STB_GLOBAL, STT_FUNC}};
	struct elf_symbols *symbols = read_specs(specs, 4);

	assert_int_equal(elf_symbols_count(symbols), 1);
	assert_string_equal(name_at(symbols, 0x1fff), "huge");
	assert_string_equal(name_at(symbols, 0x2000), "none");
	elf_symbols_free(symbols);
}

static void both_tables_are_read_and_what_they_share_counts_once(void **state)
{
	const struct spec local = {"local", 0x1000, 8, STB_LOCAL, STT_FUNC};
	const struct spec shared = {"shared", 0x1010, 8, STB_GLOBAL, STT_FUNC};
	const struct spec exported[] = {shared, {"exported", 0x1020, 8, STB_GLOBAL, STT_FUNC}};
	struct elf_symbols *symbols;
	struct elf_builder b;

	builder_init(&b, ET_DYN);
	builder_text(&b, ".text", TEXT, TEXT_SIZE);
	add_table(&b, SHT_SYMTAB, (const struct spec[]){local, shared}, 2);
	add_table(&b, SHT_DYNSYM, exported, 2);
	symbols = read_image(&b);
	assert_int_equal(elf_symbols_count(symbols), 3);
	assert_string_equal(name_at(symbols, 0x1000), "local");
	assert_string_equal(name_at(symbols, 0x1010), "shared");
	assert_string_equal(name_at(symbols, 0x1020), "exported");
	elf_symbols_free(symbols);
}

static void a_name_past_the_strings_drops_the_symbol(void **state)
{
	const struct spec spec = {"a", 0x1000, 8, STB_GLOBAL, STT_FUNC};
	struct elf_symbols *symbols;
	struct elf_builder b;

	builder_init(&b, ET_DYN);
	builder_text(&b, ".text", TEXT, TEXT_SIZE);
	add_table(&b, SHT_SYMTAB, &spec, 1);
	((Elf64_Sym *)(void *)(b.data + b.sections[2].sh_offset))[1].st_name = UINT32_MAX;
	symbols = read_image(&b);
	assert_int_equal(elf_symbols_count(symbols), 0);
	elf_symbols_free(symbols);
}

static void strings_larger_than_the_file_are_refused_before_allocating(void **state)
{
	const struct spec spec = {"a", 0x1000, 8, STB_GLOBAL, STT_FUNC};
	struct elf_symbols *symbols = NULL;
	struct elf_file *elf = NULL;
	struct elf_builder b;

	builder_init(&b, ET_DYN);
	builder_text(&b, ".text", TEXT, TEXT_SIZE);
	add_table(&b, SHT_SYMTAB, &spec, 1);
	b.sections[3].sh_size = 1 << 30;
	builder_finish(&b);
	assert_int_equal(elf_open_memory(b.data, b.size, "image", &elf, NULL), 0);
	assert_int_equal(elf_symbols_read(elf, &symbols, NULL), -ERANGE);
	assert_null(symbols);
	elf_close(elf);
}

static void a_file_without_symbols_gives_an_empty_table(void **state)
{
	struct elf_symbols *symbols;
	struct elf_builder b;

	builder_init(&b, ET_DYN);
	symbols = read_image(&b);
	assert_int_equal(elf_symbols_count(symbols), 0);
	assert_string_equal(name_at(symbols, 0x1000), "none");
	elf_symbols_free(symbols);
}

/* As of a program that is static, stripped, and calls nobody. */
static void functions_without_a_single_name_have_the_empty_one(void **state)
{
	static const uint8_t nothing[] = {0};
	struct elf_symbols *symbols = NULL;
	struct cfi_builder b;
	struct elf_file *elf;

	(void)state;
	cfi_builder_init(&b, EM_AARCH64);
	builder_text(&b.elf, ".text", CODE, CODE_BYTES);
	cfi_builder_fde(&b, cfi_builder_cie(&b, "zR", nothing, 1), CODE, 0x40, nothing, 1);
	elf = cfi_builder_open(&b);
	assert_int_equal(elf_symbols_read(elf, &symbols, NULL), 0);
	assert_int_not_equal(elf_symbols_find(symbols, CODE + 4), ELF_SYMBOL_NONE);
	assert_string_equal(elf_symbols_at(symbols, elf_symbols_find(symbols, CODE + 4)).name, "");
	elf_symbols_free(symbols);
	elf_close(elf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_belongs_to_the_function_that_covers_it),
		cmocka_unit_test(an_address_in_a_gap_belongs_to_none),
		cmocka_unit_test(a_function_wins_over_an_ifunc_and_that_over_an_untyped_symbol),
		cmocka_unit_test(a_sized_symbol_wins_over_a_sizeless_one),
		cmocka_unit_test(global_wins_over_weak_and_weak_over_local),
		cmocka_unit_test(fewer_underscores_then_shorter_then_the_alphabet_decide),
		cmocka_unit_test(mapping_symbols_and_labels_name_nothing),
		cmocka_unit_test(a_sizeless_symbol_of_a_stripped_file_ends_with_its_code),
		cmocka_unit_test(
			a_sizeless_symbol_reaches_to_the_next_one_or_the_end_of_its_section),
		cmocka_unit_test(a_function_inside_another_owns_its_range_only),
		cmocka_unit_test(a_label_inside_a_function_does_not_cut_it),
		cmocka_unit_test(the_longer_of_two_at_one_address_goes_on_after_the_better),
		cmocka_unit_test(symbols_outside_their_section_or_of_data_are_dropped),
		cmocka_unit_test(both_tables_are_read_and_what_they_share_counts_once),
		cmocka_unit_test(a_name_past_the_strings_drops_the_symbol),
		cmocka_unit_test(strings_larger_than_the_file_are_refused_before_allocating),
		cmocka_unit_test(a_file_without_symbols_gives_an_empty_table),
		cmocka_unit_test(functions_without_a_single_name_have_the_empty_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
