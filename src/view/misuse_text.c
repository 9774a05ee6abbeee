/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/misuse_text.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "base/id_index.h"
#include "base/text.h"
#include "heap/analysis.h"
#include "heap/heap_profile.h"
#include "heap/report.h"
#include "model/profile.h"

#define FRAMES_SHOWN 12u

/* "second < main < …", from the function that did it outwards. */
static void put_stack(struct bytes *out, const struct profile *profile, const char *what,
		      uint32_t stack)
{
	const struct stack_node *nodes = profile->stacks.nodes.items;
	uint32_t shown = 0;

	if (stack == ID_NONE)
		return;
	bytes_printf(out, "             %-12s ", what);
	for (uint32_t at = stack; at != 0; at = nodes[at].parent) {
		const struct profile_location *location =
			&profile->locations.items[nodes[at].frame];

		for (uint32_t i = location->line_count; i-- > 0; shown++) {
			uint32_t function = profile->lines.items[location->first_line + i].function;

			if (shown >= FRAMES_SHOWN)
				continue;
			bytes_printf(out, "%s", shown > 0 ? " < " : "");
			text_put_terminal(
				out,
				profile_text(profile, profile->functions.items[function].name));
		}
	}
	bytes_printf(out, "%s\n", shown > FRAMES_SHOWN ? " < …" : "");
}

static void put_group(struct bytes *out, const struct heap_profile *heap, size_t index)
{
	const struct heap_misuse *group =
		&heap_analysis_report(heap->analysis)->misuses.groups.items[index];
	const struct heap_misuse_stacks *stacks = &heap->misuses[index];
	bool one = group->count == 1;

	if (group->kind == HEAP_DOUBLE_FREE)
		bytes_printf(out,
			     "  misuse     %" PRIu64 " block%s freed twice, %sof %" PRIu64
			     " bytes at 0x%" PRIx64 "\n",
			     group->count, one ? " was" : "s were", one ? "" : "the first ",
			     group->size, group->address);
	else
		bytes_printf(out,
			     "  misuse     %" PRIu64
			     " free%s of what no allocator gave, %s0x%" PRIx64 "\n",
			     group->count, one ? "" : "s", one ? "" : "the first of ",
			     group->address);
	put_stack(out, heap->profile, group->op == HEAP_MOVE ? "realloc by" : "freed by",
		  stacks->stack);
	put_stack(out, heap->profile, "before by", stacks->freed);
	put_stack(out, heap->profile, "allocated by", stacks->allocated);
}

void misuse_text_put(struct bytes *out, const struct heap_profile *heap, size_t most)
{
	const struct heap_misuses *misuses = &heap_analysis_report(heap->analysis)->misuses;

	for (size_t i = 0; i < misuses->groups.count && i < most; i++)
		put_group(out, heap, i);
	if (misuses->groups.count > most)
		bytes_printf(out, "             and %zu more ways\n", misuses->groups.count - most);
}
