/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_FUNCTION_PLACE_H
#define WICK_LOAD_NAMES_FUNCTION_PLACE_H

/*
 * function_place: where in a file the code of a function is, for events at it.
 */

#include <stdint.h>

struct error;

/* Returns 0, or a negative errno with words when the file or the function is not there. */
int function_place_find(void *self, const char *path, const char *function, uint64_t *ret_offset,
			struct error *err);

#endif
