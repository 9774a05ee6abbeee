/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ebpf/kept_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void kept_stacks_fini(struct kept_stacks *stacks)
{
	for (size_t i = 0; i < stacks->items.count; i++)
		free(stacks->items.items[i].frames);
	vec_fini(&stacks->items);
}

/* Stacks whose record never arrived: the thread has ended, or the record was lost. */
static void drop_first_half(struct kept_stacks *stacks)
{
	size_t half = stacks->items.count / 2;

	for (size_t i = 0; i < half; i++)
		free(stacks->items.items[i].frames);
	stacks->items.count -= half;
	memmove(stacks->items.items, stacks->items.items + half,
		stacks->items.count * sizeof(*stacks->items.items));
}

int kept_stacks_put(struct kept_stacks *stacks, uint32_t tid, const struct frame *frames, size_t n)
{
	struct kept_stack fresh = {
		.tid = tid, .count = n, .frames = malloc(n * sizeof(*frames) + 1)};
	struct kept_stack old;

	if (kept_stacks_take(stacks, tid, &old))
		free(old.frames);
	if (!fresh.frames)
		return -ENOMEM;
	if (n > 0)
		memcpy(fresh.frames, frames, n * sizeof(*frames));
	if (stacks->limit > 0 && stacks->items.count >= stacks->limit)
		drop_first_half(stacks);
	if (vec_push(&stacks->items, fresh) < 0) {
		free(fresh.frames);
		return -ENOMEM;
	}
	return 0;
}

void kept_stacks_set_facts(struct kept_stacks *stacks, const struct stack_facts *facts)
{
	if (stacks->items.count > 0)
		stacks->items.items[stacks->items.count - 1].facts = *facts;
}

bool kept_stacks_take(struct kept_stacks *stacks, uint32_t tid, struct kept_stack *ret)
{
	/* The stack that was stored last is usually requested first. */
	for (size_t i = stacks->items.count; i-- > 0;) {
		if (stacks->items.items[i].tid != tid)
			continue;
		*ret = stacks->items.items[i];
		stacks->items.items[i] = stacks->items.items[--stacks->items.count];
		return true;
	}
	return false;
}
