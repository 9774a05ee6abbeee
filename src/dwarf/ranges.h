/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_DWARF_RANGES_H
#define WICK_DWARF_RANGES_H

/*
 * ranges: the addresses that an entry covers: low_pc and high_pc, .debug_ranges
 * or .debug_rnglists. Ranges of code that the linker threw away (they begin at 0,
 * 1, -1 or -2) and empty ones are left out.
 */

#include <stddef.h>
#include <stdint.h>

#include "dwarf/unit.h"

struct range {
	uint64_t low, high; /* high is the first address behind */
};

struct range_list {
	struct range *items;
	size_t count, capacity;
};

/* Append to ret. Damage ends the list where it is; -ENOMEM is the only failure. */
int die_ranges(const struct die *die, struct range_list *ret);
int unit_ranges(struct unit *unit, struct range_list *ret); /* of the root entry */

#endif
