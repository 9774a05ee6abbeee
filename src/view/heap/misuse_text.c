/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/heap/misuse_text.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "base/id_index.h"
#include "base/json.h"
#include "base/text.h"
#include "heap/analysis.h"
#include "heap/heap_profile.h"
#include "heap/report.h"
#include "model/profile.h"
#include "view/heap/leak_stacks.h"

#define FRAMES_SHOWN 12u

/* "second < main < …", innermost function first. */
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
			     " free%s of memory that no allocator returned, %s0x%" PRIx64 "\n",
			     group->count, one ? "" : "s", one ? "" : "the first of ",
			     group->address);
	put_stack(out, heap->profile, group->op == HEAP_MOVE ? "realloc by" : "freed by",
		  stacks->stack);
	put_stack(out, heap->profile, "earlier by", stacks->freed);
	put_stack(out, heap->profile, "allocated by", stacks->allocated);
}

void misuse_text_put(struct bytes *out, const struct heap_profile *heap, size_t most)
{
	const struct heap_misuses *misuses = &heap_analysis_report(heap->analysis)->misuses;

	for (size_t i = 0; i < misuses->groups.count && i < most; i++)
		put_group(out, heap, i);
	if (misuses->groups.count > most)
		bytes_printf(out, "             and %zu more kinds\n",
			     misuses->groups.count - most);
}

static void json_stack(struct json *json, const struct profile *profile, const char *key,
		       uint32_t stack)
{
	if (stack != ID_NONE)
		leak_stacks_put_frames(profile, stack, key, json);
}

void misuse_put_json(struct json *json, const struct heap_profile *heap)
{
	const struct heap_misuses *misuses = &heap_analysis_report(heap->analysis)->misuses;

	json_open_array(json, "misuses");
	for (size_t i = 0; i < misuses->groups.count; i++) {
		const struct heap_misuse *group = &misuses->groups.items[i];
		const struct heap_misuse_stacks *stacks = &heap->misuses[i];
		bool is_double = group->kind == HEAP_DOUBLE_FREE;

		json_open_object(json, NULL);
		json_string(json, "kind", is_double ? "double free" : "foreign free");
		json_u64(json, "count", group->count);
		json_bool(json, "realloc", group->op == HEAP_MOVE);
		json_u64(json, "address", group->address);
		json_u64(json, "time_ns", group->time_ns);
		if (is_double) {
			json_u64(json, "size", group->size);
			json_u64(json, "freed_ns", group->freed_ns);
		}
		json_stack(json, heap->profile, "frames", stacks->stack);
		json_stack(json, heap->profile, "freed_frames", stacks->freed);
		json_stack(json, heap->profile, "allocated_frames", stacks->allocated);
		json_close(json);
	}
	json_close(json);
	json_u64(json, "misuses_left_out", misuses->left_out);
}
