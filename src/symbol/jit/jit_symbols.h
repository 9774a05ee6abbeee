/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_JIT_JIT_SYMBOLS_H
#define WICK_SYMBOL_JIT_JIT_SYMBOLS_H

/*
 * jit_symbols: which compiled function of a process holds, or held at some time, an
 * address, from what a recording kept of the process's own list.
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
	const char *name; /* texts are owned by the jit_symbols */
	const char *file; /* NULL: unknown */
	uint32_t line;    /* 0: unknown */
	uint64_t from_ns; /* when it was made; 0: always there */
};

struct jit_symbols *jit_symbols_new(void);          /* NULL without memory */
void jit_symbols_free(struct jit_symbols *symbols); /* NULL is fine */

/*
 * Adds in any order; process is an id in the dictionary. Copies the texts. Those that
 * have the same addresses at different times have the same range. Returns 0 or -ENOMEM.
 */
int jit_symbols_add(struct jit_symbols *symbols, uint32_t process, const struct jit_symbol *symbol);
void jit_symbols_finish(struct jit_symbols *symbols);

/* What was at an address at a time: the last that was made by then, or else the first. */
bool jit_symbols_find(const struct jit_symbols *symbols, uint32_t process, uint64_t address,
		      uint64_t time_ns, struct jit_symbol *ret);

/* Whether an address had several functions one after the other. */
bool jit_symbols_is_shared(const struct jit_symbols *symbols, uint32_t process, uint64_t address);

/* Whether any address had. */
bool jit_symbols_have_shared(const struct jit_symbols *symbols);

/*
 * When such an address of the process got a function last, as seen at a time: 0 for
 * never. Between two such times all answers stay the same.
 */
uint64_t jit_symbols_last_change(const struct jit_symbols *symbols, uint32_t process,
				 uint64_t time_ns);

#endif
