/* SPDX-License-Identifier: BSD-2-Clause */
#include "block_trace/tree.h"

#include <errno.h>
#include <stddef.h>

#define GOLDEN 0x9e3779b97f4a7c15ull

void trace_tree_init(struct trace_tree *tree, struct trace_memory *memory)
{
	*tree = (struct trace_tree){
		.memory = memory,
		.words = {.item_bytes = sizeof(uint64_t)},
		.places = {.item_bytes = sizeof(uint64_t)},
		.frames = {.item_bytes = sizeof(struct trace_frame)},
		.nodes = {.item_bytes = sizeof(struct trace_node)},
	};
}

void trace_tree_free(struct trace_tree *tree)
{
	trace_id_set_free(&tree->by_word, tree->memory);
	trace_id_set_free(&tree->by_parent, tree->memory);
	trace_array_free(tree->memory, &tree->words);
	trace_array_free(tree->memory, &tree->places);
	trace_array_free(tree->memory, &tree->frames);
	trace_array_free(tree->memory, &tree->nodes);
	trace_tree_init(tree, tree->memory);
}

void trace_tree_clear(struct trace_tree *tree)
{
	trace_id_set_free(&tree->by_word, tree->memory);
	trace_id_set_free(&tree->by_parent, tree->memory);
	trace_array_shrink(tree->memory, &tree->words);
	trace_array_shrink(tree->memory, &tree->places);
	trace_array_shrink(tree->memory, &tree->frames);
	trace_array_shrink(tree->memory, &tree->nodes);
	/* Those with the id 0 stay. */
	tree->frame_count = tree->frame_count > 0;
	tree->node_count = tree->node_count > 0;
}

uint64_t trace_tree_bytes(const struct trace_tree *tree)
{
	return tree->frame_count * (2 * sizeof(uint64_t) + sizeof(struct trace_frame)) +
	       tree->node_count * sizeof(struct trace_node) + trace_id_set_bytes(&tree->by_word) +
	       trace_id_set_bytes(&tree->by_parent);
}

static uint64_t word_hash(uint64_t word, bool is_native)
{
	uint64_t hash = (word ^ word >> 29) * (GOLDEN + 2 * is_native);

	return hash ^ hash >> 32;
}

static uint64_t node_hash(uint32_t parent, uint32_t frame)
{
	uint64_t hash = ((uint64_t)parent << 32 | frame) * GOLDEN;

	return hash ^ hash >> 32;
}

static uint64_t hash_of_frame(const void *things, uint32_t id)
{
	const struct trace_tree *tree = things;

	return word_hash(*trace_word(tree, id), trace_frame(tree, id)->is_native);
}

static bool is_frame_needed(const void *things, uint32_t id)
{
	const struct trace_tree *tree = things;

	return *trace_word(tree, id) != 0;
}

static uint64_t hash_of_node(const void *things, uint32_t id)
{
	const struct trace_node *node = trace_node(things, id);

	return node_hash(node->parent, node->frame);
}

static bool is_node_needed(const void *things, uint32_t id)
{
	return is_frame_needed(things, trace_node(things, id)->frame);
}

static int reserve_frames(struct trace_tree *tree, size_t count)
{
	return trace_array_reserve(tree->memory, &tree->words, count) < 0 ||
			       trace_array_reserve(tree->memory, &tree->places, count) < 0 ||
			       trace_array_reserve(tree->memory, &tree->frames, count) < 0
		       ? -ENOMEM
		       : 0;
}

/* Adds the frame and the node at which all stacks end. */
static int add_ends(struct trace_tree *tree)
{
	if (tree->node_count > 0)
		return 0;
	if (reserve_frames(tree, 1) < 0 || trace_array_reserve(tree->memory, &tree->nodes, 1) < 0)
		return -ENOMEM;
	trace_frame_end(tree, 0);
	*trace_frame(tree, 0) = (struct trace_frame){0};
	*(struct trace_node *)tree->nodes.items = (struct trace_node){0};
	tree->frame_count = 1;
	tree->node_count = 1;
	return 0;
}

