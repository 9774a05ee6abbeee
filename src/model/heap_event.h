/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_HEAP_EVENT_H
#define WICK_MODEL_HEAP_EVENT_H

/*
 * heap_event: what a program does with its memory, one call after the other.
 *
 * A block is freed before it is given back and allocated when it is there: of two threads
 * that have the same address one after the other, the first has freed it earlier than the
 * second got it. Clocks of two CPUs may differ by HEAP_CLOCK_SKEW_NS all the same.
 */

#include <stddef.h>
#include <stdint.h>

#define HEAP_CLOCK_SKEW_NS 2000u

enum heap_op {
	HEAP_ALLOC = 0, /* a block is there */
	HEAP_FREE = 1,  /* and gone */
	/*
	 * Gone to be another: the next HEAP_ALLOC of that thread whose call is HEAP_REALLOC is
	 * what became of it, or its next HEAP_KEPT says that it stayed as it was.
	 */
	HEAP_MOVE = 2,
	HEAP_KEPT = 3,
	/*
	 * From here on blocks of this process are sampled: `size` bytes lie between one and the
	 * next on average; 0: all are there. One is met with 1 - exp(-block / size).
	 */
	HEAP_RATE = 4,
	/*
	 * Blocks of a stack, of which no more is known: `address` is how many there were since
	 * the thread last told, `size` what they have together. Their frees tell nothing.
	 */
	HEAP_TOTAL = 5,
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
	 * The program mapped a range by itself, in whole pages. One that is unmapped in part is
	 * freed, and what is left of it allocated anew, by the stack that had mapped it.
	 */
	HEAP_MMAP,
	/*
	 * By a pool of the program's own, which tells of it: inside a block of another call,
	 * and so never to be added to those. Their addresses are a space of their own.
	 */
	HEAP_POOL,
	HEAP_CALLS
};

/*
 * The slack of a sampled HEAP_FREE: its thread allocated the block, and nothing since then. Where
 * not all blocks are there, their events do not tell.
 */
#define HEAP_FREE_AT_ONCE 1u

struct heap_event {
	uint64_t address;
	uint64_t size; /* that was asked for; 0 of frees */
	uint64_t time_ns;
	uint32_t stack; /* of HEAP_ALLOC and HEAP_TOTAL, of HEAP_FREE and HEAP_MOVE if asked for;
			   else ID_NONE */
	uint32_t slack; /* bytes that the block has beyond its size; HEAP_FREE_AT_ONCE or 0 of frees
			 */
	uint16_t cpu;
	uint8_t op;   /* enum heap_op */
	uint8_t call; /* enum heap_call, of HEAP_ALLOC and HEAP_FREE */
	uint32_t zero;
};

_Static_assert(sizeof(struct heap_event) == 40, "many are copied");

/* Events of one thread, in order of time. */
struct heap_batch {
	uint32_t thread;
	size_t count;
	const struct heap_event *events;
};

#endif
