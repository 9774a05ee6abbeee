/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_HEAP_EVENT_H
#define WICK_MODEL_HEAP_EVENT_H

/*
 * heap_event: what a program does with its memory, call by call.
 *
 * A free is recorded before the block is returned, an allocation after the block was obtained: if
 * two threads have the same address one after the other, the first one's free is earlier than the
 * second one's allocation. Still, the clocks of two CPUs may differ by HEAP_CLOCK_SKEW_NS.
 */

#include <stddef.h>
#include <stdint.h>

#define HEAP_CLOCK_SKEW_NS 2000u

enum heap_op {
	HEAP_ALLOC = 0, /* a block was allocated */
	HEAP_FREE = 1,  /* and freed */
	/*
	 * Replaced by another block: the thread's next HEAP_ALLOC whose call is HEAP_REALLOC is the
	 * new block, or its next HEAP_KEPT means that the block was unchanged.
	 */
	HEAP_MOVE = 2,
	HEAP_KEPT = 3,
	/*
	 * From here on blocks of this process are sampled, with `size` bytes between samples on
	 * average; 0: all are recorded. A block is sampled with probability 1 - exp(-block / size),
	 * where `slack` bytes are added to each block, and an empty one has at least one byte. If
	 * `address` is not 0, each block is sampled with the probability `address` / 2^32 instead,
	 * and `size` is 0.
	 */
	HEAP_RATE = 4,
	/*
	 * Blocks of a stack without details: `address` is their number since the thread's last
	 * report, `size` their total size. Their frees are not reported.
	 */
	HEAP_TOTAL = 5,
	/* All blocks of this process count as freed: whoever recorded them has forgotten them. */
	HEAP_FORGET = 6,
	HEAP_OPS
};

/* Which function was called. */
enum heap_call {
	HEAP_MALLOC,
	HEAP_CALLOC,
	HEAP_REALLOC,
	HEAP_ALIGNED, /* posix_memalign, aligned_alloc, memalign, valloc, pvalloc */
	HEAP_NEW,
	HEAP_NEW_ARRAY,
	/*
	 * The program mapped a range itself, in whole pages. If it unmaps a part, the range is
	 * freed and the rest allocated again, by the stack that mapped it.
	 */
	HEAP_MMAP,
	/*
	 * By the program's own pool, which reports it: inside a block of another call, so never add
	 * it to those. Its addresses are an address space of their own.
	 */
	HEAP_POOL,
	HEAP_CALLS
};

/*
 * The slack of a sampled HEAP_FREE: its thread allocated the block, and nothing since then. The
 * events do not show this if not all blocks are recorded.
 */
#define HEAP_FREE_AT_ONCE 1u

struct heap_event {
	uint64_t address;
	uint64_t size; /* requested size; 0 for frees */
	uint64_t time_ns;
	uint32_t stack; /* of HEAP_ALLOC and HEAP_TOTAL, others on request; else ID_NONE */
	uint32_t slack; /* bytes of the block beyond its size; frees: HEAP_FREE_AT_ONCE or 0 */
	uint16_t cpu;
	uint8_t op;   /* enum heap_op */
	uint8_t call; /* enum heap_call, for HEAP_ALLOC and HEAP_FREE */
	uint32_t zero;
};

_Static_assert(sizeof(struct heap_event) == 40, "many are copied");

/* Events of one thread, in time order. */
struct heap_batch {
	uint32_t thread;
	size_t count;
	const struct heap_event *events;
};

#endif
