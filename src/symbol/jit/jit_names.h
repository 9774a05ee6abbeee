/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_JIT_JIT_NAMES_H
#define WICK_SYMBOL_JIT_JIT_NAMES_H

/*
 * jit_names: selects the names of compiled code that a set of addresses needs.
 *
 * A runtime logs every piece of code that it ever generated, and reuses the memory of code that it
 * discarded. If it logs times, an address may have several names, one after the other; if not, the
 * last one counts. Only names of the sampled addresses are kept.
 */

#include <stddef.h>
#include <stdint.h>

struct jit_names;

struct jit_name {
	uint64_t start;
	uint64_t size;
	const char *text; /* text_size bytes, without NUL */
	size_t text_size;
	uint64_t time_ns;     /* when the code was generated; 0: unknown */
	const uint8_t *lines; /* its lines as jitdump_find_line() reads them; NULL: unknown */
	size_t lines_size;
	uint64_t lines_start; /* where the code was when they were logged */
};

/* What is known about a range of addresses. */
struct jit_piece {
	uint64_t start;
	uint64_t size;
	const char *text; /* text_size bytes, without NUL */
	size_t text_size;
	uint64_t from_ns; /* from then on; 0: always, no other piece has these addresses */
	const char *file; /* file_size bytes, without NUL; NULL: unknown */
	size_t file_size;
	uint32_t line; /* 0: unknown */
};

/* Borrows the addresses: sorted and unique. NULL if out of memory. */
struct jit_names *jit_names_new(const uint64_t *addresses, size_t count);
void jit_names_free(struct jit_names *names); /* NULL is fine */

/* Borrows the text. Returns 0, -ENOMEM, or -EFBIG if there are too many that are needed. */
int jit_names_add(struct jit_names *names, const struct jit_name *name);

/*
 * Visits the name and line of each address that has one, in order, once for neighbours that share
 * them. The ranges are cut so that the right one for an address is the one with the highest start
 * at or below it; pieces of one range are visited in time order. Stops when visit returns a
 * negative value, and returns that.
 */
int jit_names_visit(struct jit_names *names,
		    int (*visit)(void *self, const struct jit_piece *piece), void *self);

#endif
