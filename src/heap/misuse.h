/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_MISUSE_H
#define WICK_HEAP_MISUSE_H

/*
 * misuse: double frees and frees of pointers that no allocator returned, by their stacks.
 *
 * Only available if frees were recorded with stacks. The analysis reports each free of a live
 * block, and each free that matches none: if the pointer is among the last HEAP_FREES_KEPT frees,
 * the block was freed twice, else it was never allocated. realloc() of such a pointer counts as a
 * free. Memory is bounded by HEAP_FREES_KEPT frees and HEAP_MISUSES groups.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/heap_event.h"

struct dictionary;
struct heap_block;
struct heap_half;
struct heap_sites;

#define HEAP_FREES_KEPT 65536u
#define HEAP_MISUSES 4096u
#define HEAP_MISUSES_WAITING 64u

enum heap_misuse_kind {
	HEAP_DOUBLE_FREE,  /* freed before, and not allocated since */
	HEAP_FOREIGN_FREE, /* not returned by an allocator: another pointer, or one into a block */
};

/* All misuses with the same stacks. Stacks are of the recording; ID_NONE: unknown. */
struct heap_misuse {
	enum heap_misuse_kind kind;
	uint32_t stack;       /* of the wrong free */
	uint32_t freed_stack; /* of the first free; ID_NONE for a foreign free, as is the next */
	uint32_t allocated_stack; /* of the block's allocation */
	uint64_t count;
	/* Of the first occurrence: */
	uint64_t address;
	uint64_t size;    /* of the block */
	uint64_t time_ns; /* since the analysis began */
	uint64_t freed_ns;
	uint32_t thread; /* thread of the wrong free */
	uint32_t freed_thread;
	uint8_t op;   /* HEAP_FREE, or HEAP_MOVE for realloc() */
	uint8_t call; /* enum heap_call */
};

/* A free of a block that was live. */
struct heap_freed {
	uint64_t address;
	uint64_t size;
	uint64_t time_ns;
	uint64_t before; /* number of the previous free with the same hash, + 1 */
	uint32_t space;  /* of heap_live */
	uint32_t stack;
	uint32_t allocated_stack;
	uint32_t thread;
};

struct heap_unmatched {
	struct heap_misuse misuse;
	uint32_t space;
};

/* All zero is empty. */
struct heap_misuses {
	VEC(struct heap_misuse) groups; /* in the order of their first occurrence */
	uint64_t left_out;              /* misuses beyond the limit of groups */

	/* private */
	struct heap_freed *freed; /* ring of the last frees; NULL: none yet */
	uint64_t *last;           /* by hash: number of the last free, + 1 */
	uint64_t freed_count;
	struct heap_unmatched waiting[HEAP_MISUSES_WAITING]; /* oldest first */
	size_t waiting_count;
};

void heap_misuses_fini(struct heap_misuses *misuses);

/* Reports that an event freed a live block. 0 or -ENOMEM. */
int heap_misuses_freed(struct heap_misuses *misuses, const struct heap_event *event,
		       const struct heap_block *block, const struct heap_sites *sites,
		       uint64_t time_ns);

/*
 * Reports a free that matched no live block. A forked child may free once what its parent
 * allocated: the dictionary says which processes are children. half is kept in case the allocation
 * still arrives because of clock skew. 0 or -ENOMEM.
 */
int heap_misuses_unmatched(struct heap_misuses *misuses, const struct dictionary *dictionary,
			   const struct heap_event *event, const struct heap_half *half);

/* Reports that the allocation arrived from another thread: the free was valid. */
void heap_misuses_matched(struct heap_misuses *misuses, uint32_t space, uint64_t address);

/* Reports the end of events. 0 or -ENOMEM. */
int heap_misuses_finish(struct heap_misuses *misuses);

#endif
