/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/thread.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "preload/heap/exit_scan.h"
#include "preload/heap/heap_budget.h"
#include "preload/heap/heap_memory.h"
#include "preload/heap/heap_sample.h"
#include "preload/heap/heap_total.h"
#include "preload/real_functions.h"
#include "preload/ring.h"
#include "preload/runtime.h"
#include "preload/sampling/process_timer.h"
#include "preload/sampling/thread_timer.h"
#include "preload/session_file.h"
#include "preload/thread_memory.h"
#include "safe/syscall.h"
#include "safe/thread_pointer.h"
#include "safe/ticks.h"

/* Assumed size of an unlimited stack. */
#define UNLIMITED_BYTES (1ull << 30)
#define MAIN_MARGIN_BYTES (1ull << 20)
/* Space for signal frames, whose size depends on the CPU's registers, and for our handler. */
#define SIGNAL_ROOM_BYTES (128ull << 10)
/* This many rings may wait to be read until the recorder polls. */
#define FEW_SLOTS 8u

extern void *__libc_stack_end; /* from the loader: sp at the start of the program */

static pthread_key_t end_key;
static bool has_end_key;

static struct preload_thread *memory_of(uint32_t index)
{
	static struct thread_memory room = {.bytes = sizeof(struct preload_thread)};
	struct preload_thread *thread = atomic_load(&preload.threads[index]);
	uint32_t limit = atomic_load(&preload.thread_limit);

	if (thread)
		return thread;
	thread = thread_memory_get(&room, index);
	if (!thread)
		return NULL;
	thread->index = index;
	atomic_store(&preload.threads[index], thread);
	while (limit <= index &&
	       !atomic_compare_exchange_weak(&preload.thread_limit, &limit, index + 1))
		;
	return thread;
}

/* A ring keeps its size for all threads that use it in turn. */
static void set_ring_words(struct preload_thread *thread)
{
	if (thread->ring_words == 0 && (preload.control->mode & SESSION_HEAP)) {
		thread->ring_words = heap_budget_ring_words(thread->index);
		heap_budget_take(thread->ring_words * sizeof(uint64_t));
	}
	if (thread->ring_words == 0)
		thread->ring_words = session_ring_words(&preload.layout, thread->index);
	thread->slot->ring_words = (uint32_t)thread->ring_words;
}

/* Resets the memory of a slot for the next thread. */
static void reset(struct preload_thread *thread)
{
	uint32_t index = thread->index;

	thread->slot = session_file_slot(index);
	thread->ring = session_file_ring(index);
	set_ring_words(thread);
	thread->cpu_timer = thread->clock_timer = -1;
	thread->written = thread->stacks[0];
	thread->pcs = thread->stacks[1];
	thread->written_count = 0;
	thread->label_bytes = 0;
	thread->part_count = 0;
	thread->unwind.anchor_count = 0;
	thread->inside = thread->hooked = thread->new_frame = 0;
	thread->new_failed = false;
	thread->end_rounds = 0;
	thread->told_rate = 0;
	thread->head = atomic_load(&thread->slot->head);
	thread->heap_tail = atomic_load(&thread->slot->tail);
	thread->heap_until = 0;
	thread->heap_numbers = thread->heap_written = 0;
	thread->random = safe_ticks() * (2ull * index + 1) | 1;
	heap_sample_next(thread);
	if (thread->heap)
		heap_memory_reset(thread);
	atomic_store(&thread->guarded, 0);
	atomic_store(&thread->busy, 0);
}

static void set_tid(struct preload_thread *thread, uint32_t tid)
{
	thread->tid = tid;
	atomic_store(&preload.tids[thread->index], tid);
}

/* The thread no longer writes: the slot can be reused after the recorder has read it. */
static void give_up_slot(struct preload_thread *thread)
{
	struct session_slot *slot = thread->slot;

	set_tid(thread, 0);
	atomic_store(&slot->head, thread->head);
	if (thread->head == atomic_load(&slot->tail)) {
		atomic_store(&slot->state, SESSION_SLOT_FREE); /* nothing to read */
		return;
	}
	atomic_store(&slot->state, SESSION_SLOT_LEFT);
	/* Many rings of ended threads use much memory. */
	if (thread->index >= FEW_SLOTS && (atomic_load(&preload.mode) & SESSION_HEAP))
		session_file_wake();
}

