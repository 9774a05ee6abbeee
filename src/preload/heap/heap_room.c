/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap_room: memory for threads, and space in their rings. A program that is recorded without loss
 * waits for an active recorder: not for one that has stopped, and not if others would be blocked.
 */
#include <stddef.h>
#include <time.h>

#include "preload/heap/heap_budget.h"
#include "preload/heap/heap_memory.h"
#include "preload/session_file.h"
#include "preload/thread_memory.h"
#include "safe/clock.h"
#include "safe/syscall.h"

#define WAIT_NS 100000
#define ASK_TIMES 1024u
/* A recorder without a heartbeat for this long is not waited for. */
#define STALL_NS 1000000000ull
/*
 * It beats before each pass over all rings: after this many passes without progress, waiting is
 * useless.
 */
#define VAIN_BEATS 8u

/* Maximum memory of a thread, without very deep stacks. */
#define TABLES_BYTES (192ull << 10)
#define SMALL_TABLES_BYTES (48ull << 10)
#define THREAD_BYTES (48ull << 10)

bool heap_memory_map(struct preload_thread *thread)
{
	static struct thread_memory room = {.bytes = sizeof(struct heap_memory), .wiped = true};
	struct heap_memory *memory = thread_memory_get(&room, thread->index);

	if (!memory)
		return false;
	thread->heap = memory;
	thread->heap_small = heap_budget_is_small(thread->index);
	heap_memory_reset(thread);
	heap_budget_take(THREAD_BYTES + (thread->heap_small ? SMALL_TABLES_BYTES : TABLES_BYTES));
	return true;
}

void heap_memory_reset(struct preload_thread *thread)
{
	struct heap_memory *memory = thread->heap;

	/* Reused memory of an ended thread; fresh memory is zero. */
	memory->generation = memory->alive ? ~0ull : 0;
	memory->alive = 1;
	memory->numbers_mask = thread->heap_small ? 254 : (1u << HEAP_STACK_BITS) - 2;
	memory->shapes_mask = thread->heap_small                    ? 14
			      : heap_budget_is_large(thread->index) ? (1u << HEAP_SHAPE_BITS) - 2
								    : 254;
	memory->root_count = 0;
	memory->vain_walks = 0;
	memory->pending = 0;
	memory->stalled_beat = 0;
	memory->vain_tail = ~0ull;
}

void heap_memory_repair(struct preload_thread *thread)
{
	heap_budget_error();
	heap_memory_reset(thread);
	thread->heap->generation = ~0ull;
}

static void put_pad(struct preload_thread *thread, uint64_t at, uint64_t words)
{
	*(struct session_record *)(thread->ring + at) =
		(struct session_record){.kind = SESSION_PAD, .words = (uint32_t)words};
}

/* Whether this is still the owner of the ring, and not a child of vfork. */
static bool is_own_thread(const struct preload_thread *thread)
{
	return (uint32_t)safe_syscall(SYS_gettid, 0) == thread->tid;
}

/* Whether the recorder is gone. Checked occasionally when there is no space. */
static bool is_deserted(struct heap_memory *memory)
{
	return memory->refusals++ % ASK_TIMES == 0 &&
	       !session_file_recorder_moves(preload.control, safe_clock_ns(CLOCK_MONOTONIC)) &&
	       session_file_recorder_is_gone(preload.control);
}

/* The slot is for the recorder, and the program may have overwritten it. */
static void repair_slot(struct preload_thread *thread)
{
	thread->slot->tid = thread->tid;
	thread->slot->ring_words = (uint32_t)thread->ring_words;
	atomic_store(&thread->slot->head, thread->head);
	atomic_store(&thread->slot->state, SESSION_SLOT_TAKEN);
}

/*
 * Waits until the recorder has read something, or until waiting is useless: it is inactive, or has
 * made several passes without reading.
 */
static bool wait_for_tail(struct preload_thread *thread, uint64_t tail)
{
	const struct timespec moment = {.tv_nsec = WAIT_NS};
	struct heap_memory *memory = thread->heap;
	uint64_t beat = atomic_load(&preload.control->heartbeat_ns);
	uint64_t last_beat = beat;
	uint32_t beats = 0;

	if (atomic_load(&preload.control->mode) == 0 || is_deserted(memory))
		preload_give_up(SESSION_PROCESS_ENDED);
	if (!preload_active() || preload.control->heap_lossy || beat == memory->stalled_beat ||
	    tail == memory->vain_tail || !is_own_thread(thread))
		return false;
	repair_slot(thread);
	preload_count(SESSION_HEAP_WAITS, 1);
	while (atomic_load_explicit(&thread->slot->tail, memory_order_acquire) == tail) {
		beat = atomic_load(&preload.control->heartbeat_ns);
		if (!preload_active() || atomic_load(&preload.control->mode) == 0)
			return false;
		if (safe_clock_ns(CLOCK_MONOTONIC) - beat > STALL_NS) {
			memory->stalled_beat = beat;
			preload_count(SESSION_HEAP_STALLS, 1);
			return false;
		}
		beats += beat != last_beat;
		last_beat = beat;
		if (beats >= VAIN_BEATS) {
			memory->vain_tail = tail;
			heap_budget_error();
			return false;
		}
		session_file_wake();
		(void)safe_syscall(SYS_nanosleep, SAFE_POINTER(&moment), 0);
	}
	return true;
}

/* The ring may be full: reads the reader's position. */
static __attribute__((noinline)) bool make_room(struct preload_thread *thread, uint64_t end)
{
	uint64_t size = thread->ring_words;

	for (;;) {
		thread->heap_tail = atomic_load_explicit(&thread->slot->tail, memory_order_acquire);
		if (end - thread->heap_tail <= size)
			return true;
		if (!wait_for_tail(thread, thread->heap_tail))
			return false;
	}
}

/*
 * The reader is woken, and the ring restarts, at each half. Up to there, and as far as there is
 * room, nothing needs to be checked.
 */
static uint64_t until(const struct preload_thread *thread, uint64_t end)
{
	uint64_t full = thread->heap_tail + thread->ring_words + 1;
	uint64_t half = (end | (thread->ring_words / 2 - 1)) + 1;

	return half < full ? half : full;
}

uint64_t *heap_claim_slowly(struct preload_thread *thread, uint32_t words, uint64_t *head)
{
	uint64_t size = thread->ring_words;
	uint64_t begin = thread->head;
	uint64_t at = begin & (size - 1);
	uint64_t pad = at + words > size ? size - at : 0;
	uint64_t end = begin + pad + words;

	if (end - thread->heap_tail > size && !make_room(thread, end))
		return NULL;
	if (((begin ^ end) & (size / 2)) != 0)
		session_file_wake();
	if (pad > 0) {
		put_pad(thread, at, pad);
		at = 0;
	}
	thread->heap_until = until(thread, end);
	*head = end;
	return thread->ring + at;
}
