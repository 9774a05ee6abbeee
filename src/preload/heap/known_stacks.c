/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/heap/known_stacks.h"

#include <string.h>

#include "preload/heap/heap_budget.h"

/* The first multiples of an odd number, mixed. */
#define MULTIPLE(n) (((n) + 1ull) * HEAP_SPREAD)
#define FACTOR(n) ((MULTIPLE(n) ^ MULTIPLE(n) >> 30) * 0xbf58476d1ce4e5b9ull | 1)
#define FACTORS_4(n) FACTOR(n), FACTOR((n) + 1), FACTOR((n) + 2), FACTOR((n) + 3)
#define FACTORS_16(n) FACTORS_4(n), FACTORS_4((n) + 4), FACTORS_4((n) + 8), FACTORS_4((n) + 12)
const uint64_t heap_factors[HEAP_FACTORS] = {FACTORS_16(0), FACTORS_16(16), FACTORS_16(32),
					     FACTORS_16(48)};

static struct heap_shapes deep_shapes(struct heap_memory *memory)
{
	return (struct heap_shapes){(uint8_t *)memory->deep, sizeof(memory->deep[0]),
				    HEAP_DEEP_SLOTS, HEAP_DEEP_BITS, ~1u};
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
		sum += heap_shape_slots(shape)[i];
	return sum;
}

/* Its positions are checked only here: those of a damaged shape hold other values. */
__attribute__((noinline, cold)) void heap_shape_inspect(struct heap_shape *shape, uint32_t slots)
{
	if (shape->count <= slots && shape->check == check_of(shape) &&
	    shape->slots_check == slots_check_of(shape))
		return;
	shape->pc = 0;
	heap_budget_error();
}

static bool find_deep(struct heap_memory *memory, const struct heap_site *site, uint64_t calls_hash,
		      uint32_t *ret_number)
{
	const struct heap_shapes deep = deep_shapes(memory);

	for (uint32_t i = 0; i < 2; i++) {
		struct heap_shape *shape =
			heap_shape_place(&deep, heap_shape_key(site->pc, site->sp), i);

		if (heap_shape_is(memory, shape, HEAP_DEEP_SLOTS, site, calls_hash, ret_number))
			return true;
	}
	return false;
}

__attribute__((noinline)) bool heap_shape_find_other(struct heap_memory *memory,
						     const struct heap_site *site,
						     uint64_t calls_hash, uint32_t *ret_number)
{
	const struct heap_shapes usual = heap_usual_shapes(memory);
	struct heap_shape *second = heap_shape_place(&usual, heap_shape_key(site->pc, site->sp), 1);

	return heap_shape_is(memory, second, HEAP_SHAPE_SLOTS, site, calls_hash, ret_number) ||
	       (memory->has_deep && find_deep(memory, site, calls_hash, ret_number));
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

/* Adds a position. False: it cannot be represented. */
static bool add_slot(struct heap_shape *shape, uint64_t sp, uint64_t slot)
{
	if (slot < sp || slot - sp > UINT32_MAX || shape->count == HEAP_DEEP_SLOTS)
		return false;
	heap_shape_slots(shape)[shape->count++] = (uint32_t)(slot - sp);
	return true;
}

/* Makes the shape of the last walked stack. False: some positions are unknown. */
static bool make_shape(const struct unwind_thread *thread, const struct unwind_frame *frame,
		       struct heap_shape *ret)
{
	if (!thread->whole || frame->exact || !unwind_on_stack(&thread->stack, frame->sp))
		return false;
	ret->count = 0;
	/* The frame at the root leads nowhere. */
	for (uint32_t at = thread->anchor_count; at-- > 1;) {
		const struct unwind_anchor *anchor = &thread->anchors[at];

		/* A frame saves the fp of its caller. */
		if (!add_slot(ret, frame->sp, anchor->ra_slot) ||
		    (anchor->fp_slot && anchor[-1].fp_matters &&
		     !add_slot(ret, frame->sp, anchor->fp_slot)))
			return false;
	}
	/* So that some are read at a time. Both limits are multiples of that. */
	while (ret->count % HEAP_SLOTS_STEP != 0)
		(void)add_slot(ret, 0, heap_shape_slots(ret)[ret->count - 1]);
	ret->pc = frame->pc;
	ret->sp = frame->sp;
	ret->fp = frame->fp;
	ret->by_fp = thread->anchors[thread->anchor_count - 1].fp_matters;
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
	while (at > 0 && heap_shape_slots(one)[at - 1] == heap_shape_slots(other)[at - 1])
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
	uint64_t key = heap_shape_key(frame->pc, frame->sp);
	struct heap_shapes shapes;
	struct heap_shape *first;

	if (is_passing(memory, &thread->unwind, frame) || !make_shape(&thread->unwind, frame, made))
		return;
	shapes = made->count <= HEAP_SHAPE_SLOTS ? heap_usual_shapes(memory) : deep_shapes(memory);
	memory->has_deep |= made->count > HEAP_SHAPE_SLOTS;
	first = heap_shape_place(&shapes, key, 0);
	if (!is_of(first, frame) || !is_same(first, made)) {
		if (first->count <= shapes.slots)
			copy_shape(heap_shape_place(&shapes, key, 1), first);
		copy_shape(first, made);
	}
	heap_numbers_add(memory, memory->met, heap_shape_hash(made, key, memory->calls_hash),
			 number);
}