/* Frees the slots of threads that no longer exist. */
static void collect_ended(void)
{
	for (uint32_t i = 0; i < atomic_load(&preload.thread_limit); i++) {
		struct preload_thread *thread = atomic_load(&preload.threads[i]);
		uint32_t tid = thread ? atomic_load(&thread->ending_tid) : 0;

		if (tid == 0 || safe_syscall(SYS_tgkill, preload.pid, tid, 0) != -ESRCH ||
		    !atomic_compare_exchange_strong(&thread->ending_tid, &tid, 0))
			continue; /* still there, or another thread was faster */
		(void)atomic_fetch_sub(&preload.ending_count, 1);
		give_up_slot(thread);
	}
}

/* Takes a slot if it is free. */
static bool take_slot(uint32_t index)
{
	_Atomic uint32_t *state = &session_file_slot(index)->state;
	uint32_t expected = SESSION_SLOT_FREE;

	/*
	 * A slot with a thread is not free: the program overwrote its state, which is now
	 * corrected.
	 */
	return atomic_load_explicit(state, memory_order_relaxed) == SESSION_SLOT_FREE &&
	       atomic_compare_exchange_strong(state, &expected, SESSION_SLOT_TAKEN) &&
	       atomic_load(&preload.tids[index]) == 0;
}

struct preload_thread *thread_take(void)
{
	if (atomic_load(&preload.ending_count) > 0)
		collect_ended();
	for (uint32_t index = 0; index < preload.slot_count; index++) {
		struct preload_thread *thread;

		if (index >= SESSION_FIRST_SLOTS && !session_file_room(index))
			break;
		if (!take_slot(index))
			continue;
		thread = session_file_room(index) ? memory_of(index) : NULL;
		if (!thread) {
			atomic_store(&session_file_slot(index)->state, SESSION_SLOT_FREE);
			break;
		}
		reset(thread);
		return thread;
	}
	preload_count(SESSION_NO_SLOT, 1);
	return NULL;
}

void thread_return(struct preload_thread *thread)
{
	set_tid(thread, 0);
	atomic_store(&thread->slot->state, SESSION_SLOT_FREE);
}

void thread_begin(struct preload_thread *thread, struct unwind_stack stack)
{
	struct session_slot *slot = thread->slot;

	set_tid(thread, (uint32_t)safe_syscall(SYS_gettid, 0));
	thread->unwind.stack = stack;
	slot->tid = thread->tid;
	slot->born_ticks = safe_ticks();
	(void)safe_syscall(SYS_prctl, PR_GET_NAME, SAFE_POINTER(slot->comm));
	preload_self = thread;
	if (has_end_key)
		(void)pthread_setspecific(end_key, thread); /* else the recorder notices its end */
	if (thread->label_bytes > 0)                        /* inherited by fork */
		ring_put_labels(thread, (struct ring_texts){thread->labels, thread->label_bytes});
	(void)thread_timer_start(thread); /* counted */
}

void thread_end(struct preload_thread *thread)
{
	thread_timer_stop(thread);
	heap_total_flush(thread);
	(void)safe_syscall(SYS_prctl, PR_GET_NAME, SAFE_POINTER(thread->slot->comm));
	if (atomic_load(&preload.mode) & SESSION_HEAP) {
		/*
		 * The C library frees more memory after all destructors have run: the next thread
		 * creation collects this slot.
		 */
		atomic_store(&thread->ending_tid, thread->tid);
		(void)atomic_fetch_add(&preload.ending_count, 1);
		return;
	}
	preload_self = NULL;
	give_up_slot(thread);
}

static void on_end(void *value)
{
	struct preload_thread *thread = value;

	/* In a child of fork the memory exists, but the session may not. */
	if (!preload_active() || thread->tid != (uint32_t)safe_syscall(SYS_gettid, 0))
		return;
	/* To see what other destructors free, ours runs again as often as possible. */
	if ((atomic_load(&preload.mode) & SESSION_HEAP) &&
	    ++thread->end_rounds < PTHREAD_DESTRUCTOR_ITERATIONS &&
	    pthread_setspecific(end_key, thread) == 0)
		return;
	thread_end(thread);
}

