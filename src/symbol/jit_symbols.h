/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_JIT_SYMBOLS_H
#define WICK_SYMBOL_JIT_SYMBOLS_H

/*
 * jit_symbols: which compiled function of a process holds an address, from what a
 * recording kept of the process's own list.
 *
 * Built by one thread; after jit_symbols_finish() it is read-only and several
 * threads may search it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jit_symbols;

struct jit_symbol {
	uint64_t start;
	uint64_t size;
	const char *name; /* owned by the jit_symbols */
};

struct jit_symbols *jit_symbols_new(void);          /* NULL without memory */
void jit_symbols_free(struct jit_symbols *symbols); /* NULL is fine */

/* Adds in any order; process is an id in the dictionary. Returns 0 or -ENOMEM. */
int jit_symbols_add(struct jit_symbols *symbols, uint32_t process, uint64_t start, uint64_t size,
		    const char *name);
void jit_symbols_finish(struct jit_symbols *symbols);

bool jit_symbols_find(const struct jit_symbols *symbols, uint32_t process, uint64_t address,
		      struct jit_symbol *ret);

#endif
