/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/signal/overwrite_ring_reader.h"

#include <string.h>

/* Loads a word that may change concurrently. */
static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* Copies what should be a record. False: invalid, or out of memory. */
static bool copy_record(const struct overwrite_ring_reader *ring, struct moving_copy *copy)
{
	uint64_t at = ring->tail & (ring->size - 1);
	uint64_t first = load(ring->words + at);
	struct session_record record;

	memcpy(&record, &first, sizeof(record));
	if (record.words == 0 || record.words > ring->head - ring->tail ||
	    record.words > ring->size - at || vec_reserve(&copy->words, record.words) < 0)
		return false;
	copy->words.items[0] = first;
	for (uint32_t i = 1; i < record.words; i++)
		copy->words.items[i] = load(ring->words + at + i);
	copy->words.count = record.words;
	return true;
}

static void skip_damaged(struct overwrite_ring_reader *ring)
{
	ring->damaged = true;
	ring->tail = ring->head;
}

const struct session_record *overwrite_ring_reader_next(struct overwrite_ring_reader *ring,
							struct moving_copy *copy)
{
	while (ring->tail < ring->head) {
		uint64_t oldest = atomic_load_explicit(&ring->slot->oldest, memory_order_acquire);
		bool whole;

		if (oldest > ring->tail)
			ring->tail = oldest;
		if (ring->tail >= ring->head)
			break;
		/* The writer releases before it writes: at most one ring of data is left. */
		if (ring->head - ring->tail > ring->size) {
			skip_damaged(ring);
			break;
		}
		whole = copy_record(ring, copy);
		/* The copy is valid only if the writer has not been there meanwhile. */
		atomic_thread_fence(memory_order_acquire);
		if (atomic_load_explicit(&ring->slot->oldest, memory_order_relaxed) > ring->tail)
			continue;
		if (!whole) {
			skip_damaged(ring);
			break;
		}
		ring->tail += copy->words.count;
		return (const struct session_record *)copy->words.items;
	}
	return NULL;
}
