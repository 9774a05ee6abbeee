/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/used_ids.h"

#include "model/profile.h"

#define NEEDED 0u /* until it gets its number */

void used_ids_fini(struct used_ids *used)
{
	vec_fini(&used->stacks);
	vec_fini(&used->locations);
	vec_fini(&used->functions);
}

int used_ids_stack(struct used_ids *used, const struct profile *profile, uint32_t stack)
{
	const struct stack_node *nodes = profile->stacks.nodes.items;

	while (used->stacks.count <= stack)
		if (vec_push(&used->stacks, ID_NONE) < 0)
			return -ENOMEM;
	for (; stack != 0 && used->stacks.items[stack] == ID_NONE; stack = nodes[stack].parent)
		used->stacks.items[stack] = NEEDED;
	return 0;
}

static uint32_t number(uint32_t *items, size_t count)
{
	uint32_t next = 0;
	size_t i;

	for (i = 0; i < count; i++)
		if (items[i] != ID_NONE)
			items[i] = next++;
	return next;
}

int used_ids_number(struct used_ids *used, const struct profile *profile)
{
	const struct stack_node *nodes = profile->stacks.nodes.items;
	size_t i;
	uint32_t at;

	for (i = 0; i < profile->locations.count; i++)
		if (vec_push(&used->locations, ID_NONE) < 0)
			return -ENOMEM;
	for (i = 0; i < profile->functions.count; i++)
		if (vec_push(&used->functions, ID_NONE) < 0)
			return -ENOMEM;
	for (i = 0; i < used->stacks.count; i++)
		if (used->stacks.items[i] != ID_NONE)
			used->locations.items[nodes[i].frame] = NEEDED;
	for (i = 0; i < profile->locations.count; i++) {
		const struct profile_location *location = &profile->locations.items[i];

		for (at = 0; at < location->line_count && used->locations.items[i] == NEEDED; at++)
			used->functions
				.items[profile->lines.items[location->first_line + at].function] =
				NEEDED;
	}
	used->stack_count = number(used->stacks.items, used->stacks.count);
	used->location_count = number(used->locations.items, used->locations.count);
	used->function_count = number(used->functions.items, used->functions.count);
	return 0;
}

int used_ids_by_entries(struct used_ids *used, const struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->entries.count; i++)
		if (used_ids_stack(used, profile, profile->entries.items[i].stack) < 0)
			return -ENOMEM;
	return used_ids_number(used, profile);
}
