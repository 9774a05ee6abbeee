/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_HEAP_TOTAL_H
#define WICK_PRELOAD_HEAP_HEAP_TOTAL_H

/* heap_total: the allocations of a stack, when blocks are only summed. */

#include <stdint.h>

struct heap_site;
struct preload_thread;

/* Adds a block to the total of its stack. */
void heap_total_add(struct preload_thread *thread, const struct heap_site *site, uint64_t bytes);

/* Write the totals; the first requires the lock. */
void heap_total_put(struct preload_thread *thread);
void heap_total_flush(struct preload_thread *thread);

#endif
