/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/ring_room.h"

#include <stdatomic.h>

#include "wire/session.h"

/*
 * The position behind the record at another. What the program itself has written over
 * by mistake may be no record: then all up to the head are given up.
 */
static uint64_t behind(const uint64_t *ring, uint64_t size, uint64_t at, uint64_t head,
		       uint16_t *ret_kind)
{
	const struct session_record *record =
		(const struct session_record *)(ring + (at & (size - 1)));
	uint64_t words = record->words;

	*ret_kind = record->kind;
	return words == 0 || words > head - at ? head : at + words;
}

bool ring_make_room(struct session_slot *slot, const uint64_t *ring, uint64_t size, uint64_t end)
{
	uint64_t head = atomic_load_explicit(&slot->head, memory_order_relaxed);
	uint64_t oldest = atomic_load_explicit(&slot->oldest, memory_order_relaxed);
	uint16_t kind = SESSION_PAD;

	if (end - head > size)
		return false;
	/* The program may have written over it: there is no end to what lies between them then. */
	if (head - oldest > size)
		oldest = head;
	if (end - oldest <= size)
		return true;
	/* Labels go with the sample that they are for. */
	while (oldest != head && (end - oldest > size || kind == SESSION_LABELS))
		oldest = behind(ring, size, oldest, head, &kind);
	/* Behind the head that it does not go beyond. */
	atomic_store_explicit(&slot->oldest, oldest, memory_order_release);
	/* Who sees a word of what is written next sees that its place was given up. */
	atomic_thread_fence(memory_order_release);
	return true;
}

void ring_count_sample(struct session_slot *slot)
{
	uint64_t samples = atomic_load_explicit(&slot->samples, memory_order_relaxed);

	/* Behind the head: who sees the count sees the sample too, or that it was given up. */
	atomic_store_explicit(&slot->samples, samples + 1, memory_order_release);
}
