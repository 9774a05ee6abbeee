/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap_stack: stacks are written once, and named by a number after that. The table of
 * numbers is small: a stack that has left it is written again, under another number.
 */
#include <setjmp.h>
#include <stdatomic.h>

#include "inproc/heap_memory.h"
#include "inproc/hook.h"
#include "inproc/stack.h"
#include "unwind/walk.h"

#define STACK_WORDS (sizeof(struct session_stack) / 8)
static uint64_t hash_of(const uint64_t *pcs, uint32_t count, uint32_t end)
{
	uint64_t sum = end;
	uint64_t place = 0;

	for (uint32_t i = 0; i < count; i++)
		sum = heap_hash_add(sum, pcs[i], &place);
	return heap_hash_end(sum);
}

static uint32_t check_of(const struct heap_numbered *numbered)
{
	return (uint32_t)(numbered->hash >> 32) ^ numbered->number ^ 0x5bd1e995u;
}

/* Two places for each hash. */
static struct heap_numbered *places_of(struct heap_numbered *table, uint64_t hash)
{
	return &table[hash >> (64 - HEAP_STACK_BITS) & ~1ull];
}

bool heap_numbers_find(struct heap_numbered *table, uint64_t hash, uint32_t *ret)
{
	const struct heap_numbered *places = places_of(table, hash);
	uint32_t at = places[0].hash == hash ? 0 : 1;

	if (places[at].hash != hash)
		return false;
	*ret = places[at].number;
	if (places[at].check == check_of(&places[at]))
		return true;
	inproc_count(SESSION_HEAP_DAMAGED, 1);
	return false;
}

void heap_numbers_add(struct heap_numbered *table, uint64_t hash, uint32_t number)
{
	struct heap_numbered *places = places_of(table, hash);

	places[1] = places[0];
	places[0] = (struct heap_numbered){.hash = hash, .number = number};
	places[0].check = check_of(&places[0]);
}

/* How many frames, from the root on, are those of the stack that was written last. */
static uint32_t count_kept(const struct heap_memory *memory, uint32_t count)
{
	const uint64_t *pcs = memory->pcs + count;
	const uint64_t *written = memory->written + memory->written_count;
	uint32_t most = count < memory->written_count ? count : memory->written_count;
	uint32_t kept = 0;

	while (kept < most && pcs[-1 - (int)kept] == written[-1 - (int)kept])
		kept++;
	return kept;
}

/* Writes the stack in memory->pcs down. */
static __attribute__((noinline)) bool define(struct inproc_thread *thread, uint32_t count,
					     uint32_t flags)
{
	struct heap_memory *memory = thread->heap;
	uint32_t kept = count_kept(memory, count);
	uint32_t fresh = count - kept;
	uint32_t words = (uint32_t)STACK_WORDS + fresh;
	uint64_t head;
	struct session_stack *to = (struct session_stack *)heap_claim(thread, words, &head);
	uint64_t *other = memory->written;

	if (!to)
		return false;
	to->record = (struct session_record){
		.kind = SESSION_STACK, .flags = (uint16_t)flags, .words = words};
	to->number = memory->next_number;
	to->fresh = (uint16_t)fresh;
	to->kept = (uint16_t)kept;
	for (uint32_t i = 0; i < fresh; i++)
		to->pcs[i] = memory->pcs[i];
	heap_publish(thread, head);
	memory->next_number++;
	memory->written = memory->pcs;
	memory->written_count = count;
	memory->pcs = other;
	return true;
}

/* Where modules came or went the same addresses may mean something else. */
static void forget(struct heap_memory *memory, uint64_t generation)
{
	for (uint32_t i = 0; i < 1u << HEAP_STACK_BITS; i++)
		memory->numbers[i] = memory->met[i] = (struct heap_numbered){0};
	for (uint32_t i = 0; i < 1u << HEAP_SHAPE_BITS; i++)
		memory->shapes[i].pc = 0;
	memory->generation = generation;
}

/* The number of the stack in memory->pcs. */
static bool number_of(struct inproc_thread *thread, uint32_t count, uint32_t flags, uint32_t *ret)
{
	struct heap_memory *memory = thread->heap;
	uint64_t hash = hash_of(memory->pcs, count, flags);

	if (heap_numbers_find(memory->numbers, hash, ret))
		return true;
	if (!define(thread, count, flags))
		return false;
	*ret = memory->next_number - 1;
	heap_numbers_add(memory->numbers, hash, *ret);
	return true;
}

static void keep_frames(struct heap_frames *frames, const uint64_t *pcs, uint32_t count,
			uint32_t flags)
{
	bool whole = count <= HEAP_FRAMES;

	frames->count = whole ? count : HEAP_FRAMES;
	frames->flags = whole ? flags : (uint32_t)UNWIND_DEPTH;
	for (uint32_t i = 0; i < frames->count; i++)
		frames->pcs[i] = pcs[i];
}

static bool walk(struct inproc_thread *thread, const struct unwind_frame *frame,
		 struct heap_frames *ret_frames, uint32_t *ret)
{
	struct unwind_trace trace = {.pcs = thread->heap->pcs};
	uint16_t flags = stack_walk(thread, frame, &trace);

	trace.count = hooks_leave_out(trace.pcs, trace.count);
	if (ret_frames)
		keep_frames(ret_frames, trace.pcs, trace.count, flags);
	if (!number_of(thread, trace.count, flags, ret))
		return false;
	heap_shape_learn(thread, frame, *ret);
	return true;
}

/* A walk may fault: see handler_fault(). */
static __attribute__((noinline)) bool walk_guarded(struct inproc_thread *thread,
						   const struct unwind_frame *frame,
						   struct heap_frames *ret_frames, uint32_t *ret)
{
	volatile bool done = false;

	if (_setjmp(thread->recovery) == 0) {
		atomic_store_explicit(&thread->guarded, 1, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
		done = walk(thread, frame, ret_frames, ret);
	}
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&thread->guarded, 0, memory_order_relaxed);
	return done;
}

static inline void look_at_modules(struct heap_memory *memory)
{
	uint64_t generation =
		atomic_load_explicit(&inproc.process->maps_changed, memory_order_relaxed);

	if (__builtin_expect(memory->generation != generation, 0))
		forget(memory, generation);
}

bool heap_stack_number(struct inproc_thread *thread, const struct unwind_frame *frame,
		       uint32_t *ret)
{
	struct heap_memory *memory = thread->heap;

	look_at_modules(memory);
	/* That reads nothing but frames that the thread is in: it cannot fault. */
	return heap_shape_find(memory, frame, ret) || walk_guarded(thread, frame, NULL, ret);
}

bool heap_stack_keep(struct inproc_thread *thread, const struct unwind_frame *frame,
		     struct heap_frames *ret_frames, uint32_t *ret)
{
	look_at_modules(thread->heap);
	return walk_guarded(thread, frame, ret_frames, ret);
}

bool heap_stack_again(struct inproc_thread *thread, const struct heap_frames *frames, uint32_t *ret)
{
	struct heap_memory *memory = thread->heap;

	look_at_modules(memory);
	for (uint32_t i = 0; i < frames->count && i < HEAP_FRAMES; i++)
		memory->pcs[i] = frames->pcs[i];
	return number_of(thread, frames->count, frames->flags, ret);
}
