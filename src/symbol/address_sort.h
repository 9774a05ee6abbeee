/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_ADDRESS_SORT_H
#define WICK_SYMBOL_ADDRESS_SORT_H

/*
 * address_sort: sorts and searches symbol tables by address. Tables consist of tens of thousands of
 * addresses in a narrow range, for which a radix sort needs two to four passes and beats comparing.
 */

#include <stddef.h>
#include <stdint.h>

struct address_ref {
	uint64_t address;
	uint32_t index; /* the caller's value for the address */
};

/* Sorts by address; equal ones keep their order. Returns 0 or -ENOMEM. */
int address_sort(struct address_ref *refs, size_t count);

/* The number of sorted addresses that are at most address. */
static inline size_t address_upper_bound(const uint64_t *sorted, size_t count, uint64_t address)
{
	const uint64_t *at = sorted;
	size_t left = count;

	/* Without a branch on the data, which could not be predicted. */
	while (left > 1) {
		size_t half = left / 2;

		at += at[half - 1] <= address ? half : 0;
		left -= half;
	}
	return (size_t)(at - sorted) + (left == 1 && *at <= address);
}

#endif
