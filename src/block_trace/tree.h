/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BLOCK_TRACE_TREE_H
#define WICK_BLOCK_TRACE_TREE_H

/*
 * tree: stacks as paths in a tree, so that stacks with the same callers share their storage.
 *
 *	frames   word            nodes   parent  frame        a stack is its innermost node:
 *	  1      main:4            1        0      1          node 3 is  parse:9, load:7, main:4
 *	  2      load:7            2        1      2          node 4 is  parse:2, load:7, main:4
 *	  3      parse:9           3        2      3
 *	  4      parse:2           4        2      4
 *
 * A frame is a word of a stack. Only the caller knows what a word means; it must not be 0. A word
 * may lose its meaning, because its code object is freed and the address reused. The frame has then
 * ended: its word is 0, so that no stack matches it, and a new frame is added for the same word.
 * Frame 0 and node 0 stand for the end of a stack. Ids stay valid until trace_tree_clear().
 *
 * Threads: the owner has to lock.
 */

#include <stdbool.h>
#include <stdint.h>

#include "block_trace/id_set.h"
#include "block_trace/memory.h"

#define TRACE_NO_NODE UINT32_MAX

struct trace_node {
	uint32_t parent; /* the caller */
	uint32_t frame;
};

/* The word and the kind stay when a frame has ended. The rest is the caller's; 0 at first. */
struct trace_frame {
	uint64_t word;
	uint32_t code;
	uint32_t next;
	int32_t line;
	bool is_native; /* equal words of both kinds are different frames */
};

struct trace_tree {
	struct trace_memory *memory;
	struct trace_array words;  /* uint64_t, one for each frame; 0: it has ended */
	struct trace_array places; /* uint64_t, as words, but chosen by the caller */
	struct trace_array frames; /* struct trace_frame */
	struct trace_array nodes;  /* struct trace_node */
	uint32_t frame_count;
	uint32_t node_count;
	struct trace_id_set by_word;
	struct trace_id_set by_parent;
};

void trace_tree_init(struct trace_tree *tree, struct trace_memory *memory);
void trace_tree_free(struct trace_tree *tree);
/* Removes everything and frees the memory except for a few pages. */
void trace_tree_clear(struct trace_tree *tree);
/* Returns the bytes that frames and nodes use, with their hash tables. */
uint64_t trace_tree_bytes(const struct trace_tree *tree);

static inline uint64_t *trace_word(const struct trace_tree *tree, uint32_t frame)
{
	return (uint64_t *)tree->words.items + frame;
}

/* What a caller compares quickly with a frame: set it before the frame is used. 0 when it ended. */
static inline uint64_t *trace_place(const struct trace_tree *tree, uint32_t frame)
{
	return (uint64_t *)tree->places.items + frame;
}

static inline struct trace_frame *trace_frame(const struct trace_tree *tree, uint32_t frame)
{
	return (struct trace_frame *)tree->frames.items + frame;
}

static inline const struct trace_node *trace_node(const struct trace_tree *tree, uint32_t node)
{
	return (const struct trace_node *)tree->nodes.items + node;
}

/* Returns whether a path has these words, innermost first, and no others. */
static inline bool trace_tree_matches(const struct trace_tree *tree, uint32_t node,
				      const uint64_t *words, uint32_t count)
{
	const struct trace_node *nodes = tree->nodes.items;
	const uint64_t *known = tree->words.items;
	uint64_t difference = 0;

	for (uint32_t i = 0; i < count; i++) {
		difference |= known[nodes[node].frame] ^ words[i];
		node = nodes[node].parent;
	}
	return (difference | node) == 0;
}

/* Returns the innermost node of the path of these words, or TRACE_NO_NODE. */
uint32_t trace_tree_find(const struct trace_tree *tree, const uint64_t *words, uint32_t count,
			 uint32_t native);

/*
 * Finds or adds the path of `count` words, innermost first, the first `native` of which are return
 * addresses. New frames have the highest ids. Returns 0, or -ENOMEM; frames that were added before
 * it ran out of memory have ended then.
 */
int trace_tree_add(struct trace_tree *tree, const uint64_t *words, uint32_t count, uint32_t native,
		   uint32_t *ret_node);

static inline void trace_frame_end(struct trace_tree *tree, uint32_t frame)
{
	*trace_word(tree, frame) = 0;
	*trace_place(tree, frame) = 0;
}

#endif
