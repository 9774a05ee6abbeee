/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BLOCK_TRACE_EVENTS_H
#define WICK_BLOCK_TRACE_EVENTS_H

/*
 * events: a ring buffer of the newest allocations and frees, 32 bytes each. The oldest events are
 * overwritten, unless they are kept for a reader: then the buffer grows instead.
 *
 * Threads: several may write at once; one reads, and copies only complete events. A writer first
 * invalidates its slot, then fills it, then sets its number. While events are kept, the owner has
 * to lock.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "safe/ticks.h"

struct trace_memory;

enum trace_event_kind {
	TRACE_ALLOCATION = 1,
	TRACE_FREE = 2,
	TRACE_CLEAR = 3, /* all live blocks were dropped from the table */
	TRACE_MARK = 4,  /* the size is the number of the mark */
};

struct trace_event {
	uint64_t ticks;
	uint64_t address_kind; /* address << 8 | kind */
	uint64_t size;
	uint32_t site;
	_Atomic uint32_t number; /* low half of the event's number + 1; 0: being written */
};

struct trace_events {
	struct trace_event *slots; /* NULL: no events are kept */
	uint64_t capacity;         /* a power of two */
	uint64_t first;            /* number of the first event since trace_events_open() */
	_Atomic uint64_t next;
	struct trace_memory *memory;
	uint64_t capacity_usual; /* without events that wait for a reader */
	uint64_t kept_from;
	bool is_kept;
};

/* The capacity is rounded down to a power of two. Returns 0 or -ENOMEM. */
int trace_events_open(struct trace_events *events, struct trace_memory *memory, size_t bytes);
void trace_events_close(struct trace_events *events, struct trace_memory *memory);

/*
 * From now on, no event from `number` on is overwritten, as long as there is memory. Call it again
 * with a higher number after reading; the buffer then shrinks to its usual size when it can. No
 * other thread may be writing.
 */
void trace_events_keep(struct trace_events *events, uint64_t number);
/* The oldest events are overwritten again. No other thread may be writing. */
void trace_events_keep_none(struct trace_events *events);
/* Doubles the size of a buffer that is full of kept events. */
void trace_events_grow(struct trace_events *events);

static inline void trace_events_put(struct trace_events *events, enum trace_event_kind kind,
				    uint64_t address, uint64_t size, uint32_t site)
{
	uint64_t number = atomic_fetch_add_explicit(&events->next, 1, memory_order_relaxed);
	struct trace_event *slot;

	if (__builtin_expect(events->is_kept, 0) && number - events->kept_from >= events->capacity)
		trace_events_grow(events);
	slot = &events->slots[number & (events->capacity - 1)];
	atomic_store_explicit(&slot->number, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	slot->ticks = safe_ticks();
	slot->address_kind = address << 8 | kind;
	slot->size = size;
	slot->site = site;
	atomic_store_explicit(&slot->number, (uint32_t)number + 1, memory_order_release);
}

/*
 * Copies event `number` if it is complete and not overwritten. Returns 1, 0 if it is being written,
 * or -ENOENT if it was overwritten.
 */
int trace_events_get(const struct trace_events *events, uint64_t number, struct trace_event *ret);

#endif
