/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_LANGUAGE_FILTER_H
#define WICK_VIEW_LANGUAGE_FILTER_H

/* language_filter: the part of a profile that a language takes part in. */

#include "view/language.h"

struct profile;

/*
 * Keeps the stacks with a call in this language, whole. What is known by time, by state and about
 * missing names is dropped with the rest. 0 or -ENOMEM.
 */
int language_filter(struct profile *profile, enum language language);

#endif
