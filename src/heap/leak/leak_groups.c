/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/leak/leak_groups.h"

#include <stdbool.h>

#include "heap/leak/reach.h"

void leak_groups_fini(struct leak_groups *groups)
{
	vec_fini(&groups->groups);
	id_index_fini(&groups->index);
}

static bool is_same(const struct leak_group *group, const struct leak_group *other)
{
	return group->stack == other->stack && group->thread == other->thread &&
	       group->size_bytes == other->size_bytes && group->evidence == other->evidence &&
	       group->leak_class == other->leak_class;
}

static void join(struct leak_group *group, const struct leak_group *one)
{
	group->blocks++;
	group->led_blocks += one->led_blocks;
	group->led_bytes += one->led_bytes;
	if (one->first_born_ns < group->first_born_ns)
		group->first_born_ns = one->first_born_ns;
	if (one->last_born_ns > group->last_born_ns)
		group->last_born_ns = one->last_born_ns;
}

int leak_groups_add(struct leak_groups *groups, const struct reach_block *block,
		    const struct reach_answer *answer)
{
	const struct leak_group one = {.size_bytes = block->size_bytes,
				       .blocks = 1,
				       .led_blocks = answer->led_blocks,
				       .led_bytes = answer->led_bytes,
				       .first_born_ns = block->born_ns,
				       .last_born_ns = block->born_ns,
				       .example = block->address,
				       .stack = block->stack,
				       .thread = block->thread,
				       .evidence = answer->evidence,
				       .leak_class = answer->leak_class};
	uint64_t hash =
		hash_pair(hash_pair(one.stack, one.thread),
			  one.size_bytes << 20 ^ (uint64_t)one.evidence << 4 ^ one.leak_class);
	struct id_probe probe = id_index_probe(&groups->index, hash);
	uint32_t id;

	groups->blocks++;
	groups->bytes += block->size_bytes;
	while ((id = id_probe_next(&groups->index, &probe)) != ID_NONE)
		if (is_same(&groups->groups.items[id], &one)) {
			join(&groups->groups.items[id], &one);
			return 0;
		}
	if (id_index_add(&groups->index, hash, (uint32_t)groups->groups.count) < 0)
		return -ENOMEM;
	return vec_push(&groups->groups, one);
}
