/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * symbol_dump: what elf_symbols makes of a file, for tests that compare it with
 * objdump and readelf. One line a symbol: start, size, name; "-" without a name.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "elf/elf.h"
#include "symbol/elf_symbols.h"

int main(int argc, char **argv)
{
	struct elf_symbols *symbols;
	struct elf_file *elf;
	struct error err = {0};

	if (argc != 2) {
		(void)fprintf(stderr, "usage: symbol_dump FILE\n");
		return 2;
	}
	if (elf_open(argv[1], &elf, &err) < 0 || elf_symbols_read(elf, &symbols, &err) < 0) {
		(void)fprintf(stderr, "symbol_dump: %s\n", err.text);
		return 1;
	}
	for (uint32_t i = 0; i < elf_symbols_count(symbols); i++) {
		struct elf_symbol symbol = elf_symbols_at(symbols, i);

		printf("%" PRIx64 " %" PRIx64 " %s\n", symbol.start, symbol.size,
		       symbol.name[0] ? symbol.name : "-");
	}
	elf_symbols_free(symbols);
	elf_close(elf);
	return 0;
}
