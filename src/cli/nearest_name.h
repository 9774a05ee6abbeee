/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_NEAREST_NAME_H
#define WICK_CLI_NEAREST_NAME_H

/* nearest_name: finds the word that the user probably meant. */

#include <stddef.h>

/*
 * The candidate that begins with text, or that differs from it in at most a third of its letters
 * (one wrong letter is always allowed); NULL if there is none. The first of equals wins.
 */
const char *nearest_name(const char *text, const char *const *candidates, size_t count);

#endif
