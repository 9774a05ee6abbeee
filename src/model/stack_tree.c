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

uint32_t stack_tree_append(struct stack_tree *tree, uint32_t parent, uint32_t frame)
{
	uint32_t id = (uint32_t)tree->nodes.count;

	if (tree->nodes.count >= ID_NONE ||
	    vec_push(&tree->nodes, (struct stack_node){.parent = parent, .frame = frame}) < 0)
		return ID_NONE;
	return id;
}

static uint64_t hash_node(const struct stack_tree *tree, struct stack_node node)
{
	return hash_pair(node.parent, node.frame) & tree->hash_mask;
}

/* Files the nodes that were appended. All but node 0 are in the index then. */
static int complete_index(struct stack_tree *tree)
{
	uint32_t id;

	for (id = tree->index.count + 1; id < tree->nodes.count; id++)
		if (id_index_add(&tree->index, hash_node(tree, tree->nodes.items[id]), id) < 0)
			return -ENOMEM;
	return 0;
}

uint32_t stack_tree_child(struct stack_tree *tree, uint32_t parent, uint32_t frame)
{
	struct stack_node key = {.parent = parent, .frame = frame};
	uint64_t hash = hash_node(tree, key);
	struct id_probe probe;
	uint32_t id;

	if (tree->index.count + 1 < tree->nodes.count && complete_index(tree) < 0)
		return ID_NONE;
	probe = id_index_probe(&tree->index, hash);
	while ((id = id_probe_next(&tree->index, &probe)) != ID_NONE) {
		struct stack_node node = tree->nodes.items[id];

		if (node.parent == parent && node.frame == frame)
			return id;
	}
	id = stack_tree_append(tree, parent, frame);
	if (id != ID_NONE && id_index_add(&tree->index, hash, id) < 0) {
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
