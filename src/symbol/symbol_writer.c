/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/symbol_writer.h"

#include "elf/elf.h"

struct symbol_writer symbol_writer_of(const struct elf_file *elf)
{
	struct symbol_writer writer = {0};

	writer.is_known = elf_owner(elf, &writer.uid);
	return writer;
}

struct symbol_writer symbol_writer_join(struct symbol_writer a, struct symbol_writer b)
{
	if (!a.is_known || !b.is_known || (a.uid != 0 && b.uid != 0 && a.uid != b.uid))
		return (struct symbol_writer){0};
	return a.uid != 0 ? a : b;
}