void thread_set_up(void)
{
	pthread_attr_t attributes;

	has_end_key = pthread_key_create(&end_key, on_end) == 0;
	preload.default_stack_bytes = 8ull << 20;
	if (pthread_attr_init(&attributes) != 0)
		return;
	(void)pthread_attr_getstacksize(&attributes, &preload.default_stack_bytes);
	(void)pthread_attr_destroy(&attributes);
}

/*
 * Programs that use their whole main stack, as Ruby does to reserve it, leave no space for a signal
 * frame: the kernel kills them if a tick comes then. A stack does not grow beyond the limit, but
 * keeps what it has. So we let it grow a little further once, with a system call that writes there
 * and fails if that is impossible.
 */
static void grow_main_stack(uint64_t high, const struct rlimit *limit)
{
	struct rlimit more = *limit;
	struct rlimit addresses = {RLIM_INFINITY, RLIM_INFINITY};
	uint64_t bytes = limit->rlim_cur + SIGNAL_ROOM_BYTES;

	/* If address space is scarce, leave it to the program. */
	(void)safe_syscall(SYS_prlimit64, 0, RLIMIT_AS, 0, SAFE_POINTER(&addresses));
	if (limit->rlim_cur > UNLIMITED_BYTES || high < 2 * bytes ||
	    addresses.rlim_cur != RLIM_INFINITY)
		return;
	more.rlim_cur += SIGNAL_ROOM_BYTES + MAIN_MARGIN_BYTES;
	if (more.rlim_max < more.rlim_cur)
		more.rlim_max = more.rlim_cur; /* if permitted */
	if (safe_syscall(SYS_prlimit64, 0, RLIMIT_STACK, SAFE_POINTER(&more), 0) < 0)
		return;
	(void)safe_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (long)((high - bytes) & ~15ull));
	(void)safe_syscall(SYS_prlimit64, 0, RLIMIT_STACK, SAFE_POINTER(limit), 0);
}

void thread_begin_main(void)
{
	struct preload_thread *thread = thread_take();
	uint64_t high = (uint64_t)(uintptr_t)__libc_stack_end;
	struct rlimit limit = {UNLIMITED_BYTES, UNLIMITED_BYTES};
	uint64_t bytes;

	if (!thread)
		return;
	(void)safe_syscall(SYS_prlimit64, 0, RLIMIT_STACK, 0, SAFE_POINTER(&limit));
	if (atomic_load(&preload.control->mode) & (SESSION_CPU | SESSION_WALL))
		grow_main_stack(high, &limit);
	bytes = limit.rlim_cur > UNLIMITED_BYTES ? UNLIMITED_BYTES : limit.rlim_cur;
	/* The limit may have been higher when the program started. */
	bytes += MAIN_MARGIN_BYTES;
	thread_begin(thread, (struct unwind_stack){high > bytes ? high - bytes : 0, high});
}

/*
 * Copies what a thread reported; both may share the same memory, so counts are passed separately.
 */
static void take_over(struct preload_thread *thread, const struct preload_thread *forked,
		      uint32_t label_bytes, uint32_t part_count)
{
	for (uint32_t i = 0; i < label_bytes; i++)
		thread->labels[i] = forked->labels[i];
	for (uint32_t i = 0; i < part_count && i < PRELOAD_PARTS && thread != forked; i++)
		thread->parts[i] = forked->parts[i];
	thread->label_bytes = label_bytes;
	thread->part_count = part_count;
}

void thread_begin_forked(const struct preload_thread *forked)
{
	struct unwind_stack stack = forked->unwind.stack;
	/* A fork in a handler may have interrupted writing them. */
	bool whole = atomic_load(&forked->busy) == 0;
	uint32_t label_bytes = whole ? forked->label_bytes : 0;
	uint32_t part_count = whole ? forked->part_count : 0;
	struct preload_thread *thread = thread_take();

	if (!thread)
		return;
	take_over(thread, forked, label_bytes, part_count);
	thread_begin(thread, stack);
}

