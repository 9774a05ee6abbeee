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
	vec_fini(&tree->links);
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

/*
 * Most nodes have few children: the first ones are found by walking a list. A new stack is mostly
 * added below nodes that were just created, so the list is short and in the cache, while the slots
 * of an index of all nodes would be scattered in memory.
 */
#define WALKED_CHILDREN 8u

/* Where a child was found, or where to add it. */
struct child_place {
	uint32_t id;     /* ID_NONE: it does not exist yet */
	uint32_t before; /* the last of the list; 0: it is empty */
	bool is_wide;    /* the list is full: it goes into the index */
	uint64_t hash;
};

static struct child_place find_child(const struct stack_tree *tree, uint32_t parent, uint32_t frame)
{
	struct child_place place = {.id = ID_NONE};
	struct id_probe probe;
	uint32_t walked = 0;
	uint32_t id;

	for (id = tree->links.items[parent].first_child; id != 0;
	     id = tree->links.items[id].next_sibling) {
		if (tree->nodes.items[id].frame == frame) {
			place.id = id;
			return place;
		}
		place.before = id;
		walked++;
	}
	place.is_wide = walked == WALKED_CHILDREN;
	if (!place.is_wide)
		return place;
	place.hash = hash_pair(parent, frame) & tree->hash_mask;
	probe = id_index_probe(&tree->index, place.hash);
	while ((id = id_probe_next(&tree->index, &probe)) != ID_NONE)
		if (tree->nodes.items[id].parent == parent && tree->nodes.items[id].frame == frame)
			break;
	place.id = id;
	return place;
}

/* Registers a node, which already has its links, as a child. 0 or -ENOMEM. */
static int file_child(struct stack_tree *tree, const struct child_place *place, uint32_t id)
{
	if (place->is_wide)
		return id_index_add(&tree->index, place->hash, id);
	if (place->before != 0)
		tree->links.items[place->before].next_sibling = id;
	else
		tree->links.items[tree->nodes.items[id].parent].first_child = id;
	return 0;
}

int stack_tree_complete(struct stack_tree *tree)
{
	if (vec_reserve(&tree->links, tree->nodes.count) < 0)
		return -ENOMEM;
	while (tree->links.count < tree->nodes.count) {
		uint32_t id = (uint32_t)tree->links.count;
		struct stack_node node = tree->nodes.items[id];
		struct child_place place;

		tree->links.items[tree->links.count++] = (struct stack_links){0};
		if (node.frame == ID_NONE)
			continue; /* the empty stack, or a free node: nobody's child */
		place = find_child(tree, node.parent, node.frame);
		if (place.id == ID_NONE && file_child(tree, &place, id) < 0) {
			tree->links.count--;
			return -ENOMEM;
		}
	}
	return 0;
}

uint32_t stack_tree_find(const struct stack_tree *tree, uint32_t parent, uint32_t frame)
{
	return parent < tree->links.count ? find_child(tree, parent, frame).id : ID_NONE;
}

uint32_t stack_tree_child(struct stack_tree *tree, uint32_t parent, uint32_t frame)
{
	struct child_place place;
	uint32_t id;

	if (tree->links.count < tree->nodes.count && stack_tree_complete(tree) < 0)
		return ID_NONE;
	place = find_child(tree, parent, frame);
	if (place.id != ID_NONE)
		return place.id;
	if (vec_push(&tree->links, (struct stack_links){0}) < 0)
		return ID_NONE;
	id = stack_tree_append(tree, parent, frame);
	if (id == ID_NONE || file_child(tree, &place, id) < 0) {
		tree->links.count--;
		tree->nodes.count -= id != ID_NONE;
		return ID_NONE;
	}
	return id;
}

void stack_tree_remove(struct stack_tree *tree, const bool *is_gone)
{
	size_t i;

	for (i = 1; i < tree->nodes.count; i++)
		if (is_gone[i])
			tree->nodes.items[i] = (struct stack_node){.parent = 0, .frame = ID_NONE};
	/* There was room for more, so it cannot fail. */
	tree->links.count = 0;
	id_index_clear(&tree->index);
	(void)stack_tree_complete(tree);
}

uint32_t stack_tree_put(struct stack_tree *tree, uint32_t id, uint32_t parent, uint32_t frame)
{
	struct child_place place;

	if (tree->links.count < tree->nodes.count && stack_tree_complete(tree) < 0)
		return ID_NONE;
	place = find_child(tree, parent, frame);
	if (place.id != ID_NONE)
		return place.id;
	tree->nodes.items[id] = (struct stack_node){.parent = parent, .frame = frame};
	if (file_child(tree, &place, id) == 0)
		return id;
	tree->nodes.items[id] = (struct stack_node){.parent = 0, .frame = ID_NONE};
	return ID_NONE;
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
