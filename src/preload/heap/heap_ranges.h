/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_HEAP_RANGES_H
#define WICK_PRELOAD_HEAP_HEAP_RANGES_H

/*
 * heap_ranges: what the program has mapped, by whom. Ranges may be unmapped in parts: what
 * is left of one keeps the frames that it was mapped by.
 *
 * Nobody is kept out of a table: the caller does that. One that is all zero is empty.
 */

#include <stdbool.h>
#include <stdint.h>

#define HEAP_RANGES 4096u
#define HEAP_FRAMES 126u

/* The frames of a stack from the leaf on, without those in its midst when there are many. */
struct heap_frames {
	uint32_t count;
	uint32_t flags; /* how it ended: as of session_stack */
	uint64_t pcs[HEAP_FRAMES];
};

struct heap_range {
	uint64_t begin;
	uint64_t end;
};

struct heap_ranges {
	uint32_t count;
	uint32_t damaged; /* ranges that somebody wrote over: they are forgotten */
	struct heap_range items[HEAP_RANGES];
	uint64_t checks[HEAP_RANGES]; /* of each, and its frames */
	struct heap_frames frames[HEAP_RANGES];
};

/* A range that lay in what is to be unmapped, at least in part. */
struct heap_cut {
	struct heap_range whole;
	bool head; /* something is left below, and is a range now; */
	bool tail; /* above */
	struct heap_frames frames;
};

/* A range that meets no other. False when there is no room. */
bool heap_ranges_add(struct heap_ranges *ranges, uint64_t begin, uint64_t end,
		     const struct heap_frames *frames);

/*
 * Cuts one range that meets begin to end. False when there is none: what is left of one does
 * not meet it any more, so it is to be called until then.
 */
bool heap_ranges_cut(struct heap_ranges *ranges, uint64_t begin, uint64_t end,
		     struct heap_cut *ret);

#endif
