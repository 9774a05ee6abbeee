/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/id_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64u
#define MAX_SLOTS (1u << 31)

void id_index_fini(struct id_index *index)
{
	free(index->slots);
	*index = (struct id_index){0};
}

void id_index_clear(struct id_index *index)
{
	index->count = 0;
	if (index->slots)
		memset(index->slots, 0xff, ((size_t)index->mask + 1) * sizeof(*index->slots));
}

static void place(struct id_slot *slots, uint32_t mask, struct id_slot slot)
{
	uint32_t at = slot.hash & mask;

	while (slots[at].id != ID_NONE)
		at = (at + 1) & mask;
	slots[at] = slot;
}

static int grow(struct id_index *index)
{
	size_t count = index->slots ? ((size_t)index->mask + 1) * 2 : FIRST_SLOTS;
	struct id_slot *slots;
	size_t i;

	if (count > MAX_SLOTS)
		return -ENOMEM;
	slots = malloc(count * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	memset(slots, 0xff, count * sizeof(*slots));
	for (i = 0; index->slots && i <= index->mask; i++)
		if (index->slots[i].id != ID_NONE)
			place(slots, (uint32_t)count - 1, index->slots[i]);
	free(index->slots);
	index->slots = slots;
	index->mask = (uint32_t)count - 1;
	return 0;
}

int id_index_add(struct id_index *index, uint64_t hash, uint32_t id)
{
	/* At most 5/8 full: probes stay short even with a mediocre hash. */
	if (!index->slots || index->count >= (index->mask + 1) / 8 * 5) {
		if (grow(index) < 0)
			return -ENOMEM;
	}
	place(index->slots, index->mask, (struct id_slot){.hash = id_index_fold(hash), .id = id});
	index->count++;
	return 0;
}
