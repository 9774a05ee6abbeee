/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_SYMBOL_INDEX_H
#define WICK_SYMBOL_SYMBOL_INDEX_H

/*
 * symbol_index: from a list of symbols that lie beside, on and in each other to an
 * index that tells which one owns an address. Knows nothing of files.
 *
 * The list is filled by one thread; the index is read-only.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/vec.h"

/* Order of preference: the lower value wins. */
enum symbol_kind {
	KIND_FUNCTION,
	KIND_IFUNC,   /* its address is that of the resolver, which may have a name */
	KIND_UNTYPED, /* inside something else it is a label */
	KIND_START,   /* a range of code that nobody named */
};

enum symbol_binding { BINDING_GLOBAL, BINDING_WEAK, BINDING_LOCAL };

struct symbol_candidate {
	uint64_t start;
	uint64_t size; /* of a sizeless one: that of its code, or up to the end of its section */
	uint32_t name; /* where it stands in the names; 0: none */
	uint8_t kind;
	uint8_t binding;
	bool is_sized;
	/* Of a table that repeats another one's symbols: comparing two copies of each name
	 * would take a quarter of the time. */
	bool is_repeated;
};

struct symbol_list {
	struct bytes names; /* texts ended by NUL; the first one is empty */
	VEC(struct symbol_candidate) items;
	size_t made_bytes; /* of names that no file has */
};

void symbol_list_fini(struct symbol_list *list);

/* Makes room for size bytes of names at *ret_base, and a NUL. 0, -ENOMEM or -EFBIG. */
int symbol_list_reserve_names(struct symbol_list *list, size_t size, uint8_t **ret_place,
			      uint32_t *ret_base);
/*
 * Adds the name "<name><suffix>". Returns where it stands; 0 when there is no room or
 * too much was added: many symbols of a hostile file may share one long name.
 */
uint32_t symbol_list_name(struct symbol_list *list, const char *name, const char *suffix);

/* Orders the names of one thing, best first: few underscores, short, by the alphabet. */
int symbol_compare_names(const char *a, const char *b);

struct indexed_symbol {
	uint64_t start;
	uint64_t size;
	uint32_t name;
};

struct symbol_index {
	struct indexed_symbol *symbols;
	uint32_t symbol_count;
	uint64_t *piece_starts;
	uint32_t *piece_owners;
	size_t piece_count;
};

/* Returns 0 or -ENOMEM. The list is used no more but for its names. */
int symbol_index_init(struct symbol_index *index, struct symbol_list *list);
void symbol_index_fini(struct symbol_index *index);

/* The symbol that owns vaddr, UINT32_MAX when there is none. */
uint32_t symbol_index_find(const struct symbol_index *index, uint64_t vaddr);

#endif
