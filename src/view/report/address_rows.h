/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_REPORT_ADDRESS_ROWS_H
#define WICK_VIEW_REPORT_ADDRESS_ROWS_H

/* address_rows: what each instruction of some functions costs. */

#include <stddef.h>
#include <stdint.h>

struct profile;

struct address_row {
	uint32_t module; /* string id */
	uint32_t line;   /* of the wanted function; 0: not known */
	uint64_t vaddr;
	int64_t self;
	uint64_t samples;
};

/*
 * Adds up the value at addresses where samples end in a function of wanted (a byte for
 * each function of the profile) or in what was inlined into it, by module and address.
 * The caller frees *ret. 0 or -ENOMEM.
 */
int address_rows_new(const struct profile *profile, uint32_t value, const uint8_t *wanted,
		     struct address_row **ret, size_t *ret_count);

#endif
