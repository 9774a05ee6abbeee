/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/stack_tree.h"

int stack_tree_init(struct stack_tree *tree)
{
	*tree = (struct stack_tree){.hash_mask = UINT64_MAX};
	return vec_push(&tree->nodes, (struct stack_node){.parent = 0, .frame = ID_NONE});
}

void stack_tree_fini(struct stack_tree *tree)
{
	vec_fini(&tree->nodes);
	id_index_fini(&tree->index);
}

uint32_t stack_tree_child(struct stack_tree *tree, uint32_t parent, uint32_t frame)
{
	uint64_t hash = hash_pair(parent, frame) & tree->hash_mask;
	struct id_probe probe = id_index_probe(&tree->index, hash);
	uint32_t id;

	while ((id = id_probe_next(&tree->index, &probe)) != ID_NONE) {
		struct stack_node node = tree->nodes.items[id];

		if (node.parent == parent && node.frame == frame)
			return id;
	}
	if (tree->nodes.count >= ID_NONE)
		return ID_NONE;
	id = (uint32_t)tree->nodes.count;
	if (vec_push(&tree->nodes, (struct stack_node){.parent = parent, .frame = frame}) < 0)
		return ID_NONE;
	if (id_index_add(&tree->index, hash, id) < 0) {
		tree->nodes.count--;
		return ID_NONE;
	}
	return id;
}

uint32_t stack_tree_depth(const struct stack_tree *tree, uint32_t node)
{
	uint32_t depth = 0;

	while (node != 0) {
		node = tree->nodes.items[node].parent;
		depth++;
	}
	return depth;
}
