/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/function_place.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "elf/elf.h"

/* What a symbol table knows of a name. */
struct found {
	bool any;
	bool chosen_at_run_time;
	uint64_t vaddr;
};

/* All names count, also those that share an address: so the tables themselves are searched. */
static void search(const Elf64_Sym *symbols, size_t count, const char *names, size_t names_size,
		   const char *function, struct found *ret)
{
	for (size_t i = 0; i < count && !ret->any; i++) {
		unsigned int type = ELF64_ST_TYPE(symbols[i].st_info);

		if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
		    symbols[i].st_shndx == SHN_UNDEF || symbols[i].st_name >= names_size ||
		    strncmp(names + symbols[i].st_name, function,
			    names_size - symbols[i].st_name) != 0)
			continue;
		ret->any = true;
		ret->chosen_at_run_time = type == STT_GNU_IFUNC;
		ret->vaddr = symbols[i].st_value;
	}
}

static void search_table(struct elf_file *elf, const char *table, const char *strings,
			 const char *function, struct found *ret)
{
	const struct elf_section *symbols = elf_section_find(elf, table);
	const struct elf_section *names = elf_section_find(elf, strings);
	void *symbol_data = NULL;
	void *name_data = NULL;
	size_t symbol_size, name_size;

	if (symbols && names &&
	    elf_section_read(elf, symbols, &symbol_data, &symbol_size, NULL) == 0 &&
	    elf_section_read(elf, names, &name_data, &name_size, NULL) == 0)
		search(symbol_data, symbol_size / sizeof(Elf64_Sym), name_data, name_size, function,
		       ret);
	free(symbol_data);
	free(name_data);
}

int function_place_find(void *self, const char *path, const char *function, uint64_t *ret_offset,
			struct error *err)
{
	struct found found = {0};
	struct elf_file *elf;
	int r = elf_open(path, &elf, err);

	(void)self;
	if (r < 0)
		return r;
	search_table(elf, ".symtab", ".strtab", function, &found);
	if (!found.any)
		search_table(elf, ".dynsym", ".dynstr", function, &found);
	r = found.any ? elf_vaddr_to_offset(elf, found.vaddr, ret_offset) : -ENOENT;
	elf_close(elf);
	if (r == 0 && found.chosen_at_run_time) {
		(void)error_set(err, -EINVAL, "%s in %s is chosen when a program starts", function,
				path);
		error_remedy(err, "name one of the functions that it is chosen from, or its file "
				  "offset, 0x…");
		return -EINVAL;
	}
	if (r == -ENOENT) {
		(void)error_set(err, -EINVAL, "there is no function called %s in %s", function,
				path);
		error_remedy(err,
			     "see what it has: nm -D --defined-only %s; or give a file offset, 0x…",
			     path);
		return -EINVAL;
	}
	return r;
}
