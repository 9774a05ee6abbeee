/* SPDX-License-Identifier: BSD-2-Clause */

/* Feeds the table of functions, lines and frames of Go programs with whatever comes. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cfi/compile.h"
#include "elf/elf.h"
#include "symbol/go/go_functions.h"
#include "symbol/go/go_lines.h"
#include "symbol/symbol_index.h"

#include "../unit/elf_builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TEXT 0x401000ull
#define TEXT_SIZE 0x1000ull
#define MAX_INPUT 0xc000

/* The rows of a program with that table are sorted and within its code. */
static void compile(const uint8_t *data, size_t size, uint16_t machine)
{
	static const uint8_t code[TEXT_SIZE];
	static struct elf_builder b;
	struct elf_file *elf = NULL;
	struct cfi_table table;

	builder_init(&b, ET_EXEC);
	b.header.e_machine = machine;
	builder_segment(&b, (Elf64_Phdr){.p_type = PT_LOAD,
					 .p_flags = PF_R | PF_X,
					 .p_offset = builder_bytes(&b, code, sizeof(code)),
					 .p_vaddr = TEXT,
					 .p_filesz = TEXT_SIZE,
					 .p_memsz = TEXT_SIZE});
	(void)builder_text(&b, ".text", TEXT, TEXT_SIZE);
	(void)builder_section(&b, ".gopclntab", SHT_PROGBITS, data, size);
	builder_finish(&b);
	if (elf_open_memory(b.data, b.size, "fuzz", &elf, NULL) < 0)
		abort();
	if (cfi_compile(elf, &table, NULL, NULL) == 0) {
		for (uint32_t i = 0; i < table.table.row_count; i++)
			if (table.table.rows[i].pc > TEXT_SIZE ||
			    (i > 0 && table.table.rows[i].pc <= table.table.rows[i - 1].pc))
				abort();
		cfi_table_fini(&table);
	}
	elf_close(elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_list list = {0};

	if (go_functions_parse(data, size, TEXT, TEXT_SIZE, &list) == 0)
		for (size_t i = 0; i < list.items.count; i++)
			if (list.items.items[i].start < TEXT ||
			    list.items.items[i].start + list.items.items[i].size > TEXT + TEXT_SIZE)
				abort();
	for (uint64_t at = 0; at < TEXT_SIZE; at += 4) {
		const char *file;
		uint32_t line;

		if (go_lines_parse(data, size, TEXT, TEXT + at, &file, &line) &&
		    (strlen(file) == 0 || line == 0))
			abort();
	}
	symbol_list_fini(&list);
	if (size <= MAX_INPUT) {
		compile(data, size, EM_AARCH64);
		compile(data, size, EM_X86_64);
	}
	return 0;
}
