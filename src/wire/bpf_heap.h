/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_WIRE_BPF_HEAP_H
#define WICK_WIRE_BPF_HEAP_H

/*
 * bpf_heap: what the BPF programs at an allocator's functions and the engine that
 * loads them share. Both sides are of one build: no version is needed.
 *
 * A block that was allocated comes as a stack of the kind BPF_WALK_HEAP, or as a slice
 * BPF_WALK_HEAP_SLICE, whose words of the kernel are what enum bpf_heap_word says; what
 * becomes of it as a struct bpf_heap_end.
 */

#include <stdint.h>

/* How a function takes what it is asked for, and where its block is. */
enum bpf_heap_shape {
	BPF_HEAP_NOTHING,     /* no function of an allocator: its hits are timed */
	BPF_HEAP_SIZE,        /* (size) */
	BPF_HEAP_COUNT_SIZE,  /* (count, size) */
	BPF_HEAP_ALIGN_SIZE,  /* (alignment, size) */
	BPF_HEAP_OUT,         /* (where to, alignment, size), 0 for success */
	BPF_HEAP_RESIZE,      /* (block, size) */
	BPF_HEAP_RESIZE_MANY, /* (block, count, size) */
	BPF_HEAP_FREE,        /* (block, …) */
};

/* What a probe tells its program: the shape, enum heap_call, and a number of the function. */
#define BPF_HEAP_COOKIE(shape, call, number)                                                       \
	((uint64_t)(shape) | (uint64_t)(call) << 8 | (uint64_t)(number) << 16)
#define BPF_HEAP_SHAPE_OF(cookie) ((uint32_t)((cookie)&0xff))
#define BPF_HEAP_CALL_OF(cookie) ((uint32_t)((cookie) >> 8 & 0xff))
#define BPF_HEAP_NUMBER_OF(cookie) ((uint32_t)((cookie) >> 16))

/* Functions of one allocator. */
#define BPF_HEAP_FUNCTIONS 64u

/* Where the code of one lies: who calls from there is the allocator itself. */
struct bpf_heap_range {
	uint64_t start;
	uint64_t end;
};

enum bpf_heap_phase {
	BPF_HEAP_COUNTING,  /* calls are counted, and nothing is told of them */
	BPF_HEAP_FOLLOWING, /* what happens to blocks is told */
	BPF_HEAP_OVER,      /* nothing: probes go one by one, and some milliseconds apart */
};

/* Words before the stack of a block. */
enum bpf_heap_word {
	BPF_HEAP_WORD_BLOCK,
	BPF_HEAP_WORD_SIZE,
	BPF_HEAP_WORD_CALL, /* enum heap_call */
	BPF_HEAP_WORDS,
};

/* What becomes of a block; as enum heap_op has it. */
enum bpf_heap_op {
	BPF_HEAP_FREED = 1,
	BPF_HEAP_MOVED = 2,
	BPF_HEAP_KEPT = 3,
};

/* Of a record that tells of a block without a stack. */
struct bpf_heap_end {
	uint8_t kind; /* BPF_WALK_HEAP_END, where others have theirs */
	uint8_t op;   /* enum bpf_heap_op */
	uint8_t call; /* enum heap_call */
	uint8_t zero[5];
	uint64_t block;
};

/* Blocks whose end is waited for, where not all are recorded. */
#define BPF_HEAP_BLOCKS (1u << 17)

/* Counters of the programs, one set for each CPU. */
enum bpf_heap_counter {
	BPF_HEAP_COUNT_HITS,    /* of probes at entries */
	BPF_HEAP_COUNT_RETURNS, /* and at returns */
	BPF_HEAP_COUNT_ALLOCATIONS,
	BPF_HEAP_COUNT_FREES,
	BPF_HEAP_COUNT_EVENTS,   /* told of */
	BPF_HEAP_COUNT_BARE,     /* stacks that were cut: no table, no room for a slice */
	BPF_HEAP_COUNT_UNKEPT,   /* sampled blocks that there was no room for, and so not told of */
	BPF_HEAP_COUNT_UNTHREAD, /* calls of threads that there was no room for */
	BPF_HEAP_COUNTERS,
};

#endif
