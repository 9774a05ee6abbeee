/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_FUNCTION_FILES_H
#define WICK_LOAD_NAMES_FUNCTION_FILES_H

/*
 * function_files: the source file of each function, by module and start address. Initialise with
 * zeros.
 */

#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"

struct function_file {
	uint32_t module;
	uint32_t file; /* string id */
	uint64_t start;
};

struct function_files {
	VEC(struct function_file) items;
	struct id_index index;
};

void function_files_fini(struct function_files *homes);

/* The file, ID_NONE if it was not added. */
uint32_t function_files_find(const struct function_files *homes, uint32_t module, uint64_t start);

/* Adds one that is not in the table yet. Returns 0 or -ENOMEM. */
int function_files_add(struct function_files *homes, struct function_file home);

#endif
