/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/elf_function.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf.h"

/* A section with symbols, and the sections it refers to. */
struct symbol_table {
	const char *symbols;
	const char *names;
	const char *versions; /* one for each symbol; NULL without versions */
	bool objects;         /* search for variables, not functions */
};

#define OLD_VERSION 0x8000u /* in a version: not the one that programs are linked to */

struct symbol_data {
	Elf64_Sym *symbols;
	char *names;
	uint16_t *versions;
	size_t symbols_size;
	size_t names_size;
	size_t versions_size;
	bool objects; /* variables count instead of functions */
};

static bool is_candidate(const struct symbol_data *data, const Elf64_Sym *symbol)
{
	unsigned int type = ELF64_ST_TYPE(symbol->st_info);
	bool fits = data->objects ? type == STT_OBJECT
				  : type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;

	return fits && symbol->st_shndx != SHN_UNDEF && symbol->st_name < data->names_size;
}

static void look_at(const struct symbol_data *data, const Elf64_Sym *symbol, bool is_old,
		    const char *name, struct elf_function *ret)
{
	if ((ret->found && is_old) ||
	    strncmp(data->names + symbol->st_name, name, data->names_size - symbol->st_name) != 0)
		return;
	if (ret->found && !ret->is_old) {
		ret->is_repeated |= symbol->st_value != ret->vaddr;
		return;
	}
	*ret = (struct elf_function){
		.found = true,
		.chosen_at_run_time = ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC,
		.is_old = is_old,
		.vaddr = symbol->st_value,
		.size = symbol->st_size,
	};
}

static void search(const struct symbol_data *data, const char *const *names, size_t name_count,
		   struct elf_function *ret)
{
	size_t count = data->symbols_size / sizeof(*data->symbols);
	size_t version_count = data->versions_size / sizeof(*data->versions);

	for (size_t i = 0; i < count; i++) {
		bool is_old = i < version_count && (data->versions[i] & OLD_VERSION);

		for (size_t j = 0; j < name_count && is_candidate(data, &data->symbols[i]); j++)
			look_at(data, &data->symbols[i], is_old, names[j], &ret[j]);
	}
}

/* NULL and 0 bytes when the file has no such section, or it cannot be read. */
static void *read_section(struct elf_file *elf, const char *name, size_t *ret_size)
{
	const struct elf_section *section = name ? elf_section_find(elf, name) : NULL;
	void *data = NULL;

	if (!section || elf_section_read(elf, section, &data, ret_size, NULL) < 0) {
		*ret_size = 0;
		return NULL;
	}
	return data;
}

static void search_table(struct elf_file *elf, const struct symbol_table *table,
			 const char *const *names, size_t count, struct elf_function *ret)
{
	struct symbol_data data = {.objects = table->objects};

	data.symbols = read_section(elf, table->symbols, &data.symbols_size);
	data.names = read_section(elf, table->names, &data.names_size);
	data.versions = read_section(elf, table->versions, &data.versions_size);
	if (data.symbols && data.names)
		search(&data, names, count, ret);
	free(data.symbols);
	free(data.names);
	free(data.versions);
}

static void find_symbols(struct elf_file *elf, bool objects, const char *const *names, size_t count,
			 struct elf_function *ret)
{
	bool all = true;

	memset(ret, 0, count * sizeof(*ret));
	search_table(elf, &(struct symbol_table){".symtab", ".strtab", NULL, objects}, names, count,
		     ret);
	for (size_t i = 0; i < count; i++)
		all = all && ret[i].found;
	if (!all)
		search_table(elf,
			     &(struct symbol_table){".dynsym", ".dynstr", ".gnu.version", objects},
			     names, count, ret);
}

void elf_functions_find(struct elf_file *elf, const char *const *names, size_t count,
			struct elf_function *ret)
{
	find_symbols(elf, false, names, count, ret);
}

void elf_objects_find(struct elf_file *elf, const char *const *names, size_t count,
		      struct elf_function *ret)
{
	find_symbols(elf, true, names, count, ret);
}

void elf_exported_objects_find(struct elf_file *elf, const char *const *names, size_t count,
			       struct elf_function *ret)
{
	memset(ret, 0, count * sizeof(*ret));
	search_table(elf, &(struct symbol_table){".dynsym", ".dynstr", ".gnu.version", true}, names,
		     count, ret);
}
