/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_WIRE_SESSION_LAYOUT_H
#define WICK_WIRE_SESSION_LAYOUT_H

/* session_layout: where slots and rings are in a process file. */

#include <stdint.h>

#include "wire/session.h"

/*
 * Few programs have more threads than this: the others have their slots and rings after these, and
 * smaller rings.
 */
#define SESSION_FIRST_SLOTS 1024u
#define SESSION_MORE_WORDS 4096u

struct session_layout {
	uint64_t slots_offset;
	uint64_t rings_offset;
	uint32_t ring_words; /* of the first slots */
};

#define SESSION_MORE_BYTES                                                                         \
	((uint64_t)(SESSION_SLOTS - SESSION_FIRST_SLOTS) * sizeof(struct session_slot))
_Static_assert(SESSION_MORE_BYTES % 65536 == 0, "rings begin on pages of any size");

/* The maximum size of a ring in words. */
static inline uint32_t session_ring_words(const struct session_layout *layout, uint32_t index)
{
	return index < SESSION_FIRST_SLOTS || layout->ring_words < SESSION_MORE_WORDS
		       ? layout->ring_words
		       : SESSION_MORE_WORDS;
}

/* Where the slots after the first ones begin. */
static inline uint64_t session_more_offset(const struct session_layout *layout)
{
	return layout->rings_offset + (uint64_t)SESSION_FIRST_SLOTS * layout->ring_words * 8;
}

static inline uint64_t session_slot_offset(const struct session_layout *layout, uint32_t index)
{
	return index < SESSION_FIRST_SLOTS
		       ? layout->slots_offset + index * sizeof(struct session_slot)
		       : session_more_offset(layout) +
				 (index - SESSION_FIRST_SLOTS) * sizeof(struct session_slot);
}

/* For SESSION_SLOTS: where the last one ends. */
static inline uint64_t session_ring_offset(const struct session_layout *layout, uint32_t index)
{
	return index < SESSION_FIRST_SLOTS
		       ? layout->rings_offset + (uint64_t)index * layout->ring_words * 8
		       : session_more_offset(layout) + SESSION_MORE_BYTES +
				 (uint64_t)(index - SESSION_FIRST_SLOTS) *
					 session_ring_words(layout, index) * 8;
}

#endif
