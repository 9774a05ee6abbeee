/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_LANGUAGE_FILTER_H
#define WICK_VIEW_LANGUAGE_FILTER_H

/* language_filter: the part of a profile that a language takes part in. */

#include "model/profile.h"
#include "view/language.h"

/* All zeros: nothing was filtered. */
struct language_filter {
	struct profile *profile; /* NULL: none */
	struct profile all;      /* what it was before */
};

/*
 * Keeps the stacks with a call in this language, whole. What is known by time, by state and about
 * missing names is set aside with the rest. 0 or -ENOMEM. Undo it in any case, before the profile
 * is released.
 */
int language_filter_apply(struct language_filter *filter, struct profile *profile,
			  enum language language);
void language_filter_undo(struct language_filter *filter);

#endif
