/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_FUNCTION_LINES_H
#define WICK_VIEW_FUNCTION_LINES_H

/* function_lines: the most expensive source line of each function of a profile, by total cost. */

#include <stdint.h>

struct profile;

/* *ret has one line for each function, 0 where unknown; the caller frees it. 0 or -ENOMEM. */
int function_lines_new(const struct profile *profile, uint32_t value, uint32_t **ret);

#endif
