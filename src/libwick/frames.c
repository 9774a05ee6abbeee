/* SPDX-License-Identifier: BSD-2-Clause */
#include "libwick/frames.h"

#include "model/profile.h"

static int add_location(struct frame_list *list, const struct profile *profile, uint32_t id)
{
	const struct profile_location *location = &profile->locations.items[id];
	uint32_t i;
	int r = 0;

	for (i = 0; i < location->line_count && r == 0; i++) {
		struct profile_line line = profile->lines.items[location->first_line + i];
		const struct profile_function *function = &profile->functions.items[line.function];

		r = vec_push(
			&list->items,
			((struct wick_profile_frame){
				.function = profile_text(profile, function->name),
				.file = profile_text(profile, profile_line_file(profile, line)),
				.module = profile_text(profile, location->module),
				.vaddr = location->vaddr,
				.line = line.line,
				.inlined = i > 0,
			}));
	}
	return r;
}

int frame_list_fill(struct frame_list *list, const struct profile *profile, uint32_t stack)
{
	const struct stack_node *nodes = profile->stacks.nodes.items;
	int r = 0;

	list->nodes.count = 0;
	list->items.count = 0;
	for (; stack != 0 && r == 0; stack = nodes[stack].parent)
		r = vec_push(&list->nodes, stack);
	while (r == 0 && list->nodes.count > 0)
		r = add_location(list, profile,
				 nodes[list->nodes.items[--list->nodes.count]].frame);
	return r;
}

void frame_list_fini(struct frame_list *list)
{
	vec_fini(&list->nodes);
	vec_fini(&list->items);
}
