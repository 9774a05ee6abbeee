/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_FOOTPRINT_H
#define WICK_HEAP_FOOTPRINT_H

/*
 * footprint: what the kernel said of the memory of processes, beside what their blocks came to at
 * that moment.
 *
 * Memory without a name is an allocator's where a block of malloc has been by then. So it is
 * noted which pages blocks have covered: a bit for each, of as many as 1 TiB of addresses have.
 * Readings have a limit as well: beyond it every second one of each kind goes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct memory_reading;

/* What live blocks of a process come to. */
struct heap_held {
	double block_bytes;  /* of malloc and the like: what was asked for, and the slack */
	double mapped_bytes; /* ranges that the program has mapped itself */
};

/* A reading, of one process. Parts are resident and add up; of a sum only the first two are known.
 */
struct heap_reading {
	uint64_t time_ns; /* since the analysis began */
	uint32_t process;
	uint8_t kind; /* enum memory_reading_kind */
	double resident_bytes;
	double shared_bytes;    /* of a sum */
	double heap_size_bytes; /* addresses that the allocator holds */
	double heap_bytes;      /* what of them is resident */
	double stack_bytes;
	double file_bytes;
	double own_bytes; /* the recorder's */
	double other_bytes;
	struct heap_held held; /* by blocks, at that moment */
};

/* All processes together, as far as they were read last. */
struct heap_memory_sum {
	uint64_t time_ns;
	double resident_bytes;
	bool is_split; /* what follows is new: one of them was split just then */
	double heap_size_bytes;
	double heap_bytes;
	double tracked_bytes; /* resident, and live blocks: the smaller of what is known of both */
	double stack_bytes;
	double file_bytes;
	double own_bytes;
	double untracked_bytes; /* the rest */
	double fragmentation;   /* of heap_bytes, the share that is no live block: 0 to 1 */
};

struct heap_chunk; /* of addresses */

/* Starts as zeros. */
struct heap_footprint {
	VEC(struct heap_reading) readings; /* in order of their times */
	bool sampled;                      /* only some blocks are told of */

	/* private */
	VEC(struct heap_held) held; /* by process */
	struct heap_chunk **chunks; /* in order of process and address */
	size_t chunk_count;
	size_t chunk_capacity;
	struct heap_chunk *last; /* that was looked for; NULL: none yet */
	size_t stride;           /* of sums one in so many is kept; 0: all */
	size_t passed;           /* since the last one */
	size_t limit;            /* of readings; 0: the usual one */
};

void heap_footprint_fini(struct heap_footprint *footprint);

/* A block of malloc covers these addresses, or the allocator has given them back. 0 or -ENOMEM. */
int heap_footprint_cover(struct heap_footprint *footprint, uint32_t process, uint64_t address,
			 uint64_t size_bytes, bool covered);

/* What blocks of a process come to; NULL without memory. Valid until the next call. */
struct heap_held *heap_footprint_held(struct heap_footprint *footprint, uint32_t process);

/* Adds a reading; all that a block did before has been told. 0 or -ENOMEM. */
int heap_footprint_read(struct heap_footprint *footprint, uint32_t process, uint64_t time_ns,
			const struct memory_reading *reading);

/* The sums of all processes after each reading, as many as there are readings. NULL: no memory. */
struct heap_memory_sum *heap_footprint_sums(const struct heap_footprint *footprint);

#endif
