/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIBWICK_SIZED_STRUCT_H
#define WICK_LIBWICK_SIZED_STRUCT_H

/*
 * sized_struct: structs that begin with their size_t size, so that programs and libraries of
 * different age understand each other. What one does not know is 0 to the other.
 */

#include <stddef.h>

struct error;

/*
 * Copies what a caller gave into ours, which is size bytes; NULL leaves zeros. A struct of
 * size 0 is -EINVAL; one with members that we do not know is -E2BIG unless they are 0.
 */
int sized_take(void *ours, size_t size, const void *given, const char *name, struct error *err);

/* Fills what a caller gave, as far as it knows our members; the rest of it stays. */
int sized_hand_out(void *given, const void *ours, size_t size, const char *name, struct error *err);

#endif
