/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/heap/heap_nested.h"

#include <setjmp.h>
#include <stdatomic.h>

#include "preload/heap/heap_memory.h"
#include "preload/stack.h"
#include "unwind/walk.h"

/* Limit for calls skipped between checks, if checks give no result. */
#define MOST_PASSED 1023u

enum verdict { UNKNOWN, WITHIN, LEFT };

/* Whose frame is at an address, according to the last walk. */
static enum verdict judge(const struct unwind_thread *walked, uint64_t address)
{
	const struct unwind_anchor *anchors = walked->anchors; /* root first */

	for (uint32_t i = walked->anchor_count; i-- > 1;) {
		if (anchors[i - 1].sp <= address)
			continue;
		if (anchors[i].pc == 0 || anchors[i].sp > address)
			return UNKNOWN;
		return stack_is_own(anchors[i].pc) ? WITHIN : LEFT;
	}
	return UNKNOWN;
}

static enum verdict look(struct preload_thread *thread, const struct heap_site *site)
{
	struct unwind_frame frame = heap_frame_of(site);
	struct unwind_trace trace = {.pcs = thread->heap->pcs, .capacity = HEAP_WALK_FRAMES};

	thread->unwind.anchor_count = 0; /* reused frames may have been guessed */
	(void)stack_walk(thread, &frame, &trace);
	if (trace.end != UNWIND_ROOT || trace.guessed > 0 || !thread->unwind.whole)
		return UNKNOWN;
	return judge(&thread->unwind, thread->inside);
}

/* A walk may fault: see tick_handler_fault(). */
static __attribute__((noinline)) enum verdict look_guarded(struct preload_thread *thread,
							   const struct heap_site *site)
{
	volatile enum verdict verdict = UNKNOWN;

	if (_setjmp(thread->recovery) == 0) {
		atomic_store_explicit(&thread->guarded, 1, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
		verdict = look(thread, site);
	}
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&thread->guarded, 0, memory_order_relaxed);
	return verdict;
}

/* Stacks of fibers are not walked, nor is any while the thread is in our code. */
static bool can_be_walked(const struct preload_thread *thread, const struct heap_site *site)
{
	return thread->heap && thread->heap->alive &&
	       atomic_load_explicit(&thread->busy, memory_order_relaxed) == 0 &&
	       unwind_on_stack(&thread->unwind.stack, site->frame) &&
	       unwind_on_stack(&thread->unwind.stack, thread->inside) && stack_has_rules();
}

bool heap_nested_look(struct preload_thread *thread, const struct heap_site *site,
		      struct preload_nested *known)
{
	enum verdict verdict;

	if (thread->nested_passed < thread->nested_passes) {
		thread->nested_passed++;
		return false;
	}
	if (!can_be_walked(thread, site) || !heap_lock(thread))
		return false;
	verdict = look_guarded(thread, site);
	heap_unlock(thread);
	thread->nested_passed = 0;
	thread->nested_passes =
		verdict == UNKNOWN ? (2 * thread->nested_passes + 1) & MOST_PASSED : 0;
	if (verdict != WITHIN)
		return verdict == LEFT;
	for (uint32_t i = PRELOAD_NESTED_WAYS - 1; i > 0; i--) /* drops the oldest */
		known[i] = known[i - 1];
	known[0] = (struct preload_nested){site->pc, thread->inside - site->frame};
	return false;
}
