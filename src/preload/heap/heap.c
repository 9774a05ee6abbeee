/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/heap/heap.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <unistd.h>

#include "preload/heap/heap_budget.h"
#include "preload/heap/heap_nested.h"
#include "preload/heap/heap_put.h"
#include "preload/heap/heap_sample.h"
#include "preload/heap/heap_total.h"
#include "preload/heap/hook.h"
#include "preload/session_file.h"
#include "safe/syscall.h"
#include "unwind/arch/native.h"

_Atomic uint32_t heap_is_on;
_Atomic uint32_t heap_detours = HEAP_NOT_ALL | HEAP_NOT_FOUND;
bool heap_free_stacks;

ptrdiff_t heap_cpu_offset;
static __thread uint16_t unknown_cpu __attribute__((tls_model("initial-exec"))) =
	SESSION_CPU_UNKNOWN;

static void find_cpu_offset(void)
{
	const ptrdiff_t *offset = dlsym(RTLD_DEFAULT, "__rseq_offset");
	const unsigned int *size = dlsym(RTLD_DEFAULT, "__rseq_size");

	heap_cpu_offset = (ptrdiff_t)((uint64_t)(uintptr_t)&unknown_cpu - safe_thread_pointer());
	if (offset && size && *size > 0)
		heap_cpu_offset = *offset + (ptrdiff_t)sizeof(uint32_t);
}

void heap_begin(void)
{
	static _Atomic uint32_t beginning;

	/* The loader itself may allocate before there is an environment. */
	if (!environ || atomic_exchange(&beginning, 1) != 0)
		return;
	find_cpu_offset();
	preload_begin();
	heap_resume();
	if (atomic_load(&heap_is_on) <= HEAP_OFF)
		return;
	if (heap_is_bypassed())
		preload_count(SESSION_HEAP_BYPASSED, 1);
	hooks_set();
}

void heap_set_detour(enum heap_detour detour, bool on)
{
	if (on)
		(void)atomic_fetch_or(&heap_detours, (uint32_t)detour);
	else
		(void)atomic_fetch_and(&heap_detours, ~(uint32_t)detour);
}

void heap_resume(void)
{
	bool on = (atomic_load(&preload.mode) & SESSION_HEAP) != 0;
	bool sampled = on && preload.control->heap_sample_bytes;

	heap_free_stacks = on && preload.control->heap_free_stacks;
	heap_set_detour(HEAP_FREE_STACKS, heap_free_stacks);
	atomic_store(&heap_is_on, !on ? HEAP_OFF : sampled ? HEAP_SAMPLED : HEAP_ON);
	heap_set_detour(HEAP_SAMPLES, sampled);
	heap_set_detour(HEAP_NOT_ALL, !on);
	if (on && atomic_load(&heap_level) != SESSION_HEAP_ALL) {
		heap_budget_resume();
		heap_step();
	}
}

void heap_step(void)
{
	/* Not if it has been switched off. */
	if (atomic_load(&heap_is_on) >= HEAP_ON)
		atomic_store(&heap_is_on, HEAP_STEPPED);
	heap_set_detour(HEAP_NOT_ALL, true);
}

void heap_end(void)
{
	atomic_store(&heap_is_on, HEAP_OFF);
	heap_set_detour(HEAP_NOT_ALL, true);
	heap_set_detour(HEAP_SAMPLES, false);
	heap_set_detour(HEAP_FREE_STACKS, false);
}

/*
 * Whether an allocator's own operator new has failed. It calls no other allocation function, so any
 * further call comes from a new handler or a throw, and is recorded.
 */
static bool has_failed(struct preload_thread *thread, const struct heap_site *site)
{
	if (thread->inside != thread->new_frame || !thread->new_of_allocator ||
	    heap_is_of_allocator(site->pc))
		return false;
	thread->new_failed = true;
	return true;
}

struct preload_thread *heap_enter_slow(const struct heap_site *site)
{
	struct preload_thread *thread;

	if (atomic_load(&heap_is_on) == HEAP_UNKNOWN)
		heap_begin();
	if (atomic_load(&heap_is_on) <= HEAP_OFF)
		return NULL;
	thread = preload_self;
	if (!thread) {
		preload_count(SESSION_HEAP_MISSED, 1);
		return NULL;
	}
	if (nested_is_within(thread, (struct nested_call){thread->inside, thread->inside_word},
			     site->frame) &&
	    !has_failed(thread, site) && !heap_was_left(thread, site))
		return NULL;
	thread->inside = site->frame;
	thread->inside_word = nested_word(site->frame);
	return thread;
}

bool heap_lock_slowly(struct preload_thread *thread)
{
	if (!thread->heap && atomic_load_explicit(&thread->busy, memory_order_relaxed) == 0 &&
	    atomic_load(&heap_level) < SESSION_HEAP_COUNTS && heap_memory_map(thread))
		return heap_lock(thread);
	if (!thread->heap || thread->heap->alive) {
		if (atomic_load(&heap_level) < SESSION_HEAP_COUNTS) /* else it is known */
			preload_count(SESSION_HEAP_MISSED, 1);
		return false;
	}
	/* The mapping belongs to another process, or the program has overwritten it. */
	if (preload.pid != (uint32_t)safe_syscall(SYS_getpid, 0)) {
		heap_end();
		return false;
	}
	heap_memory_repair(thread);
	return heap_lock(thread);
}

bool heap_put_range(struct preload_thread *thread, uint64_t begin, uint64_t bytes, uint32_t stack)
{
	const struct heap_block range = {(const void *)begin, bytes, SESSION_MMAP};

	return heap_put_block(thread, &range, stack);
}

