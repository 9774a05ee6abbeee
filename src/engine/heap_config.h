/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_HEAP_CONFIG_H
#define WICK_ENGINE_HEAP_CONFIG_H

/* heap_config: what is to be recorded of the heap. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cfi/entry_code.h"

/* A function of a program's own allocator that is recorded too: see wire/heap_hook.h. */
struct engine_hook {
	const char *name;
	const char *refused; /* why it cannot be, after its name; NULL: it can */
	uint64_t device;     /* of its file */
	uint64_t inode;
	uint64_t vaddr;
	bool is_free;
	uint8_t argument; /* the size, or the block; from 0 */
	uint8_t factor;   /* what the size is multiplied by; UINT8_MAX: nothing */
	struct entry_code entry;
	uint8_t code[ENTRY_CODE_BYTES];
};

#define ENGINE_HOOKS 16u

struct engine_heap {
	bool on;               /* allocations too */
	bool alone;            /* and no samples */
	bool maps;             /* and what programs map by themselves */
	bool lossy;            /* who finds no room drops what it has, and does not wait */
	uint64_t sample_bytes; /* between blocks that are recorded; 0: all are */
	uint64_t step_ns;      /* of the timeline of those who look at it; 0: theirs */
	uint64_t max_bytes;    /* that this takes of a program's memory; 0: no limit */
	bool free_stacks;      /* frees have stacks too: for what is freed twice */
	const struct engine_hook *hooks; /* borrowed until the engine is closed */
	size_t hook_count;               /* ENGINE_HOOKS at most */
	bool attach;                     /* from outside, by probes at the allocator's functions */
	bool force;                      /* whatever that costs */
	const char *allocator;           /* the module that has them; NULL: it is looked for */
	bool leaks; /* programs wait at their end for a scan: engine_next_process() */
};

#endif
