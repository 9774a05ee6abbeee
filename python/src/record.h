/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_RECORD_H
#define WICK_PYTHON_RECORD_H

/*
 * record: adds blocks to the tables, with the Python stack of the running thread, and removes them.
 *
 * Threads: see tracer.h. None of these functions allocates with Python's or the C library's
 * allocators, except when a code object is seen for the first time (codes.h).
 */

#include "native_walk.h"
#include "tracer.h"

/* The code that requests memory. */
struct record_caller {
	PyThreadState *thread; /* NULL: none */
	bool holds_gil;
	uint32_t domain;
	const struct native_stack *native; /* NULL: not wanted */
	bool may_wait; /* for the GIL, like the function of CPython that it called */
};

/* The site for stacks that could not be stored, for example because memory ran out. */
#define RECORD_UNKNOWN_SITE 0u

/* Adds RECORD_UNKNOWN_SITE. Returns 0 or -ENOMEM. */
int record_begin(struct tracer_table *table);

/*
 * Adds a block. `thread` is the caller's thread state or NULL; holds_gil is whether it holds the
 * GIL. Takes the table's lock.
 */
void record_allocation(struct tracer_table *table, PyThreadState *thread, bool holds_gil,
		       const void *block, size_t size);
/* The same for any caller. For blocks of C code, it does not wait for the GIL. */
void record_block(struct tracer_table *table, const struct record_caller *caller, const void *block,
		  size_t size);
/* Removes a block. Returns whether it was known. Takes the table's lock. */
bool record_free(struct tracer_table *table, const void *block, struct trace_block *ret);
/* Adds back a block that record_free() removed, because it was not freed after all. */
void record_restore(struct tracer_table *table, const struct trace_block *block);

/*
 * Returns the site of the running thread, which holds the GIL. The table must be locked unless it
 * needs no lock.
 */
uint32_t record_site(struct tracer_table *table, PyThreadState *thread);
/* Counts a block for which trace_blocks_put() returned `result`. The same holds for the lock. */
void record_put(struct tracer_table *table, int result, const struct trace_block *block,
		const struct trace_block *old);
/* Updates the peak: `bytes` are live now. */
void record_peak(int64_t bytes);

/* The object was taken from a free list: its block now belongs to the caller. */
void record_reuse(const void *object, const PyTypeObject *type);

/* Adds a block that the program reports. Returns 0 or -ENOMEM. */
int record_tracked(PyThreadState *thread, bool holds_gil, uint32_t domain, uint64_t address,
		   uint64_t size);
void record_untracked(uint32_t domain, uint64_t address);

/* Returns a hint for native_walk() that identifies the thread's innermost Python frame. */
uint64_t record_walk_hint(const PyThreadState *thread);

/* Returns the running thread's state. May be called without the GIL. */
PyThreadState *record_own_thread(bool *ret_holds_gil);

#endif
