/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_RECORD_H
#define WICK_PYTHON_RECORD_H

/*
 * record: puts blocks into the tables, with the Python stack of the running thread, and takes them
 * out again.
 *
 * Threads: see tracer.h. None of these allocates memory of Python's or of the C library, except
 * when a code object is seen for the first time (codes.h).
 */

#include "native_walk.h"
#include "tracer.h"

/* Who asks for memory. */
struct record_caller {
	PyThreadState *thread; /* NULL: none */
	bool holds_gil;
	uint32_t domain;
	const struct native_stack *native; /* NULL: not wanted */
};

/* The site of a walk that found no memory or no room. */
#define RECORD_UNKNOWN_SITE 0u

/* Makes the sites for stacks that are not known. Returns 0 or -ENOMEM. */
int record_begin(struct tracer_table *table);

/*
 * Adds a block. `thread` is the caller's thread state or NULL; holds_gil says whether it holds the
 * GIL. Takes the table's lock.
 */
void record_allocation(struct tracer_table *table, PyThreadState *thread, bool holds_gil,
		       const void *block, size_t size);
/* The same for any caller. Without the GIL, blocks of C code do not wait for it. */
void record_block(struct tracer_table *table, const struct record_caller *caller, const void *block,
		  size_t size);
/* Removes a block. Returns whether it was known. Takes the table's lock. */
bool record_free(struct tracer_table *table, const void *block, struct trace_block *ret);
/* Adds a block again that record_free() returned: it was not freed after all. */
void record_restore(struct tracer_table *table, const struct trace_block *block);

/* The site of the running thread, which holds the GIL. The table is locked, or needs no lock. */
uint32_t record_site(struct tracer_table *table, PyThreadState *thread);
/* Counts a block for which trace_blocks_put() returned `result`. The table is locked likewise. */
void record_put(struct tracer_table *table, int result, const struct trace_block *block,
		const struct trace_block *old);
/* So many bytes are live. */
void record_peak(int64_t bytes);

/* The object was taken from a free list: its block belongs to the caller from now on. */
void record_reuse(const void *object, const PyTypeObject *type);

/* A block that the program reports: returns 0 or -ENOMEM. */
int record_tracked(PyThreadState *thread, bool holds_gil, uint32_t domain, uint64_t address,
		   uint64_t size);
void record_untracked(uint32_t domain, uint64_t address);

/* For native_walk(): where the thread's innermost Python call is. */
uint64_t record_walk_hint(const PyThreadState *thread);

/* The running thread's state for a call that may be made without the GIL. */
PyThreadState *record_own_thread(bool *ret_holds_gil);

#endif
