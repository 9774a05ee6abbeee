/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_ADDRESS_STACKS_H
#define WICK_IMPORT_ADDRESS_STACKS_H

/*
 * address_stacks: stacks of bare addresses in a file that also has a list of mappings in the format
 * of /proc/PID/maps. Names come from the mapped files when the profile is loaded, and only if those
 * files are unchanged.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_stacks;
struct error;
struct import_builder;

struct address_sample {
	const uint64_t *pcs; /* leaf first, as return addresses */
	size_t count;
	bool leaf_returns; /* the first is a return address too; else it is the program counter */
	uint64_t times;    /* samples that it represents */
	uint64_t weight;
};

/* Borrows the builder. The caller releases *ret with address_stacks_free(). */
int address_stacks_new(struct import_builder *builder, const char *maps, size_t size,
		       struct address_stacks **ret, struct error *err);
void address_stacks_free(struct address_stacks *stacks); /* NULL is fine */

int address_stacks_add(struct address_stacks *stacks, const struct address_sample *sample,
		       struct error *err);

#endif
