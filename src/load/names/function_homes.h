/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_FUNCTION_HOMES_H
#define WICK_LOAD_NAMES_FUNCTION_HOMES_H

/*
 * function_homes: the source file of each function, by module and start address. Initialise with
 * zeros.
 */

#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"

struct function_home {
	uint32_t module;
	uint32_t file; /* string id */
	uint64_t start;
};

struct function_homes {
	VEC(struct function_home) items;
	struct id_index index;
};

void function_homes_fini(struct function_homes *homes);

/* The file, ID_NONE if it was not added. */
uint32_t function_homes_find(const struct function_homes *homes, uint32_t module, uint64_t start);

/* Adds one that is not in the table yet. Returns 0 or -ENOMEM. */
int function_homes_add(struct function_homes *homes, struct function_home home);

#endif
