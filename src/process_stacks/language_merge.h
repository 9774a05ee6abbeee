/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_LANGUAGE_MERGE_H
#define WICK_PROCESS_STACKS_LANGUAGE_MERGE_H

/*
 * language_merge: puts the calls of an interpreter where its loop is in a native stack.
 *
 *	native   read  call  LOOP  sort  call  LOOP  main
 *	calls    key | sorter  top |                           |: C code calls Python
 *	merged   read  call  key   sort  call  sorter  top  main
 *
 * Each loop is replaced by the calls up to the next one that C code made. A loop without calls, at
 * the moment that it begins or ends, stays. Some loops are two functions: the one that C code calls
 * counts, and the other one, which it calls, is left out. Where C code adds a call
 * before it starts the loop (begins_late), a call without a loop is the leaf.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct language_range;

/*
 * In place of an address: frames are missing here. Loops before it are matched from the leaf, those
 * after it from the root, and the calls of missing ones are put before it.
 */
#define LANGUAGE_MERGE_GAP 0ull

struct language_merge {
	const struct language_range *loops; /* the code of the interpreter's loop */
	size_t loop_count;
	const uint64_t *pcs; /* native, leaf first */
	uint32_t count;
	const uint64_t *words; /* calls, leaf first; see unwind/python_walk.h */
	uint32_t word_count;
	bool whole; /* both reach the root: else they are compared from the leaf */
	bool only;  /* leave out all native frames */
};

/* Whether the native stack has a loop. */
bool language_merge_has_loop(const struct language_merge *merge);

/*
 * Whether calls that were read apart from the native stack can belong to it: C code made as many as
 * there are loops, except for one that begins or ends just now.
 */
bool language_merge_fits(const struct language_merge *merge);

/*
 * Writes the merged stack, leaf first; it has room for all of both. Returns the number, or 0 if a
 * whole stack has no loop. In others, the loops are among the missing frames.
 */
uint32_t language_merge(const struct language_merge *merge, uint64_t *ret);

#endif