static uint32_t find_frame(const struct trace_tree *tree, uint64_t word, bool is_native)
{
	const struct trace_id_set *set = &tree->by_word;
	uint32_t id;

	if (!set->slots)
		return 0;
	for (uint32_t i = trace_id_set_first(set, word_hash(word, is_native));
	     (id = set->slots[i]) != 0; i = trace_id_set_next(set, i))
		if (*trace_word(tree, id) == word && trace_frame(tree, id)->is_native == is_native)
			return id;
	return 0;
}

static int add_frame(struct trace_tree *tree, uint64_t word, bool is_native, uint32_t *ret)
{
	const struct trace_id_set_owner owner = {tree, hash_of_frame, is_frame_needed};
	uint32_t id = tree->frame_count;

	if (trace_id_set_reserve(&tree->by_word, tree->memory, &owner) < 0 ||
	    reserve_frames(tree, (size_t)id + 1) < 0)
		return -ENOMEM;
	*trace_word(tree, id) = word;
	*trace_place(tree, id) = 0;
	*trace_frame(tree, id) = (struct trace_frame){.word = word, .is_native = is_native};
	trace_id_set_put(&tree->by_word, word_hash(word, is_native), id);
	tree->frame_count++;
	*ret = id;
	return 0;
}

static uint32_t find_node(const struct trace_tree *tree, uint32_t parent, uint32_t frame)
{
	const struct trace_id_set *set = &tree->by_parent;
	uint32_t id;

	if (!set->slots)
		return 0;
	for (uint32_t i = trace_id_set_first(set, node_hash(parent, frame));
	     (id = set->slots[i]) != 0; i = trace_id_set_next(set, i))
		if (trace_node(tree, id)->parent == parent && trace_node(tree, id)->frame == frame)
			return id;
	return 0;
}

static int add_node(struct trace_tree *tree, uint32_t parent, uint32_t frame, uint32_t *ret)
{
	const struct trace_id_set_owner owner = {tree, hash_of_node, is_node_needed};
	uint32_t id = tree->node_count;

	if (id == UINT32_MAX || trace_id_set_reserve(&tree->by_parent, tree->memory, &owner) < 0 ||
	    trace_array_reserve(tree->memory, &tree->nodes, (size_t)id + 1) < 0)
		return -ENOMEM;
	((struct trace_node *)tree->nodes.items)[id] = (struct trace_node){parent, frame};
	trace_id_set_put(&tree->by_parent, node_hash(parent, frame), id);
	tree->node_count++;
	*ret = id;
	return 0;
}

uint32_t trace_tree_find(const struct trace_tree *tree, const uint64_t *words, uint32_t count,
			 uint32_t native)
{
	uint32_t node = 0;

	for (uint32_t i = count; i > 0; i--) {
		uint32_t frame = find_frame(tree, words[i - 1], i - 1 < native);

		node = frame == 0 ? 0 : find_node(tree, node, frame);
		if (node == 0)
			return TRACE_NO_NODE;
	}
	return node;
}

static int add_word(struct trace_tree *tree, uint64_t word, bool is_native, uint32_t *node)
{
	uint32_t frame = find_frame(tree, word, is_native);
	uint32_t child = 0;

	if (frame == 0 && add_frame(tree, word, is_native, &frame) < 0)
		return -ENOMEM;
	child = find_node(tree, *node, frame);
	if (child == 0 && add_node(tree, *node, frame, &child) < 0)
		return -ENOMEM;
	*node = child;
	return 0;
}

int trace_tree_add(struct trace_tree *tree, const uint64_t *words, uint32_t count, uint32_t native,
		   uint32_t *ret_node)
{
	uint32_t known = tree->frame_count;
	uint32_t node = 0;
	int r = add_ends(tree);

	for (uint32_t i = count; r == 0 && i > 0; i--)
		r = add_word(tree, words[i - 1], i - 1 < native, &node);
	if (r == 0)
		*ret_node = node;
	for (; r < 0 && known < tree->frame_count; known++) /* nobody has been told about them */
		trace_frame_end(tree, known);
	return r;
}
