/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap_stack: stacks are written once, and then referred to by a number. The table of numbers is
 * small: an evicted stack is written again, with a new number.
 *
 * If a stack has more frames than wanted, those at both ends are kept. That requires walking to its
 * root, but not each time over the full depth: the root part of a very deep stack changes seldom,
 * and its return addresses show whether it has.
 */
#include "preload/heap/heap_stack.h"

#include <setjmp.h>
#include <string.h>

#include "preload/heap/heap_budget.h"
#include "preload/heap/heap_python.h"
#include "preload/heap/heap_total.h"
#include "preload/heap/hook.h"
#include "preload/stack.h"
#include "unwind/walk.h"

#define STACK_WORDS (sizeof(struct session_stack) / 8)
/* Limit for attempts on a thread whose stack is too deep to walk. */
#define VAIN_WALKS 16u
/* Additional memory for tables and anchors of a thread with deep stacks. */
#define DEEP_BYTES (512ull << 10)

static uint64_t hash_of(const uint64_t *pcs, uint32_t count, uint32_t end)
{
	uint64_t sum = end;
	uint64_t place = 0;

	for (uint32_t i = 0; i < count; i++)
		sum = heap_hash_add(sum, pcs[i], &place);
	return heap_hash_end(sum);
}

void heap_numbers_add(struct heap_memory *memory, struct heap_numbered *table, uint64_t hash,
		      uint32_t number)
{
	struct heap_numbered *places = heap_numbers_places(memory, table, hash);

	places[1] = places[0];
	places[0] = (struct heap_numbered){.hash = hash, .number = number};
	places[0].check = heap_numbered_check(&places[0]);
}

/* How many frames, counted from the root, equal those of the last written stack. */
static uint32_t count_kept(const struct preload_thread *thread, uint32_t count)
{
	const struct heap_memory *memory = thread->heap;
	const uint64_t *pcs = memory->pcs + count;
	const uint64_t *written = memory->written + thread->heap_written;
	uint32_t most = count < thread->heap_written ? count : thread->heap_written;
	uint32_t kept = 0;

	while (kept < most && pcs[-1 - (int)kept] == written[-1 - (int)kept])
		kept++;
	return kept;
}

/* Writes the stack in memory->pcs to the ring. */
static __attribute__((noinline)) bool define(struct preload_thread *thread, uint32_t count,
					     uint32_t flags)
{
	struct heap_memory *memory = thread->heap;
	uint32_t kept = count_kept(thread, count);
	uint32_t fresh = count - kept;
	uint32_t words = (uint32_t)STACK_WORDS + fresh;
	uint64_t head;
	struct session_stack *to = (struct session_stack *)heap_claim(thread, words, &head);

	if (!to)
		return false;
	to->record = (struct session_record){
		.kind = SESSION_STACK, .flags = (uint16_t)flags, .words = words};
	to->number = thread->heap_numbers;
	to->fresh = (uint16_t)fresh;
	to->kept = (uint16_t)kept;
	for (uint32_t i = 0; i < fresh; i++)
		to->pcs[i] = memory->pcs[i];
	heap_publish(thread, head);
	thread->heap_numbers++;
	memcpy(memory->written, memory->pcs, count * sizeof(uint64_t));
	thread->heap_written = count;
	return true;
}

/* Avoids touching memory that was never written. */
static void forget_one(struct heap_numbered *number, struct heap_numbered *met)
{
	if (number->hash)
		number->hash = 0;
	if (met->hash)
		met->hash = 0;
}

/* After modules were loaded or unloaded, addresses may have another meaning. */
static void forget(struct heap_memory *memory, uint64_t generation)
{
	for (uint32_t i = 0; i < 1u << HEAP_STACK_BITS; i++)
		forget_one(&memory->numbers[i], &memory->met[i]);
	heap_shapes_forget(memory);
	memory->generation = generation;
}

/* Restarts numbers at 0; earlier records refer to the old numbers. */
static __attribute__((noinline)) void begin_numbers(struct preload_thread *thread)
{
	heap_total_put(thread);
	forget(thread->heap, thread->heap->generation);
	thread->heap_numbers = 0;
	thread->heap_written = 0;
}

/* The number of the stack in memory->pcs, with the Python calls in memory->calls. */
static bool number_of(struct preload_thread *thread, uint32_t count, uint32_t flags, uint32_t *ret)
{
	struct heap_memory *memory = thread->heap;
	uint64_t hash = heap_hash_end(hash_of(memory->pcs, count, flags) + memory->calls_hash);

	if (heap_numbers_find(memory, memory->numbers, hash, ret))
		return true;
	if (thread->heap_numbers >= SESSION_STACK_NUMBERS)
		begin_numbers(thread);
	if (!heap_python_send(thread) || !define(thread, count, flags))
		return false;
	*ret = thread->heap_numbers - 1;
	heap_numbers_add(memory, memory->numbers, hash, *ret);
	return true;
}

