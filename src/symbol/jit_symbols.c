/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/jit_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"

struct entry {
	uint32_t process;
	struct jit_symbol symbol;
};

struct jit_symbols {
	VEC(struct entry) entries;
	struct arena names;
};

struct jit_symbols *jit_symbols_new(void)
{
	return calloc(1, sizeof(struct jit_symbols));
}

void jit_symbols_free(struct jit_symbols *symbols)
{
	if (!symbols)
		return;
	vec_fini(&symbols->entries);
	arena_fini(&symbols->names);
	free(symbols);
}

int jit_symbols_add(struct jit_symbols *symbols, uint32_t process, uint64_t start, uint64_t size,
		    const char *name)
{
	struct entry entry = {process, {start, size, NULL}};

	entry.symbol.name = arena_strndup(&symbols->names, name, strlen(name));
	return entry.symbol.name ? vec_push(&symbols->entries, entry) : -ENOMEM;
}

static int compare(const void *left, const void *right)
{
	const struct entry *a = left;
	const struct entry *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->symbol.start != b->symbol.start)
		return a->symbol.start < b->symbol.start ? -1 : 1;
	return strcmp(a->symbol.name, b->symbol.name);
}

void jit_symbols_finish(struct jit_symbols *symbols)
{
	if (symbols->entries.count > 0)
		qsort(symbols->entries.items, symbols->entries.count, sizeof(struct entry),
		      compare);
}

/* Whether the entry comes after the address. */
static bool is_after(const struct entry *entry, uint32_t process, uint64_t address)
{
	if (entry->process != process)
		return entry->process > process;
	return entry->symbol.start > address;
}

bool jit_symbols_find(const struct jit_symbols *symbols, uint32_t process, uint64_t address,
		      struct jit_symbol *ret)
{
	const struct entry *entries = symbols->entries.items;
	size_t low = 0;
	size_t high = symbols->entries.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (is_after(&entries[middle], process, address))
			high = middle;
		else
			low = middle + 1;
	}
	if (low == 0 || entries[low - 1].process != process ||
	    address - entries[low - 1].symbol.start >= entries[low - 1].symbol.size)
		return false;
	*ret = entries[low - 1].symbol;
	return true;
}
