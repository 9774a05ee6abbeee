/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_JIT_JIT_NAMES_H
#define WICK_SYMBOL_JIT_JIT_NAMES_H

/*
 * jit_names: which names of compiled code a set of addresses needs.
 *
 * A runtime writes down every piece of code that it ever made, and reuses the
 * memory of what it threw away. Where it tells when it made code, an address has one name
 * after the other; where it does not, the last one counts. Only names of the addresses
 * that were hit are kept.
 */

#include <stddef.h>
#include <stdint.h>

struct jit_names;

struct jit_name {
	uint64_t start;
	uint64_t size;
	const char *text; /* text_size bytes, without NUL */
	size_t text_size;
	uint64_t time_ns;     /* when the code was made; 0: not told */
	const uint8_t *lines; /* its lines as jitdump_find_line() reads them; NULL: not told */
	size_t lines_size;
	uint64_t lines_start; /* where the code was when they were told */
};

/* What is known of a range of addresses. */
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

/* Borrows the addresses: sorted, each once. NULL without memory. */
struct jit_names *jit_names_new(const uint64_t *addresses, size_t count);
void jit_names_free(struct jit_names *names); /* NULL is fine */

/* Borrows the text. Returns 0, -ENOMEM, or -EFBIG when there are too many that matter. */
int jit_names_add(struct jit_names *names, const struct jit_name *name);

/*
 * Hands out the name and line of each address that has one, in order, once for neighbours
 * that share them. The ranges are cut so that among them the one with the highest start
 * at or below an address is the right one for it; those of one range come in the order of
 * time. Ends with what visit answers when that is negative.
 */
int jit_names_visit(struct jit_names *names,
		    int (*visit)(void *self, const struct jit_piece *piece), void *self);

#endif
