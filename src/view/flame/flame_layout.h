/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_FLAME_FLAME_LAYOUT_H
#define WICK_VIEW_FLAME_FLAME_LAYOUT_H

/*
 * flame_layout: the positions of the boxes of a flame graph, in units of the values.
 *
 * A box begins at the start of its parent or the end of its left sibling, and is as wide as its
 * total. So children fill their parent from the left, and the rest at the right is the parent's
 * self cost. Positions are integers: nothing overlaps by rounding. Knows nothing about pixels,
 * colours and names.
 */

#include <stdint.h>

#include "base/vec.h"

struct call_tree;

struct flame_box {
	uint32_t node; /* of the call tree */
	uint32_t row;  /* 0: the root */
	int64_t begin;
	int64_t end;
};

struct flame_layout {
	VEC(struct flame_box) boxes; /* row by row, each from left to right */
	uint32_t rows;
	int64_t total;          /* width of the root */
	uint32_t left_out;      /* branches that are too narrow to draw */
	int64_t left_out_total; /* their cost */
};

/* Leaves out boxes narrower than min_fraction of the root. 0 or -ENOMEM. */
int flame_layout_init(struct flame_layout *layout, const struct call_tree *tree,
		      double min_fraction);
void flame_layout_fini(struct flame_layout *layout);

#endif
