/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_HEAP_CONFIG_H
#define WICK_ENGINE_HEAP_CONFIG_H

/* heap_config: what to record of the heap. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cfi/entry_code.h"

/* A function of a program's own allocator to record as well: see wire/heap_hook.h. */
struct engine_hook {
	const char *name;
	const char *refused; /* why it cannot be hooked, printed after its name; NULL: it can */
	uint64_t device;     /* of its file */
	uint64_t inode;
	uint64_t vaddr;
	bool is_free;
	uint8_t argument; /* which argument is the size or the block, counted from 0 */
	uint8_t factor;   /* which argument the size is multiplied by; UINT8_MAX: none */
	struct entry_code entry;
	uint8_t code[ENTRY_CODE_BYTES];
};

#define ENGINE_HOOKS 16u

struct engine_heap {
	bool on;               /* record allocations */
	bool alone;            /* record only allocations, no samples */
	bool maps;             /* record mappings that programs make themselves */
	bool lossy;            /* a thread whose buffer is full drops events instead of waiting */
	uint64_t sample_bytes; /* average bytes between recorded blocks; 0: record all */
	uint64_t step_ns;      /* step of the timeline in views; 0: the default */
	uint64_t max_bytes;    /* limit for our memory in a program; 0: none */
	bool free_stacks;      /* record stacks of frees, to find double frees */
	const struct engine_hook *hooks; /* borrowed until the engine is closed */
	size_t hook_count;               /* at most ENGINE_HOOKS */
	bool attach;           /* record from outside, by probes on the allocator's functions */
	bool force;            /* regardless of cost */
	const char *allocator; /* the module of the allocator; NULL: search for it */
	bool leaks;            /* programs wait at exit for a leak scan: engine_next_process() */
};

#endif
