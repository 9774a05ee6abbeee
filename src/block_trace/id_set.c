/* SPDX-License-Identifier: BSD-2-Clause */
#include "block_trace/id_set.h"

#include <errno.h>
#include <stddef.h>

#include "block_trace/memory.h"

#define FIRST_SLOTS 1024

void trace_id_set_put(struct trace_id_set *set, uint64_t hash, uint32_t id)
{
	uint32_t i = trace_id_set_first(set, hash);

	while (set->slots[i] != 0)
		i = trace_id_set_next(set, i);
	set->slots[i] = id;
	set->count++;
}

void trace_id_set_free(struct trace_id_set *set, struct trace_memory *memory)
{
	trace_memory_unmap(memory, set->slots, trace_id_set_bytes(set));
	*set = (struct trace_id_set){0};
}

int trace_id_set_reserve(struct trace_id_set *set, struct trace_memory *memory,
			 const struct trace_id_set_owner *owner)
{
	struct trace_id_set next = {0};
	size_t capacity = set->slots ? (size_t)set->mask + 1 : 0;
	size_t grown = capacity > 0 ? capacity * 2 : FIRST_SLOTS;

	if (set->count < capacity / 4 * 3)
		return 0;
	next.slots = trace_memory_map(memory, grown * sizeof(*next.slots));
	if (!next.slots) /* a search ends at a free slot */
		return set->count + 1 < capacity ? 0 : -ENOMEM;
	next.mask = (uint32_t)(grown - 1);
	for (size_t i = 0; i < capacity; i++) {
		uint32_t id = set->slots[i];

		if (id != 0 && owner->is_needed(owner->things, id))
			trace_id_set_put(&next, owner->hash(owner->things, id), id);
	}
	trace_id_set_free(set, memory);
	*set = next;
	return 0;
}
