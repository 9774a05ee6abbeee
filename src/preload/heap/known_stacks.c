/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * known_stacks: recognises a stack without walking it.
 *
 * The first frame and the unwind rules determine the position of the first return address, that
 * determines the next frame, and so on. So if the first frame is the same as before, and all
 * positions of return addresses hold the same values, it is the same stack: each step leads to the
 * same frame. The same must hold for saved frame pointers, up to the last frame that is found
 * through one.
 *
 * The positions are the shape. Stacks with different callers often have the same shape; a hash of
 * the values at its positions distinguishes them. Python calls (heap_python.c) are in that hash.
 */
#include <string.h>

#include "preload/fallible_load.h"
#include "preload/heap/heap_budget.h"
#include "preload/heap/heap_memory.h"

/* The compiler generates code for both kinds of tables, with their sizes as constants. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* 2^64 / golden ratio. */
#define SPREAD 0x9e3779b97f4a7c15ull

/* A table of shapes, which are larger for deep stacks. */
struct places {
	uint8_t *begin;
	uint64_t bytes; /* of each */
	uint32_t slots;
	uint32_t bits;
	uint32_t mask; /* of the slots in use */
};

static ALWAYS_INLINE struct places usual_places(struct heap_memory *memory)
{
	return (struct places){(uint8_t *)memory->shapes, sizeof(memory->shapes[0]),
			       HEAP_SHAPE_SLOTS, HEAP_SHAPE_BITS, memory->shapes_mask};
}

static ALWAYS_INLINE struct places deep_places(struct heap_memory *memory)
{
	return (struct places){(uint8_t *)memory->deep, sizeof(memory->deep[0]), HEAP_DEEP_SLOTS,
			       HEAP_DEEP_BITS, ~0u};
}

/* Two slots for each frame: the most recent shape is in the first. */
static ALWAYS_INLINE struct heap_shape *place_of(const struct places *places,
						 const struct unwind_frame *frame, uint32_t which)
{
	uint64_t hash = (frame->pc ^ frame->sp << 20) * SPREAD;
	uint64_t at = (hash >> (64 - places->bits) & places->mask & ~1ull) + which;

	return (struct heap_shape *)(places->begin + at * places->bytes);
}

static ALWAYS_INLINE uint32_t *slots_of(const struct heap_shape *shape)
{
	return (uint32_t *)(uintptr_t)(shape + 1);
}

static bool is_of(const struct heap_shape *shape, const struct unwind_frame *frame)
{
	return shape->pc == frame->pc && shape->sp == frame->sp &&
	       (!shape->by_fp || shape->fp == frame->fp);
}

static uint32_t check_of(const struct heap_shape *shape)
{
	return (uint32_t)(shape->pc ^ shape->sp) + shape->count * 0x5bd1e995u + shape->by_fp;
}

static uint32_t slots_check_of(const struct heap_shape *shape)
{
	uint32_t sum = 0x5bd1e995u;

	for (uint32_t i = 0; i < shape->count; i++)
		sum += slots_of(shape)[i];
	return sum;
}

/* The hash of the values at the positions of a shape, of its first frame and of Python calls. */
static ALWAYS_INLINE uint64_t hash_of(const struct heap_memory *memory,
				      const struct heap_shape *shape)
{
	const uint8_t *from = (const uint8_t *)(uintptr_t)shape->sp;
	uint64_t factor = SPREAD;
	uint64_t sum = shape->pc * 3 + shape->sp * 5 + shape->count + memory->calls_hash;

	for (uint32_t i = 0; i < shape->count; i++) {
		const void *at = from + slots_of(shape)[i];

		sum = heap_hash_slot(sum, fallible_load(at), &factor);
	}
	return heap_hash_end(sum);
}

/*
 * Programs may overwrite the table: a damaged shape is dropped. Its positions are checked only if
 * the lookup finds nothing, because those of a damaged shape hold other values.
 */
static __attribute__((noinline)) void look_for_damage(struct heap_shape *shape, uint32_t slots)
{
	if (shape->count <= slots && shape->check == check_of(shape) &&
	    shape->slots_check == slots_check_of(shape))
		return;
	shape->pc = 0;
	heap_budget_error();
}

static ALWAYS_INLINE bool find_in(struct heap_memory *memory, const struct places *places,
				  const struct unwind_frame *frame, uint32_t *ret_number)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct heap_shape *shape = place_of(places, frame, i);

		if (!is_of(shape, frame))
			continue;
		if (shape->check == check_of(shape) && shape->count <= places->slots &&
		    heap_numbers_find(memory, memory->met, hash_of(memory, shape), ret_number))
			return true;
		look_for_damage(shape, places->slots);
	}
	return false;
}

