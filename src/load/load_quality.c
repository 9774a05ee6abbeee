/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/load_quality.h"

#include "load/names/known_root.h"
#include "model/profile.h"
#include "symbol/symboliser.h"

static void judge_leaf(const struct load_quality *load, const struct load_judged *leaf,
		       uint64_t count)
{
	struct profile_quality *quality = &load->profile->quality;
	size_t last = load->gap_count - 1;
	struct profile_gap *gap = &load->gaps[leaf->module < last ? (size_t)leaf->module : last];

	quality->resolved += leaf->quality == SYMBOL_FULL ? count : 0;
	quality->name_only += leaf->quality == SYMBOL_NAME_ONLY ? count : 0;
	quality->unsymbolised += leaf->quality >= SYMBOL_NONE ? count : 0;
	quality->corrupted += leaf->quality == SYMBOL_DAMAGED ? count : 0;
	quality->invalid += leaf->quality == SYMBOL_INVALID ? count : 0;
	gap->unlined += leaf->quality == SYMBOL_NAME_ONLY ? count : 0;
	gap->unnamed += leaf->quality >= SYMBOL_NONE ? count : 0;
}

void load_quality_add(const struct load_quality *load, uint32_t stack, uint64_t count)
{
	struct profile_quality *quality = &load->profile->quality;
	const struct stack_node *nodes = load->profile->stacks.nodes.items;
	uint32_t root;

	quality->samples += count;
	if (stack == 0)
		return;
	judge_leaf(load, &load->judged[nodes[stack].frame], count);
	if (!load->may_be_cut && !load->by_frame_pointers)
		return;
	for (root = stack; nodes[root].parent != 0; root = nodes[root].parent)
		;
	if (profile_is_truncated(load->profile, nodes[root].frame) ||
	    (load->by_frame_pointers &&
	     !known_root_is(load->profile, nodes[root].frame, root == stack)))
		quality->truncated += count;
}
