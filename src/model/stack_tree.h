/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_STACK_TREE_H
#define WICK_MODEL_STACK_TREE_H

/*
 * stack_tree: every distinct stack once, as a node of a tree of frames.
 *
 * A node is (parent, frame id); node 0 is the empty stack. Stacks that share
 * their callers share the nodes, and equal stacks have equal ids:
 *
 *	0 ── main ── parse ── read      read's node = the stack main;parse;read
 *	          └─ write
 *
 * A parent's id is always smaller than its children's, so one pass in id order
 * visits parents first.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"

struct stack_node {
	uint32_t parent;
	uint32_t frame;
};

/* The first children of a node, as a list; 0 ends it. */
struct stack_links {
	uint32_t first_child;
	uint32_t next_sibling;
};

struct stack_tree {
	VEC(struct stack_node) nodes;
	VEC(struct stack_links) links; /* of the first nodes; the rest when one is searched */
	struct id_index index;         /* the children that are not in a list */
	uint64_t hash_mask;            /* all ones; tests clear bits to force equal hashes */
};

int stack_tree_init(struct stack_tree *tree); /* 0 or -ENOMEM */
void stack_tree_fini(struct stack_tree *tree);

/* The child of parent with this frame, created when missing. ID_NONE if out of memory. */
uint32_t stack_tree_child(struct stack_tree *tree, uint32_t parent, uint32_t frame);

/* The same without creating it: ID_NONE if there is none. Appended nodes are not found before
 * stack_tree_complete(). */
uint32_t stack_tree_find(const struct stack_tree *tree, uint32_t parent, uint32_t frame);

/* Makes the nodes that were appended findable. 0 or -ENOMEM. */
int stack_tree_complete(struct stack_tree *tree);

/*
 * Like stack_tree_child() for a child that the caller knows to be missing: skips the lookup, which
 * in a large tree is most of the cost.
 */
uint32_t stack_tree_append(struct stack_tree *tree, uint32_t parent, uint32_t frame);

/*
 * Removes nodes, of which no child may stay. Their ids are free: stack_tree_put() may use them for
 * other nodes, below parents with smaller ids. The frame of a free node is ID_NONE.
 */
void stack_tree_remove(struct stack_tree *tree, const bool *is_gone);
uint32_t stack_tree_put(struct stack_tree *tree, uint32_t id, uint32_t parent, uint32_t frame);

/* Depth of a node: 0 for the empty stack. */
uint32_t stack_tree_depth(const struct stack_tree *tree, uint32_t node);

#endif
