/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_HEAP_HEAP_MEMORY_H
#define WICK_VIEW_HEAP_HEAP_MEMORY_H

/*
 * heap_memory: the memory of the processes whose heap was recorded, as the kernel told it.
 * docs/design/heap.md says what each part means.
 *
 * As JSON a list of readings, {time_ns, resident_bytes, split}: all processes together, each as it
 * was read last. split is null but when one was split just then, or had ended: {tracked_bytes,
 * untracked_bytes, stack_bytes, file_bytes, wick_bytes, heap_bytes, heap_size_bytes,
 * fragmentation}, of which the first five add up to what was resident then.
 */

#include <stddef.h>
#include <stdint.h>

struct bytes;
struct heap_memory_sum;
struct json;

/* Under key; times are since from_ns before the analysis began. */
void heap_memory_put_json(struct json *json, const char *key, const struct heap_memory_sum *sums,
			  size_t count, uint64_t from_ns);

/* The moment at which the most was resident that is split, in words. Nothing when there is none. */
void heap_memory_put_text(const struct heap_memory_sum *sums, size_t count, struct bytes *out);

#endif
