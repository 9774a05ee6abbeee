/* SPDX-License-Identifier: BSD-2-Clause */
#include "block_trace/events.h"

#include <errno.h>

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
	events->first = atomic_load_explicit(&events->next, memory_order_relaxed);
	return 0;
}

void trace_events_close(struct trace_events *events, struct trace_memory *memory)
{
	trace_memory_unmap(memory, events->slots, events->capacity * sizeof(*events->slots));
	events->slots = NULL;
	events->capacity = 0;
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