void thread_forget_all(void)
{
	for (uint32_t i = 0; i < preload.thread_limit; i++) {
		struct preload_thread *thread = atomic_load(&preload.threads[i]);

		if (!thread)
			continue;
		set_tid(thread, 0);
		atomic_store(&thread->ending_tid, 0);
	}
	atomic_store(&preload.ending_count, 0);
	preload_self = NULL;
}

void thread_stop_all(void)
{
	process_timer_stop();
	for (uint32_t i = 0; i < preload.thread_limit; i++) {
		struct preload_thread *thread = atomic_load(&preload.threads[i]);

		if (thread && thread->tid != 0)
			thread_timer_stop(thread);
	}
}

void thread_rearm_all(void)
{
	for (uint32_t i = 0; i < preload.thread_limit; i++) {
		struct preload_thread *thread = atomic_load(&preload.threads[i]);

		if (thread && thread->tid != 0 && atomic_load(&thread->ending_tid) == 0) {
			thread_timer_stop(thread);
			(void)thread_timer_start(thread); /* counted */
		}
	}
}

struct preload_thread *thread_find(uint32_t tid)
{
	for (uint32_t i = 0; i < preload.thread_limit; i++) {
		/* Each thread's own memory is on another page. */
		if (atomic_load_explicit(&preload.tids[i], memory_order_relaxed) == tid) {
			struct preload_thread *thread = atomic_load(&preload.threads[i]);

			if (thread && atomic_load(&thread->ending_tid) == 0)
				return thread;
		}
	}
	return NULL;
}

/* The stack of a thread: the C library keeps its thread data above it. */
static struct unwind_stack stack_below_thread_pointer(uint64_t bytes)
{
	uint64_t high = safe_thread_pointer() & ~7ull;

	return (struct unwind_stack){high > bytes ? high - bytes : 0, high};
}

static void *run_thread(void *argument)
{
	struct preload_thread *thread = argument;
	void *(*routine)(void *) = thread->routine;
	void *routine_argument = thread->argument;

	exit_scan_note_argument(thread->index, NULL); /* from now on this thread holds it */
	exit_scan_note_stack(thread->stack_low
				     ? thread->stack_low
				     : stack_below_thread_pointer(thread->stack_bytes).low,
			     (uint64_t)(uintptr_t)__builtin_frame_address(0));
	if (preload_active())
		thread_begin(thread, stack_below_thread_pointer(thread->stack_bytes));
	else
		thread_return(thread);
	return routine(routine_argument);
}

/* The size of a stack, and its end unless the C library maps and guards it. */
static void note_stack(struct preload_thread *thread, const pthread_attr_t *attributes)
{
	void *low = NULL;
	size_t bytes = 0;
	size_t guard_bytes = 1;

	thread->stack_bytes = preload.default_stack_bytes;
	thread->stack_low = 0;
	if (!attributes || pthread_attr_getstacksize(attributes, &thread->stack_bytes) != 0)
		return;
	if (pthread_attr_getguardsize(attributes, &guard_bytes) == 0 && guard_bytes == 0)
		thread->stack_low = UINT64_MAX; /* unknown: other memory may follow directly */
	/* Without a given stack, its end appears to be 0. */
	if (pthread_attr_getstack(attributes, &low, &bytes) == 0 && (uintptr_t)low + bytes != 0)
		thread->stack_low = (uint64_t)(uintptr_t)low;
}

REAL_DEFINE(pthread_create);

PRELOAD_EXPORT int pthread_create(pthread_t *restrict ret,
				  const pthread_attr_t *restrict attributes,
				  void *(*routine)(void *), void *restrict argument)
{
	struct preload_thread *thread = preload_active() ? thread_take() : NULL;
	int r;

	if (!thread)
		return REAL(pthread_create)(ret, attributes, routine, argument);
	thread->routine = routine;
	thread->argument = argument;
	exit_scan_note_argument(thread->index, argument);
	note_stack(thread, attributes);
	r = REAL(pthread_create)(ret, attributes, run_thread, thread);
	if (r != 0) {
		exit_scan_note_argument(thread->index, NULL);
		thread_return(thread);
	}
	return r;
}
