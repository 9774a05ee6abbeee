/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap_total: blocks that are only summed, by stack. Sums are written when there is no space for
 * another stack, after some blocks, and when the thread ends.
 */
#include "preload/heap/heap_total.h"

#include "preload/heap/heap.h"
#include "preload/heap/heap_budget.h"
#include "preload/heap/heap_stack.h"
#include "preload/ring.h"
#include "safe/ticks.h"

/* Limit for what is lost if a thread is killed. */
#define MOST_PENDING 256u

static uint32_t check_of(const struct heap_total *total)
{
	return (uint32_t)(total->blocks ^ total->bytes) + total->stack * 0x5bd1e995u + 1;
}

/* Writes one sum, and clears it. */
static void put(struct preload_thread *thread, struct heap_total *total)
{
	uint64_t head;
	struct session_heap *to;

	if (total->check != check_of(total)) {
		heap_budget_error();
	} else if ((to = (struct session_heap *)heap_claim(thread, SESSION_ALLOC_WORDS, &head))) {
		to->head = SESSION_TOTAL | total->blocks << 16;
		to->ticks = safe_ticks();
		to->size = total->bytes;
		to->stack = total->stack;
		to->cpu = SESSION_CPU_UNKNOWN;
		to->slack = 0;
		heap_publish(thread, head);
	} else {
		ring_lose(thread, total->blocks, 0);
	}
	*total = (struct heap_total){0};
}

void heap_total_put(struct preload_thread *thread)
{
	struct heap_memory *memory = thread->heap;

	for (uint32_t i = 0; i < HEAP_TOTALS; i++)
		if (memory->totals[i].blocks > 0)
			put(thread, &memory->totals[i]);
	memory->pending = 0;
}

void heap_total_add(struct preload_thread *thread, const struct heap_site *site, uint64_t bytes)
{
	struct heap_total *total;
	uint32_t stack;

	if (!heap_lock(thread))
		return;
	if (!heap_stack_number(thread, site, &stack)) {
		ring_lose(thread, 1, 0);
		heap_unlock(thread);
		return;
	}
	total = &thread->heap->totals[stack % HEAP_TOTALS];
	if (total->blocks > 0 && (total->stack != stack || total->check != check_of(total)))
		put(thread, total);
	total->stack = stack;
	total->blocks++;
	total->bytes += bytes;
	total->check = check_of(total);
	if (++thread->heap->pending >= MOST_PENDING)
		heap_total_put(thread);
	heap_unlock(thread);
}

void heap_total_flush(struct preload_thread *thread)
{
	if (!thread->heap || thread->heap->pending == 0 || !heap_lock(thread))
		return;
	heap_total_put(thread);
	heap_unlock(thread);
}
