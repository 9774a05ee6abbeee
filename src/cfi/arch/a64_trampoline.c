/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/arch/a64_trampoline.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/scope.h"
#include "cfi/rows.h"
#include "elf/elf.h"
#include "unwind/arch/aarch64.h"

#define NAME "__kernel_rt_sigreturn"
#define INSN_BYTES 4u
#define TRAMPOLINE_BYTES 8u
/* A vdso has a handful of symbols; more are not searched. */
#define MAX_SYMBOLS 64u

static const struct unwind_rule signal_rule = {.cfa = UNWIND_CFA_SIGNAL};

static bool has_its_code(struct elf_file *elf, uint64_t vaddr)
{
	uint64_t offset;
	uint64_t code;

	return elf_vaddr_to_offset(elf, vaddr, &offset) == 0 &&
	       elf_read_at(elf, offset, &code, sizeof(code)) == 0 &&
	       code == unwind_aarch64.trampoline.first;
}

static bool has_its_name(const Elf64_Sym *symbol, const char *names, size_t size)
{
	return symbol->st_name < size && size - symbol->st_name >= sizeof(NAME) &&
	       memcmp(names + symbol->st_name, NAME, sizeof(NAME)) == 0;
}

/* The vaddr of the trampoline; 0: it has none. */
static uint64_t find(struct elf_file *elf)
{
	const struct elf_section *table = elf_section_find(elf, ".dynsym");
	const struct elf_section *strings = elf_section_find(elf, ".dynstr");
	SCOPED(mem) void *symbols = NULL;
	SCOPED(mem) void *names = NULL;
	size_t size;
	size_t names_size;

	if (!table || !strings || table->size > MAX_SYMBOLS * sizeof(Elf64_Sym) ||
	    elf_section_read(elf, table, &symbols, &size, NULL) < 0 ||
	    elf_section_read(elf, strings, &names, &names_size, NULL) < 0)
		return 0;
	for (size_t i = 0; i + sizeof(Elf64_Sym) <= size; i += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;

		memcpy(&symbol, (const char *)symbols + i, sizeof(symbol));
		if (has_its_name(&symbol, names, names_size) && has_its_code(elf, symbol.st_value))
			return symbol.st_value;
	}
	return 0;
}

int cfi_add_trampoline(struct elf_file *elf, uint64_t base, struct rows *rows)
{
	uint64_t vaddr = find(elf);
	uint64_t start = vaddr - INSN_BYTES - base;
	int r;

	if (vaddr < base + INSN_BYTES || start >= UINT32_MAX - INSN_BYTES - TRAMPOLINE_BYTES)
		return 0;
	r = rows_begin(rows, (uint32_t)start, (uint32_t)start + INSN_BYTES + TRAMPOLINE_BYTES,
		       true);
	return r < 0 ? r : rows_add(rows, (uint32_t)start, &signal_rule);
}
