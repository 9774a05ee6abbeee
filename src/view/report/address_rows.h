/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_REPORT_ADDRESS_ROWS_H
#define WICK_VIEW_REPORT_ADDRESS_ROWS_H

/* address_rows: the cost of each instruction of some functions. */

#include <stddef.h>
#include <stdint.h>

struct profile;

struct address_row {
	uint32_t module; /* string id */
	uint32_t line;   /* of the wanted function; 0: unknown */
	uint64_t vaddr;
	int64_t self;
	uint64_t samples;
};

/*
 * Adds up the value by module and address, for samples that end in a function marked in wanted (one
 * byte for each function of the profile) or in a function inlined into it. The caller frees *ret. 0
 * or -ENOMEM.
 */
int address_rows_new(const struct profile *profile, uint32_t value, const uint8_t *wanted,
		     struct address_row **ret, size_t *ret_count);

#endif
