/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_HEAP_BUDGET_H
#define WICK_PRELOAD_HEAP_HEAP_BUDGET_H

/*
 * heap_budget: how much memory we take of the program's for its heap, and what is left out
 * when that gets near to the limit. Memory is counted when it is given to a thread, as much as
 * it may become; what a thread leaves the next one has. So the levels only rise.
 *
 * Also switches recording off where the program writes over our tables again and again.
 */

#include <stdatomic.h>
#include <stdint.h>

#include "preload/runtime.h"
#include "wire/session.h"

/* enum session_heap_level; 0: all is recorded. */
extern _Atomic uint32_t heap_level PRELOAD_OWN;

/* The words of the ring of a thread: the first ones get most. */
uint32_t heap_budget_ring_words(uint32_t index);

/* The same with all memory that there is. */
uint32_t heap_budget_most_words(uint32_t index);

/* Whether the tables of a thread are the small ones. */
bool heap_budget_is_small(uint32_t index);

/* We take so much more. */
void heap_budget_take(uint64_t bytes);

/* This is another process, by fork. */
void heap_budget_resume(void);

/* Bytes between blocks that are recorded, on average; 0: all are. */
uint64_t heap_budget_rate(void);

/* One of our tables is damaged. */
void heap_budget_error(void);

#endif
