/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_HEAP_HEAP_MEMORY_H
#define WICK_VIEW_HEAP_HEAP_MEMORY_H

/*
 * heap_memory: the memory of the processes whose heap was recorded, as reported by the kernel.
 * docs/design/heap.md explains each part.
 *
 * In JSON it is a list of readings {time_ns, resident_bytes, split}: the sum over all processes,
 * each as last read. split is null unless a process was split at that moment or had ended:
 * {tracked_bytes, untracked_bytes, stack_bytes, file_bytes, wick_bytes, heap_bytes,
 * heap_size_bytes, fragmentation}; the first five add up to the resident memory at that time.
 */

#include <stddef.h>
#include <stdint.h>

struct bytes;
struct heap_memory_sum;
struct json;

/* Writes the list under key; times count from from_ns before the start of the analysis. */
void heap_memory_put_json(struct json *json, const char *key, const struct heap_memory_sum *sums,
			  size_t count, uint64_t from_ns);

/* Describes the split reading with the most resident memory; nothing if there is none. */
void heap_memory_put_text(const struct heap_memory_sum *sums, size_t count, struct bytes *out);

#endif
