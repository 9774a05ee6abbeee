/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_FLAME_FLAME_CHANGE_H
#define WICK_VIEW_FLAME_FLAME_CHANGE_H

/*
 * flame_change: how a box of a differential flame graph changed, as text and as its colour class:
 * m1 … m4 for more, d1 … d4 for less, "same".
 *
 * The colour shows percentage points of the total: what matters to the program, not to the
 * function. A change that the sample counts do not support has no colour.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/quantity.h"

#define FLAME_CHANGE_LEVELS 4

/* Points of the total at which a change gets the next stronger colour. */
extern const double flame_change_steps[FLAME_CHANGE_LEVELS];

/* A change must exceed this many standard deviations to have a colour at all. */
#define FLAME_CHANGE_DEVIATIONS 1.6448536269514722

/* The values of a box, or of the root, on both sides. */
struct flame_sides {
	int64_t before;
	int64_t after;
	uint64_t before_samples;
	uint64_t after_samples;
};

struct flame_change {
	const char *color; /* class */
	const char *mark;  /* "new ", "gone " or "" */
	char sign;         /* '+', '-' or 0: shown in small boxes */
	struct quantity text;
	struct quantity relative;
};

/* Compares shares of the whole, or amounts in a unit. */
struct flame_change flame_change_of(const struct flame_sides *box, const struct flame_sides *whole,
				    bool absolute, const char *unit);

#endif
