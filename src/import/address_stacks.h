/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_ADDRESS_STACKS_H
#define WICK_IMPORT_ADDRESS_STACKS_H

/*
 * address_stacks: stacks that a file has as bare addresses, beside a list of what was
 * mapped in the form of /proc/PID/maps. Names come from the mapped files, when they
 * are looked at, and only from those that are still the same ones.
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
	bool leaf_returns; /* the first is one, too; else it is where the program was */
	uint64_t times;    /* samples that it stands for */
	uint64_t weight;
};

/* Borrows the builder. The caller releases *ret with address_stacks_free(). */
int address_stacks_new(struct import_builder *builder, const char *maps, size_t size,
		       struct address_stacks **ret, struct error *err);
void address_stacks_free(struct address_stacks *stacks); /* NULL is fine */

int address_stacks_add(struct address_stacks *stacks, const struct address_sample *sample,
		       struct error *err);

#endif
