/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PIPELINE_FUNCTION_PLACE_H
#define WICK_PIPELINE_FUNCTION_PLACE_H

/*
 * function_place: where in a file the code of a function is, for events at it.
 */

#include <stdbool.h>
#include <stdint.h>

struct elf_file;
struct error;

/* What a file's symbols say of a name. */
struct function_place {
	bool any;
	bool chosen_at_run_time;
	bool is_old;      /* a version for programs that were linked long ago: another may come */
	bool is_repeated; /* functions in several places have that name */
	uint64_t vaddr;
	uint64_t size; /* 0: not told */
};

/* All names count, also those that share an address. */
void function_place_search(struct elf_file *elf, const char *function, struct function_place *ret);

/* Returns 0, or a negative errno with words when the file or the function is not there. */
int function_place_find(void *self, const char *path, const char *function, uint64_t *ret_offset,
			struct error *err);

#endif
