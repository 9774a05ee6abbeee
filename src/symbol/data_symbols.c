/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/data_symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "elf/elf.h"

/* How many variables that begin before an address are searched for one that contains it. */
#define LOOK_BACK 64u

void data_symbols_fini(struct data_symbols *symbols)
{
	vec_fini(&symbols->items);
	bytes_fini(&symbols->names);
}

static bool is_data(const struct elf_file *elf, const Elf64_Sym *symbol)
{
	const struct elf_section *section = elf_section_at(elf, symbol->st_shndx);

	return ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_size > 0 &&
	       symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE && section &&
	       (section->flags & SHF_ALLOC) && !(section->flags & SHF_TLS) &&
	       symbol->st_value >= section->addr &&
	       symbol->st_value - section->addr < section->size;
}

static int add_symbol(struct data_symbols *symbols, const Elf64_Sym *from, const char *name)
{
	struct data_symbol symbol = {from->st_value, from->st_size, symbols->names.size};

	if (*name == '\0')
		return 0;
	bytes_put(&symbols->names, name, strlen(name) + 1);
	return symbols->names.failed ? -ENOMEM : vec_push(&symbols->items, symbol);
}

static int add_table(struct data_symbols *symbols, struct elf_file *elf,
		     const struct elf_section *section)
{
	const struct elf_section *strings = elf_section_at(elf, section->link);
	SCOPED(mem) void *data = NULL;
	SCOPED(mem) void *texts = NULL;
	const Elf64_Sym *table;
	size_t size = 0;
	size_t text_size = 0;

	if (!strings || strings->type != SHT_STRTAB ||
	    elf_section_read(elf, section, &data, &size, NULL) < 0 ||
	    elf_section_read(elf, strings, &texts, &text_size, NULL) < 0 || text_size == 0 ||
	    ((const char *)texts)[text_size - 1] != '\0')
		return 0;
	table = data;
	for (size_t i = 0; i < size / sizeof(*table); i++)
		if (table[i].st_name < text_size && is_data(elf, &table[i]) &&
		    add_symbol(symbols, &table[i], (const char *)texts + table[i].st_name) < 0)
			return -ENOMEM;
	return 0;
}

int data_symbols_add(struct data_symbols *symbols, struct elf_file *elf)
{
	int r = 0;

	if (elf_type(elf) == ET_REL)
		return 0;
	for (size_t i = 0; i < elf_section_count(elf) && r == 0; i++) {
		const struct elf_section *section = elf_section_at(elf, i);

		/* A separate debug file lists .dynsym but does not contain it. */
		if (section->type == SHT_SYMTAB || section->type == SHT_DYNSYM)
			r = add_table(symbols, elf, section);
	}
	return r;
}

static int compare(const void *a, const void *b)
{
	const struct data_symbol *x = a;
	const struct data_symbol *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return 0;
}

void data_symbols_sort(struct data_symbols *symbols)
{
	if (symbols->items.count > 0)
		qsort(symbols->items.items, symbols->items.count, sizeof(struct data_symbol),
		      compare);
}

/* How many symbols begin at or before vaddr. */
static size_t upper_bound(const struct data_symbols *symbols, uint64_t vaddr)
{
	size_t low = 0;
	size_t high = symbols->items.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->items.items[middle].start <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_nicer(const char *name, const char *than)
{
	size_t name_bars = strspn(name, "_");
	size_t than_bars = strspn(than, "_");
	size_t name_size = strcspn(name, "@");
	size_t than_size = strcspn(than, "@");

	if (name_bars != than_bars)
		return name_bars < than_bars;
	if (name_size != than_size)
		return name_size < than_size;
	return strcmp(name, than) < 0;
}

const char *data_symbols_find(const struct data_symbols *symbols, uint64_t vaddr,
			      uint64_t *ret_offset)
{
	size_t end = upper_bound(symbols, vaddr);
	size_t first = end > LOOK_BACK ? end - LOOK_BACK : 0;
	const struct data_symbol *best = NULL;
	const char *best_name = NULL;

	for (size_t i = end; i-- > first;) {
		const struct data_symbol *symbol = &symbols->items.items[i];
		const char *name = (const char *)symbols->names.data + symbol->name;

		if (vaddr - symbol->start >= symbol->size || (best && symbol->size > best->size))
			continue;
		if (best && symbol->size == best->size && !is_nicer(name, best_name))
			continue;
		best = symbol;
		best_name = name;
	}
	if (best)
		*ret_offset = vaddr - best->start;
	return best_name;
}
