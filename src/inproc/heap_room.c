/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap_room: memory for threads, and room in their rings. A program that is recorded
 * without loss waits for a recorder that moves: not for one that has stopped, and not
 * where somebody else would wait with it.
 */
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>

#include "inproc/heap_memory.h"
#include "inproc/leave.h"
#include "inproc/session_file.h"
#include "safe/clock.h"
#include "safe/syscall.h"

#define GUARD_BYTES 65536u /* a multiple of all page sizes that there are */
#define WAIT_NS 100000
#define ASK_TIMES 1024u
/* A recorder whose heart has not beaten for so long is not waited for. */
#define STALL_NS 1000000000ull

struct heap_memory *heap_memory_map(void)
{
	uint64_t bytes = (sizeof(struct heap_memory) + GUARD_BYTES - 1) / GUARD_BYTES * GUARD_BYTES;
	long address = safe_syscall(SYS_mmap, 0, (long)(bytes + 2ull * GUARD_BYTES), PROT_NONE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (address < 0 && address > -4096)
		return NULL;
	address += GUARD_BYTES;
	if (safe_syscall(SYS_mprotect, address, (long)bytes, PROT_READ | PROT_WRITE) < 0)
		return NULL;
	/* Where the kernel cannot, children are those that fork() tells of. */
	(void)safe_syscall(SYS_madvise, address, (long)bytes, MADV_WIPEONFORK);
	leave_note_own((uint64_t)address, bytes);
	return (struct heap_memory *)address;
}

void heap_memory_reset(struct heap_memory *memory)
{
	memory->alive = 1;
	memory->size = inproc.control->ring_words;
	memory->tail = 0;
	memory->generation = ~0ull;
	memory->next_number = 0;
	memory->written_count = 0;
	memory->written = memory->stacks[0];
	memory->pcs = memory->stacks[1];
	memory->stalled_beat = 0;
}

static void put_pad(struct inproc_thread *thread, uint64_t at, uint64_t words)
{
	*(struct session_record *)(thread->ring + at) =
		(struct session_record){.kind = SESSION_PAD, .words = (uint32_t)words};
}

/* Whether this is still the thread that the ring belongs to, and not a child of vfork. */
static bool is_own_thread(const struct inproc_thread *thread)
{
	return (uint32_t)safe_syscall(SYS_gettid, 0) == thread->tid;
}

/* Whether there is nobody left to record. Asked now and then by who finds no room. */
static bool is_deserted(struct heap_memory *memory)
{
	return memory->refusals++ % ASK_TIMES == 0 &&
	       !session_file_recorder_moves(inproc.control) &&
	       session_file_recorder_is_gone(inproc.control);
}

/* Waits until the recorder has read something, or there is no use in it. */
static bool wait_for_tail(struct inproc_thread *thread, uint64_t tail)
{
	const struct timespec moment = {.tv_nsec = WAIT_NS};
	struct heap_memory *memory = thread->heap;
	uint64_t beat = atomic_load(&inproc.control->heartbeat_ns);

	if (atomic_load(&inproc.control->mode) == 0 || is_deserted(memory))
		inproc_give_up(SESSION_PROCESS_ENDED);
	if (!inproc_active() || inproc.control->heap_lossy || beat == memory->stalled_beat ||
	    !is_own_thread(thread))
		return false;
	inproc_count(SESSION_HEAP_WAITS, 1);
	while (atomic_load_explicit(&thread->slot->tail, memory_order_acquire) == tail) {
		beat = atomic_load(&inproc.control->heartbeat_ns);
		if (!inproc_active() || atomic_load(&inproc.control->mode) == 0)
			return false;
		if (safe_clock_ns(CLOCK_MONOTONIC) - beat > STALL_NS) {
			memory->stalled_beat = beat;
			inproc_count(SESSION_HEAP_STALLS, 1);
			return false;
		}
		session_file_wake();
		(void)safe_syscall(SYS_nanosleep, SAFE_POINTER(&moment), 0);
	}
	return true;
}

/* The ring may be full: looks where the reader is. */
static __attribute__((noinline)) bool make_room(struct inproc_thread *thread, uint64_t end)
{
	uint64_t size = inproc.control->ring_words;
	struct heap_memory *memory = thread->heap;

	for (;;) {
		memory->tail = atomic_load_explicit(&thread->slot->tail, memory_order_acquire);
		if (end - memory->tail <= size)
			return true;
		if (!wait_for_tail(thread, memory->tail))
			return false;
	}
}

uint64_t *heap_claim_slowly(struct inproc_thread *thread, uint32_t words, uint64_t *head)
{
	uint64_t size = inproc.control->ring_words;
	uint64_t begin = atomic_load_explicit(&thread->slot->head, memory_order_relaxed);
	uint64_t at = begin & (size - 1);
	uint64_t pad = at + words > size ? size - at : 0;
	uint64_t end = begin + pad + words;

	if (end - thread->heap->tail > size && !make_room(thread, end))
		return NULL;
	if (((begin ^ end) & (size / 2)) != 0)
		session_file_wake();
	if (pad > 0) {
		put_pad(thread, at, pad);
		at = 0;
	}
	*head = end;
	return thread->ring + at;
}
