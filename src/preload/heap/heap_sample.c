/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heap_sample: which blocks are sampled. Bytes are marked at random and independently, one in a
 * given number on average; a block with a marked byte is recorded. Sampled blocks are kept in a
 * table, to recognise their frees.
 */
#include "preload/heap/heap_sample.h"

#include <stddef.h>

#include "preload/guarded_memory.h"
#include "preload/heap/exit_scan.h"
#include "preload/heap/heap.h"
#include "preload/heap/heap_budget.h"
#include "preload/heap/heap_memory.h"
#include "safe/exponential.h"

#define TABLE_BITS 18
#define TABLE_SIZE (1u << TABLE_BITS)
#define PROBES 16u

/* Addresses of blocks; 0: free, GONE: removed, keep probing. */
#define GONE 1ull
static _Atomic(_Atomic uint64_t *) table;

/* A counting filter: number of table entries by hash; mostly 0. */
_Atomic uint8_t heap_sample_filter[HEAP_FILTER_SIZE];

static uint64_t next_random(struct preload_thread *thread)
{
	uint64_t x = thread->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	thread->random = x;
	return x * 0x2545f4914f6cdd1dull;
}

/* The distribution is exponential, so the starting point does not matter. */
void heap_sample_next(struct preload_thread *thread)
{
	thread->left_bytes = exponential_step(heap_budget_rate(), next_random(thread));
}

static _Atomic uint64_t *map_table(void)
{
	uint64_t bytes = TABLE_SIZE * sizeof(uint64_t);
	_Atomic uint64_t *expected = NULL;
	_Atomic uint64_t *mine = guarded_map(bytes, false);

	if (!mine)
		return NULL;
	if (!atomic_compare_exchange_strong(&table, &expected, mine)) {
		guarded_unmap(mine, bytes);
		return expected;
	}
	heap_budget_take(bytes);
	exit_scan_note_own((uint64_t)(uintptr_t)mine, bytes);
	return mine;
}

#define ADDRESS_MASK 0xffffffffffffull

/* A 13-bit checksum between address and kind, because programs may overwrite the table. */
static uint64_t check_of(uint64_t key)
{
	uint64_t mixed = (key & ~(0x1fffull << 48)) * 0x9e3779b97f4a7c15ull;

	return mixed >> 51 << 48;
}

/* The key of a block: user addresses leave the upper bits free. */
static uint64_t key_of(enum session_call call, const void *block)
{
	uint64_t kind = call < SESSION_MMAP ? 0 : (uint64_t)call;
	uint64_t key = ((uint64_t)(uintptr_t)block & ADDRESS_MASK) | kind << 61;

	return key | check_of(key);
}

static bool is_sound(uint64_t there)
{
	return there <= GONE || (there & 0x1fffull << 48) == check_of(there);
}

/* Counts and removes a damaged entry. */
static __attribute__((noinline)) void drop(_Atomic uint64_t *at, uint64_t there)
{
	if (atomic_compare_exchange_strong(at, &there, GONE))
		heap_budget_error();
}

void heap_sample_note(struct preload_thread *thread, enum session_call call, const void *block)
{
	thread->last_key = key_of(call, block);
	thread->last_left_bytes = thread->left_bytes;
}

bool heap_sample_is_last(const struct preload_thread *thread, enum session_call call,
			 const void *block)
{
	/* Any later block would have reduced left_bytes. */
	return thread->last_key == key_of(call, block) &&
	       thread->last_left_bytes == thread->left_bytes;
}

static uint32_t slot_of(uint64_t address)
{
	return (uint32_t)(address * 0x9e3779b97f4a7c15ull >> (64 - TABLE_BITS));
}

void heap_sample_add(enum session_call call, const void *block)
{
	_Atomic uint64_t *slots = atomic_load(&table);
	uint64_t address = key_of(call, block);
	uint32_t slot = slot_of(address);

	if (!slots)
		slots = map_table();
	for (uint32_t i = 0; slots && i < PROBES; i++) {
		_Atomic uint64_t *at = &slots[(slot + i) & (TABLE_SIZE - 1)];
		uint64_t there = atomic_load_explicit(at, memory_order_relaxed);

		if (!is_sound(there)) {
			drop(at, there);
			there = GONE;
		}
		if (there <= GONE && atomic_compare_exchange_strong(at, &there, address)) {
			_Atomic uint8_t *kind = heap_sample_kind(block);

			if (atomic_fetch_add(kind, 1) == UINT8_MAX)
				atomic_store(kind, UINT8_MAX); /* saturated */
			return;
		}
	}
	preload_count(SESSION_HEAP_MISSED, 1); /* its free will not be seen */
}

static bool forget_kind(_Atomic uint8_t *kind)
{
	uint8_t count = atomic_load(kind);

	while (count > 0 && count < UINT8_MAX &&
	       !atomic_compare_exchange_weak(kind, &count, (uint8_t)(count - 1)))
		;
	return true;
}

bool heap_sample_remove(enum session_call call, const void *block)
{
	_Atomic uint64_t *slots = atomic_load_explicit(&table, memory_order_relaxed);
	uint64_t address = key_of(call, block);
	uint32_t slot = slot_of(address);

	for (uint32_t i = 0; slots && i < PROBES; i++) {
		_Atomic uint64_t *at = &slots[(slot + i) & (TABLE_SIZE - 1)];
		uint64_t there = atomic_load_explicit(at, memory_order_relaxed);

		if (there == 0)
			return false;
		if (there == address)
			return atomic_compare_exchange_strong(at, &there, GONE) &&
			       forget_kind(heap_sample_kind(block));
		if (!is_sound(there))
			drop(at, there);
	}
	return false;
}
