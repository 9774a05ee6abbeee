/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Feeds the unwind table compiler with whatever comes.
 *
 *	byte 0       bit 0: x86-64, bit 1: .debug_frame
 *	bytes 1, 2   how many bytes of code follow
 *	code, then the section
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cfi/compile.h"
#include "elf/elf.h"

#include "../unit/elf_builder.h"

#define CODE 0x1000ull
#define SECTION 0x20000ull
#define MAX_INPUT 0xc000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_rule(const struct unwind_rule *rule)
{
	if (rule->cfa > UNWIND_CFA_FP_AWAY || rule->ra > UNWIND_RA_REGISTER ||
	    rule->fp > UNWIND_FP_AT_FP)
		abort();
}

static void check_table(const struct unwind_table *table, size_t size)
{
	for (uint32_t i = 0; i < table->row_count; i++) {
		if (i > 0 && table->rows[i].pc <= table->rows[i - 1].pc)
			abort();
		if (table->rows[i].rule >= table->rule_count || table->rows[i].zero != 0)
			abort();
		check_rule(&table->rules[table->rows[i].rule]);
	}
	if (table->row_count > 0 && table->rows[table->row_count - 1].rule != 0)
		abort();
	/* Every row costs the input at least a byte of program or an instruction. */
	if (table->row_count > 2 * size + 2)
		abort();
}

static void compile(struct elf_builder *b, size_t size)
{
	struct elf_file *elf = NULL;
	struct cfi_table table;
	struct cfi_stats stats;

	if (elf_open_memory(b->data, b->size, "fuzz", &elf, NULL) < 0)
		abort();
	if (cfi_compile(elf, &table, &stats, NULL) == 0) {
		check_table(&table.table, size);
		cfi_table_fini(&table);
	}
	if (cfi_compile_as_written(elf, &table, NULL, NULL) == 0) {
		check_table(&table.table, size);
		cfi_table_fini(&table);
	}
	elf_close(elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct elf_builder b;
	size_t code_size;
	uint64_t offset;
	uint16_t at;

	if (size < 3 || size > MAX_INPUT)
		return 0;
	code_size = (size_t)data[1] | (size_t)data[2] << 8;
	if (code_size > size - 3)
		code_size = size - 3;
	builder_init(&b, ET_DYN);
	b.header.e_machine = data[0] & 1 ? EM_X86_64 : EM_AARCH64;
	offset = builder_bytes(&b, data + 3, code_size);
	builder_segment(&b, (Elf64_Phdr){.p_type = PT_LOAD,
					 .p_flags = PF_R | PF_X,
					 .p_offset = offset,
					 .p_vaddr = CODE,
					 .p_filesz = code_size,
					 .p_memsz = code_size + 0x100});
	at = builder_section(&b, data[0] & 2 ? ".debug_frame" : ".eh_frame", SHT_PROGBITS,
			     data + 3 + code_size, size - 3 - code_size);
	b.sections[at].sh_addr = SECTION;
	builder_finish(&b);
	compile(&b, size);
	return 0;
}
