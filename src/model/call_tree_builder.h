/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_CALL_TREE_BUILDER_H
#define WICK_MODEL_CALL_TREE_BUILDER_H

/* call_tree_builder: shared by the files that build call trees; not for others. */

#include "base/vec.h"
#include "model/call_tree.h"
#include "model/profile.h"

struct call_tree {
	const struct profile *profile;
	VEC(struct call_node) nodes;
	struct strings labels; /* of groups */
	uint32_t *stacks;      /* the node of each stack, if kept; else NULL */
	uint32_t max_depth;
};

struct call_tree_builder {
	struct call_tree *tree;
	const struct profile *profile;
	struct call_tree_options options;
	uint32_t samples_value;
	uint32_t *thread_group; /* label id of each thread; NULL without groups */
	uint32_t *entry_order;  /* entries, group by group; NULL without groups */
	uint32_t *ranks;        /* alphabetical position of each function, then of each label */
	uint32_t *by_rank;      /* the keys at these positions */
	uint32_t *memo;         /* call node of a stack node; stale unless above the group's */
	struct id_index index;  /* (parent, function) -> call node, for wide nodes */
	VEC(uint32_t) path;
};

/* The entry at a position when entries are ordered by group. */
static inline uint32_t call_tree_entry(const struct call_tree_builder *builder, size_t position)
{
	return builder->entry_order ? builder->entry_order[position] : (uint32_t)position;
}

/* Key of the group that an entry belongs to. */
static inline uint32_t call_tree_group_of(const struct call_tree_builder *builder, uint32_t entry)
{
	if (!builder->thread_group)
		return CALL_TREE_GROUP;
	return CALL_TREE_GROUP |
	       builder->thread_group[builder->profile->entries.items[entry].thread];
}

/* Appends a node; ID_NONE if out of memory. */
uint32_t call_tree_add(struct call_tree *tree, uint32_t parent, uint32_t function);

/*
 * Builds the tree from the root in pre-order, without the descendants of nodes smaller than
 * min_total. 0 or -ENOMEM.
 */
int call_tree_build_cut(struct call_tree_builder *builder);

#endif
