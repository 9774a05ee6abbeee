/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_KERNEL_SYMBOLS_H
#define WICK_SYMBOL_KERNEL_SYMBOLS_H

/*
 * kernel_symbols: which kernel function contains an address.
 *
 * The table comes from /proc/kallsyms, or from the part that a recording kept. The kernel provides
 * no sizes: a symbol extends to the next one, but the last one of the kernel or of a module extends
 * no further than the page after its own, so that code without a name (BPF programs, other modules)
 * stays unknown.
 *
 * Built by one thread; after kernel_symbols_finish() it is read-only and several threads may search
 * it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct kernel_symbols;

struct kernel_symbol {
	uint64_t start;
	uint64_t size;
	const char *name;   /* owned by the kernel_symbols */
	const char *module; /* "" for the kernel itself; owned by the kernel_symbols */
};

/*
 * Reads the text symbols from path, /proc/kallsyms or a copy. -EPERM with a remedy if the kernel
 * shows all addresses as zero. The caller releases *ret with kernel_symbols_free().
 */
int kernel_symbols_read(const char *path, struct kernel_symbols **ret, struct error *err);

struct kernel_symbols *kernel_symbols_new(void);          /* NULL if out of memory */
void kernel_symbols_free(struct kernel_symbols *symbols); /* NULL is fine */

/*
 * Adds a symbol in any order; module is "" or NULL for the kernel itself, size 0
 * means up to the next symbol.
 */
int kernel_symbols_add(struct kernel_symbols *symbols, uint64_t start, uint64_t size,
		       const char *name, const char *module);
/* Call it after adding: from then on symbols can be found. Returns 0 or -ENOMEM. */
int kernel_symbols_finish(struct kernel_symbols *symbols);

bool kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t address,
			 struct kernel_symbol *ret);

/* All symbols, sorted, one for each address. i is below the count. */
size_t kernel_symbols_count(const struct kernel_symbols *symbols);
struct kernel_symbol kernel_symbols_at(const struct kernel_symbols *symbols, size_t i);

#endif
