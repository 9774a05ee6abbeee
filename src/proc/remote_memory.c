/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/remote_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/vec.h"

/* Most stacks fit into the first piece; each further one doubles the size. */
#define FIRST_BYTES (32u << 10)
#define MOST_BYTES (8u << 20)

/* The smallest page size; as many pages as one call accepts. */
#define COPY_PAGE_BYTES 4096u
#define COPY_PAGES 64u

void remote_memory_init(struct remote_memory *memory, pid_t pid)
{
	*memory = (struct remote_memory){.pid = pid, .block_start = UINT64_MAX};
}

void remote_memory_fini(struct remote_memory *memory)
{
	free(memory->bytes);
	memory->bytes = NULL;
	memory->size = memory->capacity = 0;
}

void remote_memory_window(struct remote_memory *memory, uint64_t start, uint64_t high)
{
	memory->start = start;
	memory->high = high > start ? high : start;
	memory->size = 0;
	memory->block_start = UINT64_MAX;
}

static size_t copy_from(struct remote_memory *memory, uint64_t address, void *place, size_t size)
{
	struct iovec local = {place, size};
	struct iovec remote = {(void *)(uintptr_t)address, size};

	memory->calls++;
	ssize_t n = process_vm_readv(memory->pid, &local, 1, &remote, 1, 0);
	return n < 0 ? 0 : (size_t)n;
}

/* Reads more of the window so that it has end bytes, if possible. */
static bool extend(struct remote_memory *memory, uint64_t end)
{
	uint64_t want = memory->size ? 2 * memory->size : FIRST_BYTES;

	if (want < end)
		want = end;
	if (want > memory->high - memory->start)
		want = memory->high - memory->start;
	if (want < end || want > MOST_BYTES)
		return false;
	if (want > memory->capacity)
		memory->bytes = vec_grow(memory->bytes, &memory->capacity, want, 1);
	if (want > memory->capacity)
		return false;
	memory->size += copy_from(memory, memory->start + memory->size,
				  memory->bytes + memory->size, want - memory->size);
	return memory->size >= end;
}

/*
 * A word outside the window: blocks are within a page, so they can be read completely or not at
 * all.
 */
static bool read_block(struct remote_memory *memory, uint64_t address, uint64_t *ret)
{
	uint64_t start = address & ~(uint64_t)(REMOTE_BLOCK - 1);

	if (address - start > REMOTE_BLOCK - sizeof(*ret))
		return copy_from(memory, address, ret, sizeof(*ret)) == sizeof(*ret);
	if (memory->block_start != start) {
		memory->block_start = UINT64_MAX;
		if (copy_from(memory, start, memory->block, REMOTE_BLOCK) != REMOTE_BLOCK)
			return false;
		memory->block_start = start;
	}
	memcpy(ret, memory->block + (address - start), sizeof(*ret));
	return true;
}

bool remote_memory_read(void *object, uint64_t address, uint64_t *ret)
{
	struct remote_memory *memory = object;
	uint64_t offset = address - memory->start;

	if (address < memory->start || address >= memory->high ||
	    memory->high - address < sizeof(*ret))
		return read_block(memory, address, ret);
	/* A stack that was just extended may not be mapped near sp yet, but is further up. */
	if (offset + sizeof(*ret) > memory->size && !extend(memory, offset + sizeof(*ret)))
		return read_block(memory, address, ret);
	memcpy(ret, memory->bytes + offset, sizeof(*ret));
	return true;
}

size_t remote_memory_copy(pid_t pid, uint64_t start, void *buffer, size_t size)
{
	struct iovec remote[COPY_PAGES];
	struct iovec local = {buffer, size};
	size_t count = 0;
	ssize_t n;

	/* The kernel does not guarantee a partial read of a piece that ends in unmapped memory. */
	for (size_t at = 0; at < size && count < COPY_PAGES; count++) {
		size_t room = COPY_PAGE_BYTES - (start + at) % COPY_PAGE_BYTES;

		if (room > size - at)
			room = size - at;
		remote[count] = (struct iovec){(void *)(uintptr_t)(start + at), room};
		at += room;
	}
	n = process_vm_readv(pid, &local, 1, remote, count, 0);
	return n < 0 ? 0 : (size_t)n;
}
