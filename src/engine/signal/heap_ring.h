/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_HEAP_RING_H
#define WICK_ENGINE_SIGNAL_HEAP_RING_H

/*
 * heap_ring: turns the heap records of a thread into events of the sink. A thread numbers its
 * stacks itself; they are kept as addresses, because ids of the sink may become invalid
 * (heap_rings_forget()).
 */

#include <stdbool.h>
#include <stdint.h>

struct error;
struct heap_ring;  /* of one thread */
struct heap_rings; /* shared by all rings */
struct process_file;
struct process_words;
struct python_frames;
struct raw_stacks;
struct sink;
struct tick_clock;

/*
 * Borrows all arguments. sample_bytes: average bytes between recorded blocks; 0: all are recorded.
 * NULL: out of memory.
 */
struct heap_rings *heap_rings_new(struct sink *sink, const struct python_frames *python,
				  struct raw_stacks *stacks, const struct tick_clock *clock,
				  uint64_t sample_bytes);
void heap_rings_free(struct heap_rings *rings);

/*
 * Reads the records of a thread, up to the first that is not a heap record or is invalid. Creates
 * *ring if it is NULL.
 */
int heap_ring_read(struct heap_rings *rings, struct heap_ring **ring,
		   const struct process_file *file, uint32_t tid, struct process_words *words);

/* Passes on the buffered events of a thread; call before reading another one. */
int heap_rings_hand_on(struct heap_rings *rings);

/* Reports that everything written before this time was read. */
int heap_rings_until(struct heap_rings *rings, uint64_t time_ns);

/* Call when the ids of stacks have become invalid. */
void heap_rings_forget(struct heap_rings *rings);

void heap_ring_reset(struct heap_ring *ring); /* its slot has a new thread; NULL is fine */
void heap_ring_free(struct heap_ring *ring);  /* NULL is fine */

/* The number of events passed on, and of invalid ones. */
uint64_t heap_rings_events(const struct heap_rings *rings);
uint64_t heap_rings_damaged(const struct heap_rings *rings);

#endif
