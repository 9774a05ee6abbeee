/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_WIRE_BPF_HEAP_H
#define WICK_WIRE_BPF_HEAP_H

/*
 * bpf_heap: what the BPF programs at an allocator's functions share with the engine that loads
 * them. Both sides are from one build: no version is needed.
 *
 * An allocated block is recorded as a stack of the kind BPF_WALK_HEAP, or as a slice
 * BPF_WALK_HEAP_SLICE, whose kernel words are those of enum bpf_heap_word; what happens to it later
 * as a struct bpf_heap_end.
 */

#include <stdint.h>

/* The arguments of a function, and where it returns its block. */
enum bpf_heap_shape {
	BPF_HEAP_NOTHING,     /* not an allocator's function: its hits are timed */
	BPF_HEAP_SIZE,        /* (size) */
	BPF_HEAP_COUNT_SIZE,  /* (count, size) */
	BPF_HEAP_ALIGN_SIZE,  /* (alignment, size) */
	BPF_HEAP_OUT,         /* (result pointer, alignment, size), returns 0 on success */
	BPF_HEAP_RESIZE,      /* (block, size) */
	BPF_HEAP_RESIZE_MANY, /* (block, count, size) */
	BPF_HEAP_FREE,        /* (block, …) */
};

/* What a probe passes to its program: the shape, enum heap_call, and a number of the function. */
#define BPF_HEAP_COOKIE(shape, call, number)                                                       \
	((uint64_t)(shape) | (uint64_t)(call) << 8 | (uint64_t)(number) << 16)
#define BPF_HEAP_SHAPE_OF(cookie) ((uint32_t)((cookie)&0xff))
#define BPF_HEAP_CALL_OF(cookie) ((uint32_t)((cookie) >> 8 & 0xff))
#define BPF_HEAP_NUMBER_OF(cookie) ((uint32_t)((cookie) >> 16))

/* Functions of one allocator. */
#define BPF_HEAP_FUNCTIONS 64u

/* The address range of a function: a caller in there is the allocator itself. */
struct bpf_heap_range {
	uint64_t start;
	uint64_t end;
};

enum bpf_heap_phase {
	BPF_HEAP_COUNTING,  /* calls are counted, but not reported */
	BPF_HEAP_FOLLOWING, /* what happens to blocks is reported */
	BPF_HEAP_OVER,      /* nothing: probes are detached one by one, a few milliseconds apart */
};

/* Words before the stack of a block. */
enum bpf_heap_word {
	BPF_HEAP_WORD_BLOCK,
	BPF_HEAP_WORD_SIZE,
	BPF_HEAP_WORD_CALL, /* enum heap_call */
	BPF_HEAP_WORDS,
};

/* What happens to a block; the same as enum heap_op. */
enum bpf_heap_op {
	BPF_HEAP_FREED = 1,
	BPF_HEAP_MOVED = 2,
	BPF_HEAP_KEPT = 3,
};

/* A record about a block without a stack. */
struct bpf_heap_end {
	uint8_t kind; /* BPF_WALK_HEAP_END, where other records have their kind */
	uint8_t op;   /* enum bpf_heap_op */
	uint8_t call; /* enum heap_call */
	uint8_t zero[5];
	uint64_t block;
};

/* Blocks whose end is awaited, if not all are recorded. */
#define BPF_HEAP_BLOCKS (1u << 17)

/* Counters of the programs, one set for each CPU. */
enum bpf_heap_counter {
	BPF_HEAP_COUNT_HITS,    /* of probes at entries */
	BPF_HEAP_COUNT_RETURNS, /* and at returns */
	BPF_HEAP_COUNT_ALLOCATIONS,
	BPF_HEAP_COUNT_FREES,
	BPF_HEAP_COUNT_EVENTS,   /* reported */
	BPF_HEAP_COUNT_BARE,     /* truncated stacks: no table, no room for a slice */
	BPF_HEAP_COUNT_UNKEPT,   /* sampled blocks that were not recorded: no room */
	BPF_HEAP_COUNT_UNTHREAD, /* calls of threads without room for their state */
	BPF_HEAP_COUNTERS,
};

#endif
