/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_MISUSE_H
#define WICK_HEAP_MISUSE_H

/*
 * misuse: blocks that were freed twice, and frees of what no allocator gave, by their stacks.
 *
 * Known of recordings whose frees have stacks. The analysis tells of each free of a live
 * block, and of each that met none: a block that is among the last HEAP_FREES_KEPT frees was
 * freed twice, any other was never there. realloc() of such a pointer counts as a free.
 * Memory is bounded: by what is remembered, and HEAP_MISUSES groups.
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
	HEAP_DOUBLE_FREE,  /* it was freed before, and not allocated since */
	HEAP_FOREIGN_FREE, /* no allocator gave it: another pointer, or one into a block */
};

/* All that happened in one way. Stacks are of the recording, ID_NONE: not known. */
struct heap_misuse {
	enum heap_misuse_kind kind;
	uint32_t stack;           /* of the free that should not have been */
	uint32_t freed_stack;     /* of the first free; of a foreign one ID_NONE, as the next */
	uint32_t allocated_stack; /* of the block's allocation */
	uint64_t count;
	/* Of the first of them: */
	uint64_t address;
	uint64_t size;    /* of the block */
	uint64_t time_ns; /* since the analysis began */
	uint64_t freed_ns;
	uint32_t thread; /* who did it */
	uint32_t freed_thread;
	uint8_t op;   /* HEAP_FREE, or HEAP_MOVE for realloc() */
	uint8_t call; /* enum heap_call */
};

/* A free of a block that was live. */
struct heap_freed {
	uint64_t address;
	uint64_t size;
	uint64_t time_ns;
	uint64_t before; /* the last one before it of the same hash; numbers, + 1 */
	uint32_t space;  /* of heap_live */
	uint32_t stack;
	uint32_t allocated_stack;
	uint32_t thread;
};

struct heap_unmatched {
	struct heap_misuse misuse;
	uint32_t space;
};

/* All zero is an empty one. */
struct heap_misuses {
	VEC(struct heap_misuse) groups; /* in the order of their first */
	uint64_t left_out;              /* misuses of groups that there was no room for */

	/* private */
	struct heap_freed *freed; /* the last ones, in turn; NULL: none yet */
	uint64_t *last;           /* by hash: the number of the last one, + 1 */
	uint64_t freed_count;
	struct heap_unmatched waiting[HEAP_MISUSES_WAITING]; /* the oldest first */
	size_t waiting_count;
};

void heap_misuses_fini(struct heap_misuses *misuses);

/* A live block was freed, by an event of the order. 0 or -ENOMEM. */
int heap_misuses_freed(struct heap_misuses *misuses, const struct heap_event *event,
		       const struct heap_block *block, const struct heap_sites *sites,
		       uint64_t time_ns);

/*
 * No live block was. A child that was forked may free what its parent allocated, once: the
 * dictionary tells who is one. half is what is kept of it in case that its allocation comes all the
 * same, by clocks that differ. 0 or -ENOMEM.
 */
int heap_misuses_unmatched(struct heap_misuses *misuses, const struct dictionary *dictionary,
			   const struct heap_event *event, const struct heap_half *half);

/* It came, of another thread: that free was in order. */
void heap_misuses_matched(struct heap_misuses *misuses, uint32_t space, uint64_t address);

/* Nothing comes any more. 0 or -ENOMEM. */
int heap_misuses_finish(struct heap_misuses *misuses);

#endif
