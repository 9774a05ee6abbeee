/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_DWARF_SCOPES_H
#define WICK_DWARF_SCOPES_H

/*
 * scopes: the entries around an entry. DWARF has no links to parents; the tree of a unit's entries
 * with children is read level by level, where it is needed.
 */

#include <stddef.h>
#include <stdint.h>

struct scope_tree;
struct unit;

#define SCOPES_MAX 64

/*
 * Fills chain with the offsets of the entries around the one at offset, the outermost (the unit's
 * root) first. Returns their number.
 */
size_t scopes_around(struct unit *unit, uint64_t offset, uint64_t chain[SCOPES_MAX]);

void scope_tree_free(struct scope_tree *tree); /* NULL is fine */

#endif
