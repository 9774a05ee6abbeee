/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ptrace/tid_index.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_SLOTS 64u

void tid_index_fini(struct tid_index *index)
{
	free(index->slots);
	*index = (struct tid_index){0};
}

/* Ids are consecutive: multiplying spreads neighbours. */
static uint32_t home_of(const struct tid_index *index, pid_t tid)
{
	return ((uint32_t)tid * 0x9e3779b1u >> 7) & index->mask;
}

/* The slot of a thread, or the free slot where it belongs. */
static struct tid_slot *find_slot(const struct tid_index *index, pid_t tid)
{
	uint32_t at = home_of(index, tid);

	while (index->slots[at].tid != 0 && index->slots[at].tid != tid)
		at = (at + 1) & index->mask;
	return &index->slots[at];
}

static int grow(struct tid_index *index)
{
	uint32_t size = index->slots ? 2 * (index->mask + 1) : FIRST_SLOTS;
	struct tid_index larger = {.slots = calloc(size, sizeof(*larger.slots)),
				   .mask = size - 1,
				   .count = index->count};

	if (!larger.slots)
		return -ENOMEM;
	for (uint32_t i = 0; index->slots && i <= index->mask; i++)
		if (index->slots[i].tid != 0)
			*find_slot(&larger, index->slots[i].tid) = index->slots[i];
	free(index->slots);
	*index = larger;
	return 0;
}

int tid_index_set(struct tid_index *index, pid_t tid, uint32_t place)
{
	struct tid_slot *slot = index->slots ? find_slot(index, tid) : NULL;

	if (!slot || slot->tid == 0) {
		if ((!slot || index->count >= index->mask / 2) && grow(index) < 0)
			return -ENOMEM;
		slot = find_slot(index, tid);
		index->count++;
	}
	*slot = (struct tid_slot){tid, place};
	return 0;
}

uint32_t tid_index_find(const struct tid_index *index, pid_t tid)
{
	const struct tid_slot *slot = index->slots && tid != 0 ? find_slot(index, tid) : NULL;

	return slot && slot->tid == tid ? slot->place : TID_NOWHERE;
}

void tid_index_remove(struct tid_index *index, pid_t tid)
{
	struct tid_slot *gap = index->slots && tid != 0 ? find_slot(index, tid) : NULL;
	uint32_t at;

	if (!gap || gap->tid == 0)
		return;
	index->count--;
	at = (uint32_t)(gap - index->slots);
	for (;;) {
		uint32_t home;

		at = (at + 1) & index->mask;
		if (index->slots[at].tid == 0)
			break;
		home = home_of(index, index->slots[at].tid);
		/* An entry whose probe path crosses the gap moves into it. */
		if (((at - home) & index->mask) >=
		    ((at - (uint32_t)(gap - index->slots)) & index->mask)) {
			*gap = index->slots[at];
			gap = &index->slots[at];
		}
	}
	gap->tid = 0;
}
