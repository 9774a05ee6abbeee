/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BLOCK_TRACE_EVENTS_H
#define WICK_BLOCK_TRACE_EVENTS_H

/*
 * events: a ring buffer of the newest allocations and frees, 32 bytes each. The oldest events are
 * overwritten.
 *
 * Threads: several may write at once; one reads, and copies only complete events. A writer first
 * invalidates its slot, then fills it, then sets its number.
 */

#include <stdatomic.h>
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
};

/* The capacity is rounded down to a power of two. Returns 0 or -ENOMEM. */
int trace_events_open(struct trace_events *events, struct trace_memory *memory, size_t bytes);
void trace_events_close(struct trace_events *events, struct trace_memory *memory);

static inline void trace_events_put(struct trace_events *events, enum trace_event_kind kind,
				    uint64_t address, uint64_t size, uint32_t site)
{
	uint64_t number = atomic_fetch_add_explicit(&events->next, 1, memory_order_relaxed);
	struct trace_event *slot = &events->slots[number & (events->capacity - 1)];

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
