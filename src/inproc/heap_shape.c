/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap_shape: knows a stack again without walking it.
 *
 * From the frame that a stack begins with and the rules of the code all follows: where the
 * first return address lies, by that the next frame, and so on. So if the frame is the same
 * as once before, and all places in which that stack had its return addresses hold what they
 * held, it is the same stack: each step leads where it led. So must those of saved frame
 * pointers, up to the last frame that is found by one.
 *
 * The places are the shape. Stacks that differ in who called whom from where often have the
 * same one; a hash of what its places hold tells them apart.
 */
#include "inproc/heap_memory.h"

/* 2^64 / golden ratio. */
#define SPREAD 0x9e3779b97f4a7c15ull

/* Two places for each frame: the shape that was met last is in the first. */
static struct heap_shape *places_of(struct heap_memory *memory, const struct unwind_frame *frame)
{
	uint64_t hash = (frame->pc ^ frame->sp << 20) * SPREAD;

	return &memory->shapes[hash >> (64 - HEAP_SHAPE_BITS) & ~1ull];
}

static bool is_of(const struct heap_shape *shape, const struct unwind_frame *frame)
{
	return shape->pc == frame->pc && shape->sp == frame->sp &&
	       (!shape->by_fp || shape->fp == frame->fp);
}

static uint32_t check_of(const struct heap_shape *shape)
{
	return (uint32_t)(shape->pc ^ shape->sp) + shape->count * 0x5bd1e995u;
}

/* What the places of a shape hold, and where it begins. */
static inline __attribute__((always_inline)) uint64_t hash_of(const struct heap_shape *shape)
{
	const uint8_t *from = (const uint8_t *)(uintptr_t)shape->sp;
	uint64_t factor = SPREAD;
	uint64_t sum = shape->pc * 3 + shape->sp * 5 + shape->count;

	for (uint32_t i = 0; i < shape->count; i++)
		sum = heap_hash_slot(sum, *(const uint64_t *)(from + shape->slots[i]), &factor);
	return heap_hash_end(sum);
}

bool heap_shape_find(struct heap_memory *memory, const struct unwind_frame *frame,
		     uint32_t *ret_number)
{
	const struct heap_shape *shapes = places_of(memory, frame);

	for (int i = 0; i < 2; i++)
		if (is_of(&shapes[i], frame) && shapes[i].check == check_of(&shapes[i]) &&
		    heap_numbers_find(memory->met, hash_of(&shapes[i]), ret_number))
			return true;
	return false;
}

/* How many frames, from the root on, are found by sp alone: what fp is there is nobody's matter. */
static uint32_t count_by_sp(const struct unwind_thread *thread)
{
	uint32_t at = 0;

	while (at < thread->anchor_count && !thread->anchors[at].by_fp)
		at++;
	return at;
}

/* Adds a place. False when it cannot be said. */
static bool add_slot(struct heap_shape *shape, uint64_t sp, uint64_t slot)
{
	if (slot < sp || slot - sp > UINT32_MAX || shape->count == HEAP_SHAPE_SLOTS)
		return false;
	shape->slots[shape->count++] = (uint32_t)(slot - sp);
	return true;
}

/* The shape of the stack that was walked last. False when it has places that tell nothing. */
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

		/* The fp that a frame keeps is that of its callers. */
		if (!add_slot(ret, frame->sp, anchor->ra_slot) ||
		    (anchor->fp_slot && at > by_sp && !add_slot(ret, frame->sp, anchor->fp_slot)))
			return false;
	}
	ret->pc = frame->pc;
	ret->sp = frame->sp;
	ret->fp = frame->fp;
	ret->by_fp = by_sp < thread->anchor_count;
	ret->check = check_of(ret);
	return true;
}

/* Whether two shapes of one frame have the same places. */
static bool is_same(const struct heap_shape *one, const struct heap_shape *other)
{
	uint32_t at = one->count;

	if (at != other->count || one->by_fp != other->by_fp)
		return false;
	while (at > 0 && one->slots[at - 1] == other->slots[at - 1])
		at--;
	return at == 0;
}

void heap_shape_learn(struct inproc_thread *thread, const struct unwind_frame *frame,
		      uint32_t number)
{
	struct heap_memory *memory = thread->heap;
	struct heap_shape *shapes = places_of(memory, frame);
	struct heap_shape shape;

	if (!make_shape(&thread->unwind, frame, &shape))
		return;
	if (!is_of(&shapes[0], frame) || !is_same(&shapes[0], &shape)) {
		shapes[1] = shapes[0];
		shapes[0] = shape;
	}
	heap_numbers_add(memory->met, hash_of(&shape), number);
}
