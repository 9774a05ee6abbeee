/* SPDX-License-Identifier: BSD-2-Clause */

/* Feeds the ELF reader, the symbol table and what is made of it with whatever comes. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "elf/elf.h"
#include "symbol/elf_symbols.h"
#include "symbol/symbol_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_sections(struct elf_file *elf)
{
	for (size_t i = 0; i < elf_section_count(elf) && i < 64; i++) {
		void *bytes = NULL;
		size_t n = 0;

		if (elf_section_read(elf, elf_section_at(elf, i), &bytes, &n, NULL) == 0)
			free(bytes);
		(void)elf_section_find(elf, elf_section_at(elf, i)->name);
	}
}

static void translate_addresses(struct elf_file *elf)
{
	for (size_t i = 0; i < elf_segment_count(elf) && i < 64; i++) {
		const struct elf_segment *segment = elf_segment_at(elf, i);
		uint64_t value;

		(void)elf_offset_to_vaddr(elf, segment->offset + 1, &value);
		(void)elf_vaddr_to_offset(elf, segment->vaddr + 1, &value);
		(void)elf_load_bias(elf, segment->vaddr, segment->offset & ~0xfffull, &value);
	}
}

/* Each symbol that is kept must be found at some address of its own range. */
static void search_symbols(struct elf_file *elf)
{
	struct elf_symbols *symbols = NULL;

	if (elf_symbols_read(elf, &symbols, NULL) < 0)
		return;
	for (uint32_t i = 0; i < elf_symbols_count(symbols); i++) {
		struct elf_symbol symbol = elf_symbols_at(symbols, i);

		if (elf_symbols_find(symbols, symbol.start) == ELF_SYMBOL_NONE)
			abort();
		(void)elf_symbols_find(symbols, symbol.start + symbol.size);
	}
	(void)elf_symbols_find(symbols, 0);
	(void)elf_symbols_find(symbols, UINT64_MAX);
	elf_symbols_free(symbols);
}

/* What a server makes of an upload can be read, and nothing more can be made of it. */
static void make_file(struct elf_file *elf)
{
	static const struct build_id id = {.size = 4, .bytes = {1, 2, 3, 4}};
	struct elf_symbols *symbols = NULL;
	struct elf_file *made = NULL;
	struct bytes file = {0};
	int count = -1;

	if (elf_symbols_read(elf, &symbols, NULL) == 0) {
		const struct elf_symbols *tables[] = {symbols};
		struct symbol_file_source source = {
			.tables = tables, .table_count = 1, .build_id = &id};

		count = symbol_file_make(&source, 1u << 20, &file, NULL);
	}
	elf_symbols_free(symbols);
	if (count > 0) {
		if (elf_open_memory(file.data, file.size, "made", &made, NULL) < 0 ||
		    !build_id_equal(elf_build_id(made), &id))
			abort();
		search_symbols(made);
		elf_close(made);
	}
	bytes_fini(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[2 * BUILD_ID_MAX + 1];
	struct elf_file *elf = NULL;

	if (elf_open_memory(data, size, "fuzz", &elf, NULL) < 0)
		return 0;
	build_id_format(elf_build_id(elf), text);
	read_sections(elf);
	translate_addresses(elf);
	search_symbols(elf);
	make_file(elf);
	elf_close(elf);
	return 0;
}
