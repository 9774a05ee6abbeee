/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_KNOWN_MODULES_H
#define WICK_PROCESS_STACKS_KNOWN_MODULES_H

/*
 * known_modules: parts of files that were seen before: all processes that map one share the result.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "proc/module_file.h"

struct known_module {
	struct build_id build_id; /* as reported */
	uint64_t device;
	uint64_t inode;
	uint64_t file_offset;
	uint32_t path;           /* string id */
	uint32_t module;         /* in the sink */
	uint64_t map_vaddr;      /* start of the mapping - bias */
	uint64_t looked_ns;      /* when the file was last read, CLOCK_MONOTONIC */
	struct file_stamp stamp; /* of the file then */
	bool guessed;   /* the file could not be read: another process may have better access */
	bool rewritten; /* by now it has other contents than those that were mapped */
};

/* Starts as zeros. */
struct known_modules {
	VEC(struct known_module) items;
	struct id_index index;
};

void known_modules_fini(struct known_modules *modules);

/* Completes *part with what is known about it. False if nothing is. */
bool known_modules_find(const struct known_modules *modules, struct known_module *part);

/*
 * Whether a part that was found is still the same: its path, seen from here, leads to the file with
 * the same stamp. Looking it up through its process takes three times as long.
 */
bool known_modules_confirm(struct known_modules *modules, struct known_module *part,
			   const char *path, uint64_t now_ns);

/* Replaces what was known about it. 0 or -ENOMEM. */
int known_modules_put(struct known_modules *modules, const struct known_module *part);

#endif
