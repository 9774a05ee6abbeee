/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_HEAP_RING_H
#define WICK_ENGINE_SIGNAL_HEAP_RING_H

/*
 * heap_ring: what a thread wrote of its memory, as events of the sink. A thread names its
 * stacks by numbers of its own: they are kept as addresses, since ids of the sink may
 * become void (heap_rings_forget()).
 */

#include <stdbool.h>
#include <stdint.h>

struct error;
struct heap_ring;  /* of one thread */
struct heap_rings; /* what they share */
struct process_file;
struct process_tracker;
struct raw_stacks;
struct session_record;
struct sink;
struct tick_clock;

/*
 * Borrows all. sample_bytes: between blocks that are recorded, on average; 0: all are.
 * NULL without memory.
 */
struct heap_rings *heap_rings_new(struct sink *sink, struct process_tracker *tracker,
				  struct raw_stacks *stacks, const struct tick_clock *clock,
				  uint64_t sample_bytes);
void heap_rings_free(struct heap_rings *rings);

/* A record of the heap of so many words, by a thread. *ring is made when it is NULL. */
int heap_ring_read(struct heap_rings *rings, struct heap_ring **ring,
		   const struct process_file *file, uint32_t tid,
		   const struct session_record *record, uint32_t words);

/* Hands on what has gathered of a thread: others are read next. */
int heap_rings_hand_on(struct heap_rings *rings);

/* All was read that was written before this moment. */
int heap_rings_until(struct heap_rings *rings, uint64_t time_ns);

/* Ids of stacks are void. */
void heap_rings_forget(struct heap_rings *rings);

void heap_ring_reset(struct heap_ring *ring); /* another thread has it; NULL is fine */
void heap_ring_free(struct heap_ring *ring);  /* NULL is fine */

/* Events handed on, and those that made no sense. */
uint64_t heap_rings_events(const struct heap_rings *rings);
uint64_t heap_rings_damaged(const struct heap_rings *rings);

#endif