static __attribute__((noinline)) bool find_deep(struct heap_memory *memory,
						const struct unwind_frame *frame,
						uint32_t *ret_number)
{
	struct places deep = deep_places(memory);

	return find_in(memory, &deep, frame, ret_number);
}

bool heap_shape_find(struct heap_memory *memory, const struct unwind_frame *frame,
		     uint32_t *ret_number)
{
	struct places usual = usual_places(memory);

	return find_in(memory, &usual, frame, ret_number) ||
	       (memory->has_deep && find_deep(memory, frame, ret_number));
}

void heap_shapes_forget(struct heap_memory *memory)
{
	for (uint32_t i = 0; i < 1u << HEAP_SHAPE_BITS; i++)
		if (memory->shapes[i].shape.pc)
			memory->shapes[i].shape.pc = 0;
	for (uint32_t i = 0; memory->has_deep && i < 1u << HEAP_DEEP_BITS; i++)
		memory->deep[i].shape.pc = 0;
	memory->has_deep = 0;
}

/* How many frames, counted from the root, are found through sp alone: their fp does not matter. */
static uint32_t count_by_sp(const struct unwind_thread *thread)
{
	uint32_t at = 0;

	while (at < thread->anchor_count && !thread->anchors[at].by_fp)
		at++;
	return at;
}

/* Adds a position. False: it cannot be represented. */
static bool add_slot(struct heap_shape *shape, uint64_t sp, uint64_t slot)
{
	if (slot < sp || slot - sp > UINT32_MAX || shape->count == HEAP_DEEP_SLOTS)
		return false;
	slots_of(shape)[shape->count++] = (uint32_t)(slot - sp);
	return true;
}

/* Makes the shape of the last walked stack. False: some positions are unknown. */
static bool make_shape(const struct unwind_thread *thread, const struct unwind_frame *frame,
		       struct heap_shape *ret)
{
	uint32_t by_sp = count_by_sp(thread);

	if (!thread->whole || frame->exact || !unwind_on_stack(&thread->stack, frame->sp))
		return false;
	ret->count = 0;
	/* The frame at the root leads nowhere. */
	for (uint32_t at = thread->anchor_count; at-- > 1;) {
		const struct unwind_anchor *anchor = &thread->anchors[at];

		/* A frame saves the fp of its caller. */
		if (!add_slot(ret, frame->sp, anchor->ra_slot) ||
		    (anchor->fp_slot && at > by_sp && !add_slot(ret, frame->sp, anchor->fp_slot)))
			return false;
	}
	ret->pc = frame->pc;
	ret->sp = frame->sp;
	ret->fp = frame->fp;
	ret->by_fp = by_sp < thread->anchor_count;
	ret->check = check_of(ret);
	ret->slots_check = slots_check_of(ret);
	return true;
}

/* Whether two shapes of one frame have the same places. */
static bool is_same(const struct heap_shape *one, const struct heap_shape *other)
{
	uint32_t at = one->count;

	if (at != other->count || one->by_fp != other->by_fp)
		return false;
	while (at > 0 && slots_of(one)[at - 1] == slots_of(other)[at - 1])
		at--;
	return at == 0;
}

static void copy_shape(struct heap_shape *to, const struct heap_shape *from)
{
	memcpy(to, from, sizeof(*to) + from->count * sizeof(uint32_t));
}

/* Deep stacks are stored only when seen again, because a recursion has one for each level. */
static bool is_passing(struct heap_memory *memory, const struct unwind_thread *thread,
		       const struct unwind_frame *frame)
{
	uint64_t key = frame->pc ^ frame->sp << 20;
	bool again = memory->deep_key == key;

	if (thread->anchor_count <= HEAP_SHAPE_SLOTS)
		return false;
	memory->deep_key = key;
	return !again;
}

void heap_shape_learn(struct preload_thread *thread, const struct unwind_frame *frame,
		      uint32_t number)
{
	struct heap_memory *memory = thread->heap;
	struct heap_shape *made = &memory->made.shape;
	struct places places;
	struct heap_shape *first;

	if (is_passing(memory, &thread->unwind, frame) || !make_shape(&thread->unwind, frame, made))
		return;
	places = made->count <= HEAP_SHAPE_SLOTS ? usual_places(memory) : deep_places(memory);
	memory->has_deep |= made->count > HEAP_SHAPE_SLOTS;
	first = place_of(&places, frame, 0);
	if (!is_of(first, frame) || !is_same(first, made)) {
		if (first->count <= places.slots)
			copy_shape(place_of(&places, frame, 1), first);
		copy_shape(first, made);
	}
	heap_numbers_add(memory, memory->met, hash_of(memory, made), number);
}
