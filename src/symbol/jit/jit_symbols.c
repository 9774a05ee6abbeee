/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/jit/jit_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"

#define MAX_EARLIER 64

struct entry {
	uint32_t process;
	struct jit_symbol symbol;
};

/* When an address of a process received another function. */
struct change {
	uint32_t process;
	uint64_t time_ns;
};

struct jit_symbols {
	VEC(struct entry) entries;
	VEC(struct change) changes;
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
	vec_fini(&symbols->changes);
	arena_fini(&symbols->names);
	free(symbols);
}

int jit_symbols_add(struct jit_symbols *symbols, uint32_t process, const struct jit_symbol *symbol)
{
	struct entry entry = {process, *symbol};

	entry.symbol.name = arena_strndup(&symbols->names, symbol->name, strlen(symbol->name));
	if (symbol->file)
		entry.symbol.file =
			arena_strndup(&symbols->names, symbol->file, strlen(symbol->file));
	if (!entry.symbol.name || (symbol->file && !entry.symbol.file))
		return -ENOMEM;
	if (symbol->from_ns > 0 &&
	    vec_push(&symbols->changes, (struct change){process, symbol->from_ns}) < 0)
		return -ENOMEM;
	return vec_push(&symbols->entries, entry);
}

static int compare(const void *left, const void *right)
{
	const struct entry *a = left;
	const struct entry *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->symbol.start != b->symbol.start)
		return a->symbol.start < b->symbol.start ? -1 : 1;
	if (a->symbol.from_ns != b->symbol.from_ns)
		return a->symbol.from_ns < b->symbol.from_ns ? -1 : 1;
	return strcmp(a->symbol.name, b->symbol.name);
}

static int compare_changes(const void *left, const void *right)
{
	const struct change *a = left;
	const struct change *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

void jit_symbols_finish(struct jit_symbols *symbols)
{
	if (symbols->entries.count > 0)
		qsort(symbols->entries.items, symbols->entries.count, sizeof(struct entry),
		      compare);
	if (symbols->changes.count > 0)
		qsort(symbols->changes.items, symbols->changes.count, sizeof(struct change),
		      compare_changes);
}

/* Whether the entry comes after the address. */
static bool is_after(const struct entry *entry, uint32_t process, uint64_t address)
{
	if (entry->process != process)
		return entry->process > process;
	return entry->symbol.start > address;
}

/* The last entry that contains the address; NULL if none does. */
static const struct entry *find_last(const struct jit_symbols *symbols, uint32_t process,
				     uint64_t address)
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
		return NULL;
	return &entries[low - 1];
}

/* The previous entry of the same addresses; NULL if it is the first. */
static const struct entry *earlier(const struct jit_symbols *symbols, const struct entry *entry)
{
	return entry > symbols->entries.items && entry[-1].process == entry->process &&
			       entry[-1].symbol.start == entry->symbol.start
		       ? entry - 1
		       : NULL;
}

bool jit_symbols_find(const struct jit_symbols *symbols, uint32_t process, uint64_t address,
		      uint64_t time_ns, struct jit_symbol *ret)
{
	const struct entry *entry = find_last(symbols, process, address);
	const struct entry *before;

	if (!entry)
		return false;
	/* Writers keep fewer of one address than are searched. */
	for (size_t i = 0; i < MAX_EARLIER && entry->symbol.from_ns > time_ns &&
			   (before = earlier(symbols, entry)) != NULL;
	     i++)
		entry = before;
	*ret = entry->symbol;
	return true;
}

bool jit_symbols_is_shared(const struct jit_symbols *symbols, uint32_t process, uint64_t address)
{
	const struct entry *entry = find_last(symbols, process, address);

	return entry && entry->symbol.from_ns > 0;
}

bool jit_symbols_have_shared(const struct jit_symbols *symbols)
{
	return symbols->changes.count > 0;
}

uint64_t jit_symbols_last_change(const struct jit_symbols *symbols, uint32_t process,
				 uint64_t time_ns)
{
	const struct change key = {process, time_ns};
	size_t low = 0;
	size_t high = symbols->changes.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_changes(&symbols->changes.items[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && symbols->changes.items[low - 1].process == process
		       ? symbols->changes.items[low - 1].time_ns
		       : 0;
}
