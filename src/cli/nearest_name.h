/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_NEAREST_NAME_H
#define WICK_CLI_NEAREST_NAME_H

/* nearest_name: the word a person probably meant. */

#include <stddef.h>

/*
 * The candidate that text begins, or that differs from it in at most
 * a third of its letters (but one is always forgiven); NULL when there is none. The first of equals
 * wins.
 */
const char *nearest_name(const char *text, const char *const *candidates, size_t count);

#endif
