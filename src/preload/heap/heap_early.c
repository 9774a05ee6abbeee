/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap_early: resolving the allocator may itself allocate. Such blocks come from our own mapping,
 * are recognised by their addresses, and are never freed.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/heap/heap.h"
#include "safe/syscall.h"

#define ROOM_BYTES (16ull << 20) /* address space; pages are allocated on use */
#define SMALL_ROOM_BYTES (1ull << 20)

struct early_head {
	uint64_t size;
	uint64_t zero; /* aligns the block after it like malloc() */
};

_Atomic uint64_t heap_early_begin;
_Atomic uint64_t heap_early_bytes;
static _Atomic uint64_t used;

static uint64_t map_room(uint64_t bytes)
{
	long address = safe_syscall(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return address < 0 && address > -4096 ? 0 : (uint64_t)address;
}

static uint64_t find_room(void)
{
	uint64_t bytes = ROOM_BYTES;
	uint64_t begin = atomic_load(&heap_early_begin);
	uint64_t expected = 0;

	if (begin)
		return begin;
	heap_set_detour(HEAP_EARLY_BLOCKS, true);
	begin = map_room(bytes);
	if (!begin)
		begin = map_room(bytes = SMALL_ROOM_BYTES);
	if (!begin)
		return 0;
	atomic_store(&heap_early_bytes, bytes);
	if (!atomic_compare_exchange_strong(&heap_early_begin, &expected, begin)) {
		(void)safe_syscall(SYS_munmap, (long)begin, (long)bytes);
		return expected;
	}
	return begin;
}

void *heap_early(size_t size, size_t alignment)
{
	uint64_t begin = find_room();
	uint64_t bytes;
	uint64_t at;
	struct early_head *head;

	if (alignment < 2 * sizeof(uint64_t))
		alignment = 2 * sizeof(uint64_t);
	if (!begin || size > ROOM_BYTES || alignment > ROOM_BYTES) {
		errno = ENOMEM;
		return NULL;
	}
	bytes = sizeof(*head) + ((uint64_t)size + 15) / 16 * 16 + alignment;
	at = atomic_fetch_add(&used, bytes);
	if (at + bytes > atomic_load(&heap_early_bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	at = (begin + at + sizeof(*head) + alignment - 1) / alignment * alignment;
	head = (struct early_head *)at - 1;
	head->size = size;
	return (void *)at;
}

size_t heap_early_size(const void *block)
{
	return ((const struct early_head *)block)[-1].size;
}
