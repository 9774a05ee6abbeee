/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_FILES_FUNCTION_COSTS_H
#define WICK_SERVER_FILES_FUNCTION_COSTS_H

/* function_costs: the most expensive functions of a profile, by its main value. */

#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

struct profile;

/*
 * Passes at most `limit` functions, those with the highest cost of their own first. In the total of
 * a function a stack counts once. Functions of equal names are one. Returns 0 or -ENOMEM.
 */
int function_costs_pass(const struct profile *profile, size_t limit, uint32_t from_s, uint32_t to_s,
			store_item_fn each, void *self);

#endif
