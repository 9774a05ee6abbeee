/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_DWARF_PACKAGE_H
#define WICK_DWARF_PACKAGE_H

/*
 * package: units of a .dwp file, found by id through its index (.debug_cu_index and
 * .debug_tu_index, GNU's version 2 and DWARF 5's).
 */

#include <stdint.h>

#include "dwarf/unit.h"

/* The unit with that id, created at first use; NULL without one. */
struct unit *package_find(struct image *image, enum section_id index, uint64_t id);

/* Adds the unit at offset, whose parts of other sections begin at bases. */
int image_add_unit(struct image *image, uint64_t offset, enum section_id section,
		   const struct unit_bases *bases, struct unit **ret);

#endif
