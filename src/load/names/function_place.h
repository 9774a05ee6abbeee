/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_FUNCTION_PLACE_H
#define WICK_LOAD_NAMES_FUNCTION_PLACE_H

/* function_place: finds the file offset of a function, for probe events. */

#include <stdint.h>

struct error;

/* Returns 0, or a negative errno with a message if the file or the function does not exist. */
int function_place_find(void *self, const char *path, const char *function, uint64_t *ret_offset,
			struct error *err);

#endif
