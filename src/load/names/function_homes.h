/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_FUNCTION_HOMES_H
#define WICK_LOAD_NAMES_FUNCTION_HOMES_H

/*
 * function_homes: in which file the functions of modules begin, by where they start.
 * Starts as zeros.
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

/* The file, ID_NONE when it was not told. */
uint32_t function_homes_find(const struct function_homes *homes, uint32_t module, uint64_t start);

/* Tells of one that is not there. 0 or -ENOMEM. */
int function_homes_add(struct function_homes *homes, struct function_home home);

#endif
