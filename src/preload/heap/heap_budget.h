/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_HEAP_BUDGET_H
#define WICK_PRELOAD_HEAP_HEAP_BUDGET_H

/*
 * heap_budget: how much memory recording the heap takes in the program, and what is left out near
 * the limit. Memory is counted at its maximum size when it is given to a thread; a later thread
 * reuses what an ended one leaves. So the levels only rise.
 *
 * Also switches recording off if the program overwrites our tables again and again.
 */

#include <stdatomic.h>
#include <stdint.h>

#include "preload/runtime.h"
#include "wire/session.h"

/* enum session_heap_level; 0: everything is recorded. */
extern _Atomic uint32_t heap_level PRELOAD_OWN;

/* The size of a thread's ring in words: the first threads get the most. */
uint32_t heap_budget_ring_words(uint32_t index);

/* The same without a memory limit. */
uint32_t heap_budget_most_words(uint32_t index);

/* Whether a thread has the small tables. */
bool heap_budget_is_small(uint32_t index);

/* Whether it has the large ones: the first threads, if there is no memory limit. */
bool heap_budget_is_large(uint32_t index);

/* Adds to the memory in use. */
void heap_budget_take(uint64_t bytes);

/* Call in a child of fork. */
void heap_budget_resume(void);

/* Average bytes between recorded blocks; 0: all are recorded. */
uint64_t heap_budget_rate(void);

/* Reports that one of our tables is damaged. */
void heap_budget_error(void);

#endif
