/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_HEAP_SAMPLE_H
#define WICK_PRELOAD_HEAP_HEAP_SAMPLE_H

/* heap_sample: which blocks are written down where not all are, and how their end is known. */

#include <stdbool.h>

#include "wire/heap_record.h"

struct preload_thread;

/* Draws the bytes up to the next one that is marked, into thread->left_bytes. */
void heap_sample_next(struct preload_thread *thread);
/* Blocks that were taken, to know their end by. One of a pool may begin where its memory does. */
void heap_sample_add(enum session_call call, const void *block);
bool heap_sample_remove(enum session_call call, const void *block);
/* Notes that a block was just taken; whether it is still the last of all that the thread has
 * allocated. */
void heap_sample_note(struct preload_thread *thread, enum session_call call, const void *block);
bool heap_sample_is_last(const struct preload_thread *thread, enum session_call call,
			 const void *block);

#endif
