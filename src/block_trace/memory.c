/* SPDX-License-Identifier: BSD-2-Clause */
#include "block_trace/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

#define PAGE_BYTES 4096
#define FIRST_BYTES ((size_t)64 << 10)
/* Tables that are read at random places need large pages once they are larger than the TLB. */
#define LARGE_BYTES ((size_t)4 << 20)

static bool may_request(struct trace_memory *memory)
{
	uint64_t number = atomic_fetch_add_explicit(&memory->requests, 1, memory_order_relaxed) + 1;

	return number != atomic_load_explicit(&memory->fails_at, memory_order_relaxed);
}

void *trace_memory_map(struct trace_memory *memory, size_t bytes)
{
	void *start;

	if (!may_request(memory))
		return NULL;
	start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (start == MAP_FAILED)
		return NULL;
	if (bytes >= LARGE_BYTES)
		(void)madvise(start, bytes, MADV_HUGEPAGE); /* a hint */
	atomic_fetch_add_explicit(&memory->bytes, bytes, memory_order_relaxed);
	return start;
}

void trace_memory_unmap(struct trace_memory *memory, void *start, size_t bytes)
{
	if (!start)
		return;
	munmap(start, bytes);
	atomic_fetch_sub_explicit(&memory->bytes, bytes, memory_order_relaxed);
}

static size_t array_bytes(const struct trace_array *array)
{
	size_t bytes = array->capacity * array->item_bytes;

	return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

int trace_array_reserve(struct trace_memory *memory, struct trace_array *array, size_t count)
{
	size_t old_bytes = array_bytes(array);
	size_t bytes = old_bytes > 0 ? old_bytes : FIRST_BYTES;
	void *start;

	if (count <= array->capacity)
		return 0;
	while (bytes / array->item_bytes < count)
		bytes *= 2;
	if (old_bytes == 0) {
		start = trace_memory_map(memory, bytes);
		if (!start)
			return -ENOMEM;
	} else {
		if (!may_request(memory))
			return -ENOMEM;
		start = mremap(array->items, old_bytes, bytes, MREMAP_MAYMOVE);
		if (start == MAP_FAILED)
			return -ENOMEM;
		atomic_fetch_add_explicit(&memory->bytes, bytes - old_bytes, memory_order_relaxed);
	}
	array->items = start;
	array->capacity = bytes / array->item_bytes;
	return 0;
}

void trace_array_shrink(struct trace_memory *memory, struct trace_array *array)
{
	size_t bytes = array_bytes(array);

	if (bytes <= FIRST_BYTES)
		return;
	munmap((char *)array->items + FIRST_BYTES, bytes - FIRST_BYTES);
	atomic_fetch_sub_explicit(&memory->bytes, bytes - FIRST_BYTES, memory_order_relaxed);
	array->capacity = FIRST_BYTES / array->item_bytes;
}

void trace_array_free(struct trace_memory *memory, struct trace_array *array)
{
	trace_memory_unmap(memory, array->items, array_bytes(array));
	array->items = NULL;
	array->capacity = 0;
}
