/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_UNWIND_OWN_STACK_H
#define WICK_UNWIND_OWN_STACK_H

/*
 * own_stack: walks the stack of the calling thread, from signal handlers and allocation hooks
 * alike. Allocates nothing, locks nothing, calls nothing.
 *
 * What each part of a process needs:
 *	struct unwind_own   one: the list of modules
 *	struct unwind_thread   one for each thread, zeroed: its stack, its cache of rules
 *	                       and of its last stack
 *
 * Threads: any number may walk while one publishes modules. Readers are wait-free; the publisher
 * uses unwind_thread_walks() to find out when an old list is unused. A walk that interrupts another
 * walk of its own thread does not use the cache.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "unwind/frame.h"
#include "unwind/walk.h"

/* The modules of a process. A list never changes; a change makes a new list. */
struct unwind_modules {
	uint64_t generation; /* differs from that of every other list; not 0 */
	uint32_t count;
	bool unknown_code; /* as in struct unwind_space */
	/*
	 * Sorted. They stay mapped as long as the list is published: a hook of dlclose publishes
	 * before the module is unloaded.
	 */
	struct unwind_module items[];
};

struct unwind_own {
	_Atomic(const struct unwind_modules *) modules; /* NULL: frame pointers only */
	uint64_t pac_mask;
};

/*
 * Makes modules the current list and returns the previous one. That one may be freed once every
 * thread was seen outside a walk after the exchange: its walks() is even, or has changed since.
 * Between the exchange and checking the threads there must be a barrier for all of them,
 * membarrier(2).
 */
const struct unwind_modules *unwind_own_publish(struct unwind_own *own,
						const struct unwind_modules *modules);

#define UNWIND_CACHE_BITS 10
#define UNWIND_ANCHORS 4096 /* memory is used as needed */

/* The rule for a pc. */
struct unwind_cached {
	uint64_t after; /* the pc as looked up, plus one: a return address; 0: free */
	struct unwind_rule rule;
	bool is_code;
	bool is_plain; /* its slots are aligned and relative to sp or fp: see walk_plainly() */
	int16_t ra_at; /* of the return address, if it is plain, from sp or fp */
};

/*
 * A frame of the last stack, and where its caller was found. The caller's state depends only on
 * this state and the two slots: while they have the same values, it is the same.
 */
struct unwind_anchor {
	uint64_t pc; /* 0: this frame cannot be recognised */
	uint64_t sp;
	uint64_t fp;
	uint64_t ra_slot; /* 0: the step to the caller must be repeated */
	uint64_t fp_slot; /* 0: the caller has the same fp */
	bool by_fp;       /* fp leads to the caller; else only sp does */
	/*
	 * Some frame from here to the root is found through this fp. Otherwise it may be any value:
	 * on x86-64 most code uses the register for other things.
	 */
	bool fp_matters;
};

struct unwind_thread {
	struct unwind_stack stack; /* set and maintained by the owner */
	struct unwind_stack alternate;
	bool no_cache; /* for measurements */
	bool no_anchors;
	_Atomic uint32_t walks; /* odd while the thread walks */
	uint32_t anchor_count;
	bool whole; /* the anchors are all frames of the last stack, which reached the root */
	uint64_t generation; /* of the modules that everything below is based on */
	uint64_t reused;     /* frames that were reused from the last stack, for statistics */
	struct unwind_cached cache[1u << UNWIND_CACHE_BITS];
	/*
	 * Of the last stack, root first; of a deeper stack, the frames next to where the walk
	 * ended.
	 */
	struct unwind_anchor anchors[UNWIND_ANCHORS];
	struct unwind_anchor fresh[UNWIND_ANCHORS]; /* of the current walk, leaf first, as a ring */
};

/* Incremented when a walk begins and when it ends. */
uint32_t unwind_thread_walks(const struct unwind_thread *thread);

/*
 * Walks from start, like unwind_walk(). If start is not on thread->stack, there is no walk:
 * coroutines must set thread->stack.
 */
void unwind_own_walk(struct unwind_own *own, struct unwind_thread *thread,
		     const struct unwind_frame *start, struct unwind_trace *trace);

#endif