/* Records a free with its stack. False: no space for either. */
static bool put_stacked(struct preload_thread *thread, const struct heap_site *site, uint64_t word)
{
	struct session_heap *to;
	uint32_t stack;
	uint64_t head;

	if (!heap_stack_number(thread, site, &stack))
		return false;
	to = (struct session_heap *)heap_claim(thread, SESSION_STACKED_WORDS, &head);
	if (!to)
		return false;
	to->head = word | SESSION_STACKED << 8;
	to->ticks = safe_ticks();
	to->size = stack;
	heap_publish(thread, head);
	return true;
}

/* Records that blocks are sampled from now on. */
static void put_rate(struct preload_thread *thread, uint64_t rate)
{
	uint64_t head;
	struct session_heap *to;

	if (!heap_lock(thread))
		return;
	to = (struct session_heap *)heap_claim(thread, SESSION_ALLOC_WORDS, &head);
	if (to) {
		*to = (struct session_heap){
			.head = SESSION_RATE, .ticks = safe_ticks(), .size = rate};
		heap_publish(thread, head);
		thread->told_rate = rate;
	}
	heap_unlock(thread);
}

static bool is_sampled(struct preload_thread *thread, const struct heap_block *block)
{
	if (block->size < thread->left_bytes) {
		thread->left_bytes -= block->size;
		return false;
	}
	heap_sample_next(thread);
	return true;
}

/* Whether a block is to be recorded when not all are. Otherwise counts it as required. */
static __attribute__((noinline)) bool is_chosen(struct preload_thread *thread,
						const struct heap_site *site,
						const struct heap_block *block)
{
	uint32_t level = atomic_load(&heap_level);
	uint64_t rate = heap_budget_rate();

	if (level == SESSION_HEAP_COUNTS) {
		preload_count(SESSION_HEAP_COUNTED, 1);
		preload_count(SESSION_HEAP_COUNTED_BYTES, block->size);
		return false;
	}
	if (level == SESSION_HEAP_TOTALS) {
		heap_total_add(thread, site, block->size);
		return false;
	}
	if (level == SESSION_HEAP_SAMPLES && thread->told_rate != rate) {
		put_rate(thread, rate);
		heap_sample_next(thread);
	}
	if (!is_sampled(thread, block))
		return false;
	if (preload.control->heap_sample_bytes)
		heap_sample_add(block->call, block->address);
	heap_sample_note(thread, block->call, block->address);
	return true;
}

/*
 * What operator new does after a failure belongs to the program: a new handler frees memory, or an
 * exception is allocated, which others free. From then on everything is recorded.
 */
static void note_inner(struct preload_thread *thread, const void *block)
{
	thread->inner_block = block;
	if (block || thread->inside != thread->new_frame)
		return;
	thread->inside = 0;
	thread->new_failed = true;
}

void heap_allocated(struct preload_thread *thread, const struct heap_site *site,
		    enum session_call call, const void *block, size_t size)
{
	const struct heap_block what = {block, size, call};

	if (!thread && call < SESSION_NEW && preload_self)
		note_inner(preload_self, block);
	if (!thread || !block)
		return;
	if (__builtin_expect(thread->new_failed, 0))
		thread->inner_block = block;
	if (atomic_load_explicit(&heap_is_on, memory_order_relaxed) == HEAP_ON ||
	    is_chosen(thread, site, &what))
		heap_put_allocated(thread, site, &what);
}

/* The first word of a free. */
static uint64_t free_word(const struct preload_thread *thread, enum session_call call,
			  const void *block)
{
	uint64_t word = heap_head_of(SESSION_FREE, call, block);

	if (atomic_load_explicit(&heap_is_on, memory_order_relaxed) != HEAP_ON &&
	    heap_sample_is_last(thread, call, block))
		word |= SESSION_AT_ONCE << 8;
	return word;
}

void heap_freed(struct preload_thread *thread, enum session_call call, const void *block)
{
	if (!thread || !block)
		return;
	if (__builtin_expect(thread->new_failed, 0) && block == thread->inner_block)
		thread->inner_block = NULL; /* another block may reuse its address */
	if (preload.control->heap_sample_bytes && !heap_sample_remove(call, block))
		return;
	heap_put_word(thread, free_word(thread, call, block));
}

/* A double free is explained by the stacks of both. */
static void put_free_stacked(struct preload_thread *thread, const struct heap_site *site,
			     uint64_t word)
{
	if (!heap_lock(thread))
		return;
	if (!put_stacked(thread, site, word) && !heap_put_short(thread, word))
		ring_lose(thread, 1, 0);
	heap_unlock(thread);
}

void heap_freed_stacked(struct preload_thread *thread, const struct heap_site *site,
			enum session_call call, const void *block)
{
	if (!thread || !block)
		return;
	if (preload.control->heap_sample_bytes && !heap_sample_remove(call, block))
		return;
	put_free_stacked(thread, site, free_word(thread, call, block));
}

bool heap_moves(struct preload_thread *thread, const struct heap_site *site, const void *block)
{
	if (!thread || !block)
		return false;
	if (preload.control->heap_sample_bytes && !heap_sample_remove(SESSION_REALLOC, block))
		return false;
	if (heap_free_stacks)
		put_free_stacked(thread, site, heap_head_of(SESSION_MOVE, SESSION_REALLOC, block));
	else
		heap_put_word(thread, heap_head_of(SESSION_MOVE, SESSION_REALLOC, block));
	return true;
}

void heap_stayed(struct preload_thread *thread, const void *block)
{
	if (preload.control->heap_sample_bytes)
		heap_sample_add(SESSION_REALLOC, block);
	heap_put_word(thread, heap_head_of(SESSION_KEPT, SESSION_REALLOC, block));
}
