/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_HEAP_PUT_H
#define WICK_PRELOAD_HEAP_HEAP_PUT_H

/*
 * heap_put: writes events into the ring of their thread. All of it is inline, because it runs for
 * each block: calls between its parts would take a third of its time.
 */

#include "preload/heap/heap.h"
#include "preload/heap/heap_memory.h"
#include "preload/heap/heap_stack.h"
#include "preload/real_functions.h"
#include "preload/ring.h"
#include "safe/thread_pointer.h"
#include "safe/ticks.h"

/* Offset of the CPU number (rseq) from the thread pointer; where there is none, of a constant. */
extern ptrdiff_t heap_cpu_offset PRELOAD_OWN;

/* The first word of a record. */
static inline uint64_t heap_head_of(enum session_record_kind kind, enum session_call call,
				    const void *block)
{
	return (uint64_t)kind | (uint64_t)call << 8 | (uint64_t)(uintptr_t)block << 16;
}

/* An allocation. */
struct heap_block {
	const void *address;
	uint64_t size;
	enum session_call call;
};

/*
 * Blocks that are not from the allocator have no slack. Those of operator new may be part of
 * another block or pool: then the allocator must not be queried.
 */
HEAP_INLINE uint16_t heap_slack_of(const struct preload_thread *thread,
				   const struct heap_block *block)
{
	uint64_t usable;

	if (block->call >= SESSION_NEW &&
	    (block->call >= SESSION_MMAP || block->address != thread->inner_block))
		return 0;
	usable = real_malloc_usable_size((void *)(uintptr_t)block->address);
	if (__builtin_expect(usable - block->size <= SESSION_SLACK_MAX, 1))
		return (uint16_t)(usable - block->size);
	return usable < block->size ? 0 : SESSION_SLACK_MAX;
}

/* Writes an allocation. False: no space. */
HEAP_INLINE bool heap_put_block(struct preload_thread *thread, const struct heap_block *block,
				uint32_t stack)
{
	uint16_t slack = heap_slack_of(thread, block);
	uint64_t head;
	struct session_heap *to =
		(struct session_heap *)heap_claim(thread, SESSION_ALLOC_WORDS, &head);

	if (!to)
		return false;
	to->head = heap_head_of(SESSION_ALLOC, block->call, block->address);
	to->ticks = safe_ticks();
	to->size = block->size;
	to->stack = stack;
	to->cpu = safe_thread_half(heap_cpu_offset);
	to->slack = slack;
	heap_publish(thread, head);
	return true;
}

/* Writes a free or the like. False: no space. */
HEAP_INLINE bool heap_put_short(struct preload_thread *thread, uint64_t word)
{
	uint64_t head;
	struct session_heap *to =
		(struct session_heap *)heap_claim(thread, SESSION_HEAP_WORDS, &head);

	if (!to)
		return false;
	to->head = word;
	to->ticks = safe_ticks();
	heap_publish(thread, head);
	return true;
}

/* Writes an allocation with its stack, or counts it as lost. */
HEAP_INLINE void heap_put_allocated(struct preload_thread *thread, const struct heap_site *site,
				    const struct heap_block *block)
{
	uint32_t stack;

	if (!heap_lock(thread))
		return;
	if (!heap_stack_number(thread, site, &stack) || !heap_put_block(thread, block, stack))
		ring_lose(thread, 1, 0);
	heap_unlock(thread);
}

HEAP_INLINE void heap_put_word(struct preload_thread *thread, uint64_t word)
{
	if (!heap_lock(thread))
		return;
	if (!heap_put_short(thread, word))
		ring_lose(thread, 1, 0);
	heap_unlock(thread);
}

#endif
