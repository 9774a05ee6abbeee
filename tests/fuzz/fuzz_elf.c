/* SPDX-License-Identifier: BSD-2-Clause */

/* Feeds the ELF reader and the symbol table with whatever comes. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "elf/elf.h"
#include "symbol/elf_symbols.h"

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
	elf_close(elf);
	return 0;
}
