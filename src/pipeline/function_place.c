/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/function_place.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "elf/elf.h"

/* A section with symbols, and those that explain it. */
struct symbol_table {
	const char *symbols;
	const char *names;
	const char *versions; /* one for each symbol; NULL: it has none */
};

#define OLD_VERSION 0x8000u /* in a version: not the one that programs are linked to */

struct symbol_data {
	Elf64_Sym *symbols;
	char *names;
	uint16_t *versions;
	size_t symbols_size;
	size_t names_size;
	size_t versions_size;
};

static bool is_named(const struct symbol_data *data, const Elf64_Sym *symbol, const char *function)
{
	unsigned int type = ELF64_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
	       symbol->st_shndx != SHN_UNDEF && symbol->st_name < data->names_size &&
	       strncmp(data->names + symbol->st_name, function,
		       data->names_size - symbol->st_name) == 0;
}

static void search(const struct symbol_data *data, const char *function, struct function_place *ret)
{
	size_t count = data->symbols_size / sizeof(*data->symbols);
	size_t version_count = data->versions_size / sizeof(*data->versions);

	for (size_t i = 0; i < count; i++) {
		const Elf64_Sym *symbol = &data->symbols[i];
		bool is_old = i < version_count && (data->versions[i] & OLD_VERSION);

		if (!is_named(data, symbol, function) || (ret->any && is_old))
			continue;
		if (ret->any && !ret->is_old) {
			ret->is_repeated |= symbol->st_value != ret->vaddr;
			continue;
		}
		*ret = (struct function_place){
			.any = true,
			.chosen_at_run_time = ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC,
			.is_old = is_old,
			.vaddr = symbol->st_value,
			.size = symbol->st_size,
		};
	}
}

static bool read_section(struct elf_file *elf, const char *name, void *ret, size_t *ret_size)
{
	const struct elf_section *section = name ? elf_section_find(elf, name) : NULL;

	return section && elf_section_read(elf, section, (void **)ret, ret_size, NULL) == 0;
}

static void search_table(struct elf_file *elf, const struct symbol_table *table,
			 const char *function, struct function_place *ret)
{
	struct symbol_data data = {0};

	if (read_section(elf, table->symbols, &data.symbols, &data.symbols_size) &&
	    read_section(elf, table->names, &data.names, &data.names_size)) {
		if (!read_section(elf, table->versions, &data.versions, &data.versions_size))
			data.versions_size = 0;
		search(&data, function, ret);
	}
	free(data.symbols);
	free(data.names);
	free(data.versions);
}

void function_place_search(struct elf_file *elf, const char *function, struct function_place *ret)
{
	*ret = (struct function_place){0};
	search_table(elf, &(struct symbol_table){".symtab", ".strtab", NULL}, function, ret);
	if (!ret->any)
		search_table(elf, &(struct symbol_table){".dynsym", ".dynstr", ".gnu.version"},
			     function, ret);
}

int function_place_find(void *self, const char *path, const char *function, uint64_t *ret_offset,
			struct error *err)
{
	struct function_place found;
	struct elf_file *elf;
	int r = elf_open(path, &elf, err);

	(void)self;
	if (r < 0)
		return r;
	function_place_search(elf, function, &found);
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
