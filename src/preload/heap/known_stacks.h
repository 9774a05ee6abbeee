/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_KNOWN_STACKS_H
#define WICK_PRELOAD_HEAP_KNOWN_STACKS_H

/*
 * known_stacks: recognises a stack without walking it.
 *
 * The first frame and the unwind rules determine the position of the first return address, that
 * determines the next frame, and so on. So if the first frame is the same as before, and all
 * positions of return addresses hold the same values, it is the same stack: each step leads to the
 * same frame. The same must hold for saved frame pointers through which frames are found.
 *
 * The positions are the shape. Stacks with different callers often have the same shape; a hash of
 * the values at its positions distinguishes them. Python calls (heap_python.c) are in that hash.
 *
 * Nearly every allocation is recognised here, so the search is inline, and for usual shapes it has
 * their table's sizes as constants.
 */

#include "preload/fallible_load.h"
#include "preload/heap/heap.h"
#include "preload/heap/heap_memory.h"

/* 2^64 / golden ratio. */
#define HEAP_SPREAD 0x9e3779b97f4a7c15ull

/* A table of shapes, which are larger for deep stacks. */
struct heap_shapes {
	uint8_t *begin;
	uint64_t bytes; /* of each */
	uint32_t slots;
	uint32_t bits;
	uint32_t mask; /* of the slots in use */
};

HEAP_INLINE struct heap_shapes heap_usual_shapes(struct heap_memory *memory)
{
	return (struct heap_shapes){(uint8_t *)memory->shapes, sizeof(memory->shapes[0]),
				    HEAP_SHAPE_SLOTS, HEAP_SHAPE_BITS, memory->shapes_mask};
}

HEAP_INLINE uint64_t heap_shape_key(uint64_t pc, uint64_t sp)
{
	return pc * HEAP_SPREAD + sp * 0xbf58476d1ce4e5b9ull;
}

/* Two places for each frame: the most recent shape is in the first. */
HEAP_INLINE struct heap_shape *heap_shape_place(const struct heap_shapes *shapes, uint64_t key,
						uint32_t which)
{
	uint64_t at = (key >> (64 - shapes->bits) & shapes->mask) | which;

	return (struct heap_shape *)(shapes->begin + at * shapes->bytes);
}

HEAP_INLINE uint32_t *heap_shape_slots(const struct heap_shape *shape)
{
	return (uint32_t *)(uintptr_t)(shape + 1);
}

#define HEAP_SLOTS_STEP 4u

/*
 * Each position has its own factor, so differences in two of them do not cancel out. After all of
 * them have been used the sum is mixed.
 */
#define HEAP_FACTORS 64u
extern const uint64_t heap_factors[HEAP_FACTORS] PRELOAD_OWN;

HEAP_INLINE uint64_t heap_shape_sum(const uint8_t *from, const uint32_t *slots, uint64_t count)
{
	uint64_t sum = 0;

#pragma GCC unroll 1
	for (uint64_t i = 0; i < count; i += HEAP_SLOTS_STEP)
#pragma GCC unroll 4
		for (uint64_t k = i; k < i + HEAP_SLOTS_STEP; k++)
			sum += fallible_load((const void *)(from + slots[k])) * heap_factors[k];
	return sum;
}

/*
 * The hash of the values at the positions of a shape, of its first frame and of Python calls. It
 * covers all that the shape says: what the program has overwritten there finds no number.
 */
HEAP_INLINE uint64_t heap_shape_hash(const struct heap_shape *shape, uint64_t key,
				     uint64_t calls_hash)
{
	const uint8_t *from = (const uint8_t *)(uintptr_t)shape->sp;
	const uint32_t *slots = heap_shape_slots(shape);
	uint64_t sum = key + shape->both + calls_hash;
	uint64_t count = shape->count;

	for (; __builtin_expect(count > HEAP_FACTORS, 0); count -= HEAP_FACTORS) {
		sum = heap_hash_end(sum + heap_shape_sum(from, slots, HEAP_FACTORS));
		slots += HEAP_FACTORS;
	}
	return heap_hash_end(sum + heap_shape_sum(from, slots, count));
}

/* Drops a shape that the program has damaged. */
void heap_shape_inspect(struct heap_shape *shape, uint32_t slots);

/* Whether a shape is that of a call, and the number of its stack. */
HEAP_INLINE bool heap_shape_is(struct heap_memory *memory, struct heap_shape *shape, uint32_t slots,
			       const struct heap_site *site, uint64_t calls_hash,
			       uint32_t *ret_number)
{
	uint64_t key = heap_shape_key(site->pc, site->sp);

	if (shape->pc != site->pc || shape->sp != site->sp ||
	    (shape->by_fp && shape->fp != heap_site_fp(site)))
		return false;
	if (__builtin_expect(shape->count <= slots, 1) &&
	    heap_numbers_find(memory, memory->met, heap_shape_hash(shape, key, calls_hash),
			      ret_number))
		return true;
	heap_shape_inspect(shape, slots);
	return false;
}

/* Searches the other places. */
bool heap_shape_find_other(struct heap_memory *memory, const struct heap_site *site,
			   uint64_t calls_hash, uint32_t *ret_number);

/* Finds the number of a known stack, in about a nanosecond per frame. False: it must be walked. */
HEAP_INLINE bool heap_shape_find(struct heap_memory *memory, const struct heap_site *site,
				 uint64_t calls_hash, uint32_t *ret_number)
{
	const struct heap_shapes usual = heap_usual_shapes(memory);
	struct heap_shape *shape = heap_shape_place(&usual, heap_shape_key(site->pc, site->sp), 0);
	uint32_t number;

	if (__builtin_expect(heap_shape_is(memory, shape, usual.slots, site, calls_hash, &number),
			     1)) {
		*ret_number = number;
		return true;
	}
	const struct heap_site copy = *site; /* lets the other be in registers */

	return heap_shape_find_other(memory, &copy, calls_hash, ret_number);
}

void heap_shapes_forget(struct heap_memory *memory);

/* Stores the number of a stack that was walked from a frame. */
void heap_shape_learn(struct preload_thread *thread, const struct unwind_frame *frame,
		      uint32_t number);

#endif
