/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/ring_overwrite.h"

#include <stdatomic.h>

#include "wire/session.h"

/*
 * The position after a record. If the program has overwritten it by mistake, it may be invalid:
 * then everything up to the head is released.
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
	/* The program may have overwritten it: then the distance is meaningless. */
	if (head - oldest > size)
		oldest = head;
	if (end - oldest <= size)
		return true;
	/* Labels are released together with their sample. */
	while (oldest != head && (end - oldest > size || kind == SESSION_LABELS))
		oldest = behind(ring, size, oldest, head, &kind);
	/* Stored after the head, which it does not exceed. */
	atomic_store_explicit(&slot->oldest, oldest, memory_order_release);
	/* A reader that sees a new word also sees that its position was released. */
	atomic_thread_fence(memory_order_release);
	return true;
}

void ring_count_sample(struct session_slot *slot)
{
	uint64_t samples = atomic_load_explicit(&slot->samples, memory_order_relaxed);

	/*
	 * After the head: a reader that sees the count also sees the sample, or that it was
	 * released.
	 */
	atomic_store_explicit(&slot->samples, samples + 1, memory_order_release);
}
