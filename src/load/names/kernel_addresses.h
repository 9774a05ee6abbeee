/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_KERNEL_ADDRESSES_H
#define WICK_LOAD_NAMES_KERNEL_ADDRESSES_H

/*
 * kernel_addresses: finds the start of a kernel function by name, for stacks that the kernel shows
 * as text. The table is read at first use.
 */

#include <stdint.h>

struct error;
struct kernel_addresses;
struct kernel_symbols;

struct kernel_addresses *kernel_addresses_new(void);            /* NULL: out of memory */
void kernel_addresses_free(struct kernel_addresses *addresses); /* NULL is fine */

/* Reads the table now; fails as kernel_symbols_read() does. */
int kernel_addresses_read(struct kernel_addresses *addresses, struct error *err);

/* Returns the address, 0 if unknown. `self` is a struct kernel_addresses; ret_bytes may be NULL. */
uint64_t kernel_addresses_find(void *self, const char *name, uint64_t *ret_bytes);

/* The underlying symbols; NULL if they were not or cannot be read. */
const struct kernel_symbols *kernel_addresses_symbols(const struct kernel_addresses *addresses);

#endif
