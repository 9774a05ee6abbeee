/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_FOOTPRINT_H
#define WICK_HEAP_FOOTPRINT_H

/*
 * footprint: the memory of processes as reported by the kernel, together with the sum of their
 * blocks at that moment.
 *
 * Anonymous memory belongs to an allocator if it has held a block of malloc. So each page that a
 * block has covered is marked with a bit, for up to 1 TiB of addresses. Readings are limited too:
 * beyond the limit, every second one of each kind is dropped.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct memory_reading;

/* The sum of the live blocks of a process. */
struct heap_held {
	double block_bytes;  /* of malloc and the like: requested sizes plus slack */
	double mapped_bytes; /* ranges that the program mapped itself */
};

/* A reading of one process. Parts are resident memory and add up; a sum has only the first two. */
struct heap_reading {
	uint64_t time_ns; /* since the analysis began */
	uint32_t process;
	uint8_t kind; /* enum memory_reading_kind */
	double resident_bytes;
	double shared_bytes;    /* only in a sum */
	double heap_size_bytes; /* address space held by the allocator */
	double heap_bytes;      /* resident part of it */
	double stack_bytes;
	double file_bytes;
	double own_bytes; /* of the recorder */
	double other_bytes;
	struct heap_held held; /* by blocks, at that time */
};

/* The sum over all processes, each as last read. */
struct heap_memory_sum {
	uint64_t time_ns;
	double resident_bytes;
	bool is_split; /* the fields below are new: a process was split at this time */
	double heap_size_bytes;
	double heap_bytes;
	double tracked_bytes; /* the smaller of resident memory and live blocks */
	double stack_bytes;
	double file_bytes;
	double own_bytes;
	double untracked_bytes; /* the rest */
	double fragmentation;   /* share of heap_bytes that is not in live blocks: 0 to 1 */
};

struct heap_chunk; /* of addresses */

/* Starts as zeros. */
struct heap_footprint {
	VEC(struct heap_reading) readings; /* in order of their times */
	bool sampled;                      /* only some blocks were recorded */

	/* private */
	VEC(struct heap_held) held; /* by process */
	struct heap_chunk **chunks; /* in order of process and address */
	size_t chunk_count;
	size_t chunk_capacity;
	struct heap_chunk *last; /* the last chunk used; NULL: none yet */
	size_t stride;           /* one in this many sums is kept; 0: all */
	size_t passed;           /* sums skipped since the last one kept */
	size_t limit;            /* of readings; 0: the default */
};

void heap_footprint_fini(struct heap_footprint *footprint);

/*
 * Notes that a block of malloc covers these addresses, or that the allocator returned them. 0 or
 * -ENOMEM.
 */
int heap_footprint_cover(struct heap_footprint *footprint, uint32_t process, uint64_t address,
			 uint64_t size_bytes, bool covered);

/* The sum of the blocks of a process; NULL: out of memory. Valid until the next call. */
struct heap_held *heap_footprint_held(struct heap_footprint *footprint, uint32_t process);

/* Adds a reading; all earlier changes of blocks must have been added before. 0 or -ENOMEM. */
int heap_footprint_read(struct heap_footprint *footprint, uint32_t process, uint64_t time_ns,
			const struct memory_reading *reading);

/* The sums of all processes after each reading, one for each reading. NULL: out of memory. */
struct heap_memory_sum *heap_footprint_sums(const struct heap_footprint *footprint);

#endif
