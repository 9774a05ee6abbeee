/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_SYMBOL_INDEX_H
#define WICK_SYMBOL_SYMBOL_INDEX_H

/*
 * symbol_index: from a list of symbols that may overlap or contain each other to an index that
 * finds the owner of an address. Knows nothing about files.
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
	KIND_UNTYPED, /* inside another symbol it is a label */
	KIND_START,   /* a range of code without a name */
};

enum symbol_binding { BINDING_GLOBAL, BINDING_WEAK, BINDING_LOCAL };

struct symbol_candidate {
	uint64_t start;
	uint64_t size; /* of a sizeless one: that of its code, or up to the end of its section */
	uint32_t name; /* offset in the names; 0: none */
	uint8_t kind;
	uint8_t binding;
	bool is_sized;
	/*
	 * For a table that repeats another one's symbols: comparing both copies of each name would
	 * take a quarter of the time.
	 */
	bool is_repeated;
};

struct symbol_list {
	struct bytes names; /* NUL-terminated texts; the first one is empty */
	VEC(struct symbol_candidate) items;
	size_t made_bytes; /* of names that are in no file */
};

void symbol_list_fini(struct symbol_list *list);

/* Reserves size bytes of names and a NUL at *ret_base. 0, -ENOMEM or -EFBIG. */
int symbol_list_reserve_names(struct symbol_list *list, size_t size, uint8_t **ret_place,
			      uint32_t *ret_base);
/*
 * Adds the name "<name><suffix>". Returns its offset; 0 without room or if too much was added: many
 * symbols of a hostile file may share one long name.
 */
uint32_t symbol_list_name(struct symbol_list *list, const char *name, const char *suffix);

/* Orders the names of one address, best first: few underscores, short, alphabetically. */
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

/* Returns 0 or -ENOMEM. Of the list, only the names are used afterwards. */
int symbol_index_init(struct symbol_index *index, struct symbol_list *list);
void symbol_index_fini(struct symbol_index *index);

/* The symbol that owns vaddr, UINT32_MAX without one. */
uint32_t symbol_index_find(const struct symbol_index *index, uint64_t vaddr);

#endif