/* Removes frames in the middle of a stack, so that depth frames and the gap are left. */
static uint32_t shorten(uint64_t *pcs, uint32_t count, uint32_t depth)
{
	uint32_t root = depth / 2;
	uint32_t leaf = depth - root;

	if (count <= depth)
		return count;
	pcs[leaf] = SESSION_GAP;
	memmove(pcs + leaf + 1, pcs + count - root, root * sizeof(uint64_t));
	return depth + 1;
}

/* Native frames, and Python calls after them. */
static void keep_frames(struct heap_frames *frames, const struct heap_memory *memory,
			uint32_t count, uint32_t flags)
{
	const uint64_t *pcs = memory->pcs;
	uint32_t calls =
		memory->call_count < HEAP_FRAMES / 2 ? memory->call_count : HEAP_FRAMES / 2;
	uint32_t room = HEAP_FRAMES - calls;
	uint32_t leaf = room / 2;
	uint32_t root = room - leaf - 1;

	frames->flags = flags;
	frames->count = count < room ? count : room;
	if (count <= room) {
		memcpy(frames->pcs, pcs, count * sizeof(uint64_t));
	} else {
		memcpy(frames->pcs, pcs, leaf * sizeof(uint64_t));
		frames->pcs[leaf] = SESSION_GAP;
		memcpy(frames->pcs + leaf + 1, pcs + count - root, root * sizeof(uint64_t));
	}
	memcpy(frames->pcs + frames->count, memory->calls, calls * sizeof(uint64_t));
	frames->count += calls;
}

/* Keeps the root frames of the last walked stack, if it is deep. */
static void learn_root(struct preload_thread *thread)
{
	const struct unwind_anchor *anchors = thread->unwind.anchors;
	struct heap_memory *memory = thread->heap;
	uint32_t last = HEAP_ROOT_FRAMES - 1;

	if (thread->unwind.anchor_count < 2 * HEAP_ROOT_FRAMES ||
	    (memory->root_count == HEAP_ROOT_FRAMES && memory->root[last].sp == anchors[last].sp &&
	     memory->root[last].pc == anchors[last].pc))
		return;
	memcpy(memory->root, anchors, sizeof(memory->root));
	memory->root_count = HEAP_ROOT_FRAMES;
}

/*
 * Whether the step from a frame still leads to the same frame. The program may have overwritten
 * both.
 */
static bool leads_to(const struct unwind_stack *stack, const struct unwind_anchor *from,
		     const struct unwind_anchor *to)
{
	uint64_t fp = from->fp;

	if (!unwind_on_stack(stack, from->ra_slot) || from->ra_slot % 8 != 0 ||
	    (*(const uint64_t *)(uintptr_t)from->ra_slot & ~preload.unwind.pac_mask) != to->pc)
		return false;
	if (from->fp_slot && (!unwind_on_stack(stack, from->fp_slot) || from->fp_slot % 8 != 0))
		return false;
	if (from->fp_slot)
		fp = *(const uint64_t *)(uintptr_t)from->fp_slot;
	return !to->fp_matters || fp == to->fp;
}

/* Appends the known root frames to a partially walked stack. False: unknown. */
static bool add_root(struct preload_thread *thread, const struct unwind_frame *frame,
		     struct unwind_trace *trace)
{
	const struct unwind_stack stack = {frame->sp, thread->unwind.stack.high - 7};
	const struct unwind_anchor *root = thread->heap->root;
	uint32_t at = thread->heap->root_count == HEAP_ROOT_FRAMES ? HEAP_ROOT_FRAMES : 0;

	if (at == 0 || !unwind_on_stack(&thread->unwind.stack, frame->sp))
		return false;
	for (uint32_t i = at; i-- > 1;)
		if (!leads_to(&stack, &root[i], &root[i - 1]))
			return false;
	trace->count = HEAP_WALK_FRAMES - HEAP_ROOT_FRAMES - 1;
	trace->pcs[trace->count++] = SESSION_GAP; /* the wanted depth may exceed what is there */
	while (at-- > 0)
		trace->pcs[trace->count++] = root[at].pc;
	trace->end = UNWIND_ROOT;
	return true;
}

