/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_KNOWN_ROOT_H
#define WICK_LOAD_NAMES_KNOWN_ROOT_H

/*
 * known_root: whether a stack that frame pointers gave ends where programs and threads begin.
 *
 * Such a walk stops at the first function without a frame pointer and cannot say so: what
 * it found looks like a whole stack. The function at its end tells: main(), those of the C
 * library that call it or a thread's function, or those of Go's runtime.
 */

#include <stdbool.h>
#include <stdint.h>

struct profile;

/* Whether the outermost function of a location is one; is_leaf: nothing else is on the stack. */
bool known_root_is(const struct profile *profile, uint32_t location, bool is_leaf);

#endif
