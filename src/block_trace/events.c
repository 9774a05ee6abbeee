/* SPDX-License-Identifier: BSD-2-Clause */
#include "block_trace/events.h"

#include <errno.h>
#include <string.h>

#include "block_trace/memory.h"

int trace_events_open(struct trace_events *events, struct trace_memory *memory, size_t bytes)
{
	uint64_t capacity = 1;
	struct trace_event *slots;

	while (capacity * 2 <= bytes / sizeof(*slots))
		capacity *= 2;
	slots = trace_memory_map(memory, capacity * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	events->slots = slots;
	events->capacity = capacity;
	events->capacity_usual = capacity;
	events->memory = memory;
	events->is_kept = false;
	events->first = atomic_load_explicit(&events->next, memory_order_relaxed);
	return 0;
}

void trace_events_close(struct trace_events *events, struct trace_memory *memory)
{
	trace_memory_unmap(memory, events->slots, events->capacity * sizeof(*events->slots));
	events->slots = NULL;
	events->capacity = 0;
	events->is_kept = false;
}

/* Moves the newest events before `end` to a buffer of another size. Without memory, nothing
 * changes. */
static void resize(struct trace_events *events, uint64_t capacity, uint64_t end)
{
	uint64_t both = capacity < events->capacity ? capacity : events->capacity;
	uint64_t number = end - events->first > both ? end - both : events->first;
	struct trace_event *slots =
		trace_memory_map(events->memory, capacity * sizeof(*events->slots));

	if (!slots)
		return;
	for (; number < end; number++)
		memcpy(&slots[number & (capacity - 1)],
		       &events->slots[number & (events->capacity - 1)], sizeof(*slots));
	trace_memory_unmap(events->memory, events->slots, events->capacity * sizeof(*slots));
	events->slots = slots;
	events->capacity = capacity;
}

void trace_events_grow(struct trace_events *events)
{
	/* The newest event has a number and no place yet. */
	resize(events, events->capacity * 2,
	       atomic_load_explicit(&events->next, memory_order_relaxed) - 1);
}

void trace_events_keep(struct trace_events *events, uint64_t number)
{
	uint64_t next = atomic_load_explicit(&events->next, memory_order_relaxed);

	events->kept_from = number;
	events->is_kept = true;
	if (events->capacity > events->capacity_usual && next - number < events->capacity_usual)
		resize(events, events->capacity_usual, next);
}

void trace_events_keep_none(struct trace_events *events)
{
	events->is_kept = false;
	if (events->slots && events->capacity > events->capacity_usual)
		resize(events, events->capacity_usual,
		       atomic_load_explicit(&events->next, memory_order_relaxed));
}

int trace_events_get(const struct trace_events *events, uint64_t number, struct trace_event *ret)
{
	const struct trace_event *slot = &events->slots[number & (events->capacity - 1)];
	uint64_t next = atomic_load_explicit(&events->next, memory_order_acquire);
	uint32_t before = atomic_load_explicit(&slot->number, memory_order_acquire);

	if (number < events->first || number + events->capacity < next)
		return -ENOENT;
	if (before != (uint32_t)number + 1)
		return 0;
	ret->ticks = slot->ticks;
	ret->address_kind = slot->address_kind;
	ret->size = slot->size;
	ret->site = slot->site;
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&slot->number, memory_order_relaxed) != before)
		return -ENOENT;
	atomic_store_explicit(&ret->number, before, memory_order_relaxed);
	return 1;
}
