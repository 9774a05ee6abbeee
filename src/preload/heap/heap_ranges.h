/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_HEAP_RANGES_H
#define WICK_PRELOAD_HEAP_HEAP_RANGES_H

/*
 * heap_ranges: the mappings of the program, with the stacks that made them. Ranges may be unmapped
 * in parts: the rest keeps the frames of its mapping.
 *
 * A table has no lock: the caller does the locking. All zero is empty.
 */

#include <stdbool.h>
#include <stdint.h>

#define HEAP_RANGES 4096u
#define HEAP_FRAMES 126u

/* The frames of a stack, leaf first, without the middle ones if there are many. */
struct heap_frames {
	uint32_t count;
	uint32_t flags; /* how it ended, as in session_stack */
	uint64_t pcs[HEAP_FRAMES];
};

struct heap_range {
	uint64_t begin;
	uint64_t end;
};

struct heap_ranges {
	uint32_t count;
	uint32_t damaged; /* ranges that were overwritten and dropped */
	struct heap_range items[HEAP_RANGES];
	uint64_t checks[HEAP_RANGES]; /* checksums of each range and its frames */
	struct heap_frames frames[HEAP_RANGES];
};

/* A range that is at least partly in the memory to be unmapped. */
struct heap_cut {
	struct heap_range whole;
	bool head; /* a part below is left, and is now a range; */
	bool tail; /* the same above */
	struct heap_frames frames;
};

/* Adds a range that overlaps no other. False: no space. */
bool heap_ranges_add(struct heap_ranges *ranges, uint64_t begin, uint64_t end,
		     const struct heap_frames *frames);

/*
 * Cuts one range that overlaps begin to end. False: none. The rest of a cut range no longer
 * overlaps, so call this until it returns false.
 */
bool heap_ranges_cut(struct heap_ranges *ranges, uint64_t begin, uint64_t end,
		     struct heap_cut *ret);

#endif
