/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIBWICK_SIZED_STRUCT_H
#define WICK_LIBWICK_SIZED_STRUCT_H

/*
 * sized_struct: structs that begin with `size_t size`, so that programs and libraries of different
 * versions work together. Members that one side does not know are 0 for the other.
 */

#include <stddef.h>

struct error;

/*
 * Copies the caller's struct into ours, which has `size` bytes; NULL leaves zeros. Returns -EINVAL
 * for a struct of size 0, and -E2BIG if a member that we do not know is not 0.
 */
int sized_take(void *ours, size_t size, const void *given, const char *name, struct error *err);

/* Fills the caller's struct as far as it has our members; the rest of it is unchanged. */
int sized_hand_out(void *given, const void *ours, size_t size, const char *name, struct error *err);

#endif
