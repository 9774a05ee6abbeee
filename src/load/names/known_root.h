/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_KNOWN_ROOT_H
#define WICK_LOAD_NAMES_KNOWN_ROOT_H

/*
 * known_root: decides whether a frame-pointer stack ends at the start of a program or thread.
 *
 * Such a walk stops at the first function without a frame pointer and cannot detect that: the
 * result looks like a complete stack. The outermost function tells the difference: main(), the C
 * library functions that call main() or a thread function, or those of the Go runtime.
 */

#include <stdbool.h>
#include <stdint.h>

struct profile;

/*
 * Whether the outermost function of a location is a root; is_leaf: it is the only location on the
 * stack.
 */
bool known_root_is(const struct profile *profile, uint32_t location, bool is_leaf);

#endif
