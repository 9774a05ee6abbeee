/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_CALL_TREE_H
#define WICK_MODEL_CALL_TREE_H

/*
 * call_tree: who calls whom, and what it costs.
 *
 * The stacks of a profile merged by function: addresses and lines make no difference, inlined
 * functions are frames of their own. Nodes are in pre-order, siblings in alphabetical order, so one
 * pass from first to last visits parents before children and readers need no recursion:
 *
 *	index  0 all   1 main   2 parse   3 read   4 write
 *	end    5       5        4         4        5
 *
 *	children of n: for (c = n + 1; c < nodes[n].end; c = nodes[c].end)
 *
 * A tree may be read by many threads; it borrows its profile.
 */

#include <stdbool.h>
#include <stdint.h>

struct call_tree;
struct profile;

enum call_tree_group {
	CALL_TREE_WHOLE = 0,
	CALL_TREE_BY_PROCESS = 1, /* below the root a node for each process name */
	CALL_TREE_BY_THREAD = 2,  /* … for each "comm/tid" */
	CALL_TREE_BY_PID = 3,     /* … for each process, "name/pid" */
};

struct call_tree_options {
	uint32_t value; /* index of the value type that self and total add up */
	enum call_tree_group group;
	bool inverted;           /* leaf functions first, their callers below them */
	bool collapse_recursion; /* a function that calls itself directly is one frame */
	bool keep_stacks;        /* for call_tree_of_stack(); not with inverted or groups */
	int64_t min_total;       /* descendants of smaller nodes may be left out */
	uint32_t min_value;      /* the value type of min_total */
	uint32_t samples_value;  /* the value type that counts samples; 0: "samples" */
};

/* Set in a node's function if it is a group (or the root) and not a function. */
#define CALL_TREE_GROUP 0x80000000u

struct call_node {
	uint32_t parent; /* the root is its own parent */
	uint32_t end;    /* one past the last descendant */
	uint32_t depth;  /* the root's is 0 */
	uint32_t function;
	bool called;  /* by a real call; else inlined everywhere in this place */
	int64_t self; /* inverted: of stacks that begin here */
	int64_t total;
	uint64_t self_samples; /* 0 in profiles without a value type "samples" */
	uint64_t samples;
};

/* Returns 0, -ENOMEM, or -EINVAL for a value that the profile does not have. */
int call_tree_new(const struct profile *profile, const struct call_tree_options *options,
		  struct call_tree **ret);
void call_tree_free(struct call_tree *tree); /* NULL is fine */

const struct call_node *call_tree_nodes(const struct call_tree *tree);
uint32_t call_tree_count(const struct call_tree *tree);     /* at least 1: the root */
uint32_t call_tree_max_depth(const struct call_tree *tree); /* 0 for an empty profile */

/* The function's name, the group's label, "all" for the root. */
const char *call_tree_name(const struct call_tree *tree, uint32_t node);

/* The node in which a stack of the profile ends; only for trees that keep stacks. */
uint32_t call_tree_of_stack(const struct call_tree *tree, uint32_t stack);

/* The order of siblings, for qsort_r() of function ids; the context is the profile. */
int call_tree_compare_functions(const void *a, const void *b, void *profile);

/* The index of the value type "samples", or ID_NONE. */
uint32_t call_tree_samples_value(const struct profile *profile);

static inline void scope_release_call_tree(struct call_tree **tree)
{
	call_tree_free(*tree);
}

#endif
