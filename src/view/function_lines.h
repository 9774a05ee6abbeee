/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_FUNCTION_LINES_H
#define WICK_VIEW_FUNCTION_LINES_H

/*
 * function_lines: for each function of a profile the source line in it that costs most,
 * itself and what it calls together.
 */

#include <stdint.h>

struct profile;

/* One line for each function, 0 where none is known; for free(). 0 or -ENOMEM. */
int function_lines_new(const struct profile *profile, uint32_t value, uint32_t **ret);

#endif
