/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_DWARF_RANGES_H
#define WICK_DWARF_RANGES_H

/*
 * ranges: the addresses that an entry covers: low_pc and high_pc, .debug_ranges or .debug_rnglists.
 * Empty ranges, and those of code that the linker discarded (they begin at 0, 1, -1 or -2), are
 * left out.
 */

#include <stddef.h>
#include <stdint.h>

#include "dwarf/unit.h"

struct range {
	uint64_t low, high; /* high is exclusive */
};

struct range_list {
	struct range *items;
	size_t count, capacity;
};

/* Append to ret. Damage ends the list; -ENOMEM is the only error. */
int die_ranges(const struct die *die, struct range_list *ret);
int unit_ranges(struct unit *unit, struct range_list *ret); /* of the root entry */

#endif
