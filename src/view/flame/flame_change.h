/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_FLAME_FLAME_CHANGE_H
#define WICK_VIEW_FLAME_FLAME_CHANGE_H

/*
 * flame_change: how a box of a differential flame graph changed, in words and as
 * the class of its colour: m1 … m4 for more, d1 … d4 for less, "same".
 *
 * The colour tells points of the whole: what matters to the program, not to the
 * function. What counts of samples do not bear out has no colour.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/quantity.h"

#define FLAME_CHANGE_LEVELS 4

/* Points of the whole from which on a change has the next stronger colour. */
extern const double flame_change_steps[FLAME_CHANGE_LEVELS];

/* So many standard deviations are as likely as a change must be to have a colour at all. */
#define FLAME_CHANGE_DEVIATIONS 1.6448536269514722

/* What a box, or the root, has on both sides. */
struct flame_sides {
	int64_t before;
	int64_t after;
	uint64_t before_samples;
	uint64_t after_samples;
};

struct flame_change {
	const char *color; /* class */
	const char *mark;  /* "new ", "gone " or "" */
	char sign;         /* '+', '-' or 0: what there is room for in small boxes */
	struct quantity text;
	struct quantity relative;
};

/* Compares shares of the whole, or amounts in a unit. */
struct flame_change flame_change_of(const struct flame_sides *box, const struct flame_sides *whole,
				    bool absolute, const char *unit);

#endif
