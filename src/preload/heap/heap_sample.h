/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_HEAP_SAMPLE_H
#define WICK_PRELOAD_HEAP_HEAP_SAMPLE_H

/* heap_sample: which blocks are sampled, and how their frees are recognised. */

#include <stdbool.h>

#include "wire/heap_record.h"

struct preload_thread;

/* Draws the number of bytes until the next sampled block, into thread->left_bytes. */
void heap_sample_next(struct preload_thread *thread);
/*
 * Add and remove sampled blocks, to recognise their frees. A block of a pool may start at the same
 * address as the pool's memory.
 */
void heap_sample_add(enum session_call call, const void *block);
bool heap_sample_remove(enum session_call call, const void *block);
/*
 * heap_sample_note() notes that a block was just sampled, heap_sample_is_last() returns whether it
 * is still the last block that the thread allocated.
 */
void heap_sample_note(struct preload_thread *thread, enum session_call call, const void *block);
bool heap_sample_is_last(const struct preload_thread *thread, enum session_call call,
			 const void *block);

#endif
