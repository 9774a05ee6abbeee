/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/function_place.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "elf/elf.h"
#include "symbol/elf_symbols.h"

static int find(struct elf_file *elf, const char *function, uint64_t *ret_offset, struct error *err)
{
	struct elf_symbols *symbols;
	int r = elf_symbols_read(elf, &symbols, err);

	if (r < 0)
		return r;
	r = -ENOENT;
	for (uint32_t i = 0; i < elf_symbols_count(symbols) && r < 0; i++) {
		struct elf_symbol symbol = elf_symbols_at(symbols, i);

		if (strcmp(symbol.name, function) == 0)
			r = elf_vaddr_to_offset(elf, symbol.start, ret_offset);
	}
	elf_symbols_free(symbols);
	return r;
}

int function_place_find(void *self, const char *path, const char *function, uint64_t *ret_offset,
			struct error *err)
{
	struct elf_file *elf;
	int r = elf_open(path, &elf, err);

	(void)self;
	if (r < 0)
		return r;
	r = find(elf, function, ret_offset, err);
	elf_close(elf);
	if (r == -ENOENT) {
		(void)error_set(err, -EINVAL, "there is no function called %s in %s", function,
				path);
		error_remedy(err,
			     "see what it has: nm -D --defined-only %s; or give a file "
			     "offset, 0x…",
			     path);
		return -EINVAL;
	}
	return r;
}