/* Walks a stack of any depth, and shortens it to the wanted depth. Returns its flags. */
static uint32_t walk_whole(struct preload_thread *thread, const struct unwind_frame *frame,
			   struct unwind_trace *trace)
{
	struct heap_memory *memory = thread->heap;
	bool once = false;
	uint32_t flags;

	trace->pcs = memory->pcs;
	trace->capacity = HEAP_WALK_FRAMES;
	flags = stack_walk(thread, frame, trace);
	if (trace->end == UNWIND_DEPTH && !add_root(thread, frame, trace) &&
	    memory->vain_walks < VAIN_WALKS) {
		once = true;
		trace->capacity = HEAP_WALK_FRAMES_ONCE;
		thread->unwind.anchor_count = 0; /* they do not reach the root */
		flags = stack_walk(thread, frame, trace);
		memory->vain_walks += trace->end == UNWIND_DEPTH;
	}
	if (trace->end == UNWIND_ROOT && (once || thread->unwind.whole))
		learn_root(thread);
	return (flags & ~SESSION_END_MASK) | (uint32_t)trace->end;
}

/* Puts the Python calls after the frames of a stack. */
static uint32_t add_calls(struct heap_memory *memory, uint32_t count)
{
	memcpy(memory->pcs + count, memory->calls, memory->call_count * sizeof(uint64_t));
	return count + memory->call_count;
}

static bool walk(struct preload_thread *thread, const struct unwind_frame *frame,
		 struct heap_frames *ret_frames, uint32_t *ret)
{
	struct unwind_trace trace = {0};
	uint32_t flags = walk_whole(thread, frame, &trace);

	heap_python_read(thread);

	trace.count = hooks_leave_out(trace.pcs, trace.count);
	if (trace.count > 0)
		trace.pcs[0]--; /* in the call, not after it: readers use a leaf as it is */
	if (trace.count > HEAP_ROOT_FRAMES && !thread->heap_deep) {
		thread->heap_deep = true;
		heap_budget_take(DEEP_BYTES);
	}
	if (trace.end != UNWIND_DEPTH)
		trace.count = shorten(trace.pcs, trace.count, stack_depth());
	else if (trace.count > stack_depth()) /* its last frame is not the root */
		trace.count = stack_depth();
	if (ret_frames)
		keep_frames(ret_frames, thread->heap, trace.count, flags);
	if (!number_of(thread, add_calls(thread->heap, trace.count), flags, ret))
		return false;
	heap_shape_learn(thread, frame, *ret);
	return true;
}

/* A walk may fault: see tick_handler_fault(). */
static __attribute__((noinline)) bool walk_guarded(struct preload_thread *thread,
						   const struct heap_site *site,
						   struct heap_frames *ret_frames, uint32_t *ret)
{
	const struct unwind_frame frame = heap_frame_of(site);
	volatile bool done = false;

	if (_setjmp(thread->recovery) == 0) {
		atomic_store_explicit(&thread->guarded, 1, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
		done = walk(thread, &frame, ret_frames, ret);
	}
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&thread->guarded, 0, memory_order_relaxed);
	return done;
}

static inline void look_at_modules(struct heap_memory *memory)
{
	uint64_t generation = heap_stack_generation();

	if (__builtin_expect(memory->generation != generation, 0))
		forget(memory, generation);
}

bool heap_stack_walk(struct preload_thread *thread, const struct heap_site *site, uint32_t *ret)
{
	heap_python_look(thread, true);
	return walk_guarded(thread, site, NULL, ret);
}

bool heap_stack_number_slowly(struct preload_thread *thread, const struct heap_site *site,
			      uint32_t *ret)
{
	struct heap_memory *memory = thread->heap;

	look_at_modules(memory);
	heap_python_look(thread, false);
	if (heap_shape_find(memory, site, memory->calls_hash, ret))
		return true;
	if (memory->calls_hash == 0)
		heap_python_look(thread, true);
	return walk_guarded(thread, site, NULL, ret);
}

bool heap_stack_keep(struct preload_thread *thread, const struct heap_site *site,
		     struct heap_frames *ret_frames, uint32_t *ret)
{
	look_at_modules(thread->heap);
	heap_python_look(thread, true);
	return walk_guarded(thread, site, ret_frames, ret);
}

bool heap_stack_again(struct preload_thread *thread, const struct heap_frames *frames,
		      uint32_t *ret)
{
	struct heap_memory *memory = thread->heap;

	look_at_modules(memory);
	memory->calls_hash = 0; /* they are in the frames, and their code was written before */
	memory->call_count = 0;
	memcpy(memory->pcs, frames->pcs, frames->count * sizeof(uint64_t));
	return number_of(thread, frames->count, frames->flags, ret);
}
