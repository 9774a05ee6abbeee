/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "model/call_tree_builder.h"

/*
 * A tree from the root of which only the large nodes are wanted, as for a picture. Most nodes of a
 * large profile are small. Instead of creating them all, the cost of every stack node is summed
 * first, and a call node is created from its stack nodes only if its parent is large:
 *
 *	stack nodes   main@10 ─ parse@20        call nodes   main: {main@10, main@11}
 *	              main@11 ─ parse@20                     parse: {parse@20, parse@20}
 */

/* A function of a stack node: the n-th of those at its location. */
struct member {
	uint32_t rank; /* alphabetical */
	uint32_t stack;
	uint32_t line;
};

/* The members [begin, end) belong to a node below parent that does not exist yet. */
struct branch {
	uint32_t parent;
	uint32_t begin;
	uint32_t end;
};

/* By stack node, for the current group. Sums of the same value are one array. */
struct descent {
	struct call_tree_builder *builder;
	size_t count;     /* of stack nodes */
	int64_t *sizes;   /* of the value that decides which nodes are small */
	int64_t *values;  /* of the tree's value */
	int64_t *samples; /* NULL: unknown */
	struct stack_links *links;
	bool *used; /* by a stack of the group */
	VEC(struct member) members;
	VEC(struct member) arrived; /* scratch: those of the current node */
	VEC(struct branch) pending;
};

static int64_t *new_sums(const struct descent *descent)
{
	return malloc(descent->count * sizeof(int64_t));
}

static int descent_init(struct descent *descent, struct call_tree_builder *builder)
{
	const struct call_tree_options *options = &builder->options;
	uint32_t samples = builder->samples_value;

	*descent =
		(struct descent){.builder = builder, .count = builder->profile->stacks.nodes.count};
	descent->sizes = new_sums(descent);
	descent->values = options->value == options->min_value ? descent->sizes : new_sums(descent);
	if (samples == options->value)
		descent->samples = descent->values;
	else if (samples == options->min_value)
		descent->samples = descent->sizes;
	else if (samples != ID_NONE)
		descent->samples = new_sums(descent);
	descent->links = malloc(descent->count * sizeof(*descent->links));
	descent->used = malloc(descent->count * sizeof(*descent->used));
	return descent->sizes && descent->values && (samples == ID_NONE || descent->samples) &&
			       descent->links && descent->used
		       ? 0
		       : -ENOMEM;
}

static void descent_fini(struct descent *descent)
{
	if (descent->samples != descent->values && descent->samples != descent->sizes)
		free(descent->samples);
	if (descent->values != descent->sizes)
		free(descent->values);
	free(descent->sizes);
	free(descent->links);
	free(descent->used);
	vec_fini(&descent->members);
	vec_fini(&descent->arrived);
	vec_fini(&descent->pending);
}

/*
 * Forgets the previous group. Also called before the first: pages of calloc() that are read before
 * they are written fault twice.
 */
static void clear(struct descent *descent)
{
	memset(descent->sizes, 0, descent->count * sizeof(int64_t));
	memset(descent->values, 0, descent->count * sizeof(int64_t));
	if (descent->samples)
		memset(descent->samples, 0, descent->count * sizeof(int64_t));
	memset(descent->links, 0, descent->count * sizeof(*descent->links));
	memset(descent->used, 0, descent->count * sizeof(*descent->used));
}

static void take_entry(struct descent *descent, uint32_t entry)
{
	const struct call_tree_builder *builder = descent->builder;
	const int64_t *values = profile_entry_values(builder->profile, entry);
	uint32_t stack = builder->profile->entries.items[entry].stack;

	descent->used[stack] = true;
	descent->sizes[stack] += values[builder->options.min_value];
	if (descent->values != descent->sizes)
		descent->values[stack] += values[builder->options.value];
	if (descent->samples && descent->samples != descent->values &&
	    descent->samples != descent->sizes)
		descent->samples[stack] += values[builder->samples_value];
}

static void add_to_parents(int64_t *sums, const struct descent *descent)
{
	const struct stack_node *nodes = descent->builder->profile->stacks.nodes.items;
	size_t i;

	for (i = descent->count; i-- > 1;)
		sums[nodes[i].parent] += sums[i];
}

/* A parent's id is smaller than its children's: one backward pass sums up. */
static void add_up(struct descent *descent)
{
	const struct stack_node *nodes = descent->builder->profile->stacks.nodes.items;
	size_t i;

	for (i = descent->count; i-- > 1;) {
		struct stack_links *parent = &descent->links[nodes[i].parent];

		if (!descent->used[i])
			continue;
		descent->used[nodes[i].parent] = true;
		descent->links[i].next_sibling = parent->first_child;
		parent->first_child = (uint32_t)i;
	}
	add_to_parents(descent->sizes, descent);
	if (descent->values != descent->sizes)
		add_to_parents(descent->values, descent);
	if (descent->samples && descent->samples != descent->values &&
	    descent->samples != descent->sizes)
		add_to_parents(descent->samples, descent);
}

/* The next function: it waits for its node, or belongs to the current node. */
static int add_member(struct descent *descent, struct call_node *node, uint32_t stack,
		      uint32_t line)
{
	const struct call_tree_builder *builder = descent->builder;
	const struct profile *profile = builder->profile;
	struct profile_location at =
		profile->locations.items[profile->stacks.nodes.items[stack].frame];
	struct member member = {.stack = stack, .line = line};
	uint32_t function;

	if (at.line_count == 0)
		return vec_push(&descent->arrived, member);
	function = profile->lines.items[at.first_line + line].function;
	if (builder->options.collapse_recursion && function == node->function) {
		node->called = node->called || line == 0;
		return vec_push(&descent->arrived, member);
	}
	member.rank = builder->ranks[function];
	return vec_push(&descent->members, member);
}

/* Continues from one function of the current node. */
static int step_down(struct descent *descent, struct call_node *node, struct member from)
{
	const struct profile *profile = descent->builder->profile;
	uint32_t frame = profile->stacks.nodes.items[from.stack].frame;
	uint32_t lines = from.stack ? profile->locations.items[frame].line_count : 0;
	uint32_t child;
	int r = 0;

	if (from.line + 1 < lines)
		return add_member(descent, node, from.stack, from.line + 1);
	node->self += descent->values[from.stack];
	if (descent->samples)
		node->self_samples += (uint64_t)descent->samples[from.stack];
	for (child = descent->links[from.stack].first_child; child != 0 && r == 0;
	     child = descent->links[child].next_sibling) {
		node->self -= descent->values[child];
		if (descent->samples)
			node->self_samples -= (uint64_t)descent->samples[child];
		r = add_member(descent, node, child, 0);
	}
	return r;
}

/* The last name first: popping from the end gives alphabetical order. */
static int compare_members(const void *a, const void *b)
{
	const struct member *x = a;
	const struct member *y = b;

	return (x->rank < y->rank) - (x->rank > y->rank);
}

/* Leaves the children of a node as pending branches; its own members are in arrived. */
static int open_node(struct descent *descent, uint32_t id)
{
	size_t begin = descent->members.count;
	struct call_node *node = &descent->builder->tree->nodes.items[id];
	size_t i;

	for (i = 0; i < descent->arrived.count; i++)
		if (step_down(descent, node, descent->arrived.items[i]) < 0)
			return -ENOMEM;
	if (descent->members.count - begin > 1)
		qsort(descent->members.items + begin, descent->members.count - begin,
		      sizeof(struct member), compare_members);
	for (; begin < descent->members.count; begin = i) {
		for (i = begin + 1; i < descent->members.count; i++)
			if (descent->members.items[i].rank != descent->members.items[begin].rank)
				break;
		if (vec_push(&descent->pending, (struct branch){id, (uint32_t)begin, (uint32_t)i}) <
		    0)
			return -ENOMEM;
	}
	return 0;
}

/* Creates the node of a branch, whose members are the last ones. */
static int make_node(struct descent *descent, const struct branch *branch)
{
	struct call_tree_builder *builder = descent->builder;
	const struct member *members = descent->members.items;
	uint32_t id = call_tree_add(builder->tree, branch->parent,
				    builder->by_rank[members[branch->begin].rank]);
	struct call_node *node;
	int64_t size = 0;
	uint32_t i;

	if (id == ID_NONE)
		return -ENOMEM;
	node = &builder->tree->nodes.items[id];
	descent->arrived.count = 0;
	for (i = branch->begin; i < branch->end; i++) {
		size += descent->sizes[members[i].stack];
		node->total += descent->values[members[i].stack];
		if (descent->samples)
			node->samples += (uint64_t)descent->samples[members[i].stack];
		/* The outermost function of a location is the one that was called. */
		node->called = node->called || members[i].line == 0;
		if (vec_push(&descent->arrived, members[i]) < 0)
			return -ENOMEM;
	}
	descent->members.count = branch->begin;
	return size < builder->options.min_total ? 0 : open_node(descent, id);
}

/* Creates everything of the group whose entries were added. */
static int descend(struct descent *descent, uint32_t group_key)
{
	struct call_tree_builder *builder = descent->builder;
	struct call_node *root = builder->tree->nodes.items;
	uint32_t id = 0;
	int r;

	root->total += descent->values[0];
	if (descent->samples)
		root->samples += (uint64_t)descent->samples[0];
	if (builder->thread_group) {
		id = call_tree_add(builder->tree, 0, group_key);
		if (id == ID_NONE)
			return -ENOMEM;
		builder->tree->nodes.items[id].total = descent->values[0];
		if (descent->samples)
			builder->tree->nodes.items[id].samples = (uint64_t)descent->samples[0];
	}
	descent->arrived.count = 0;
	r = vec_push(&descent->arrived, (struct member){0}); /* the empty stack */
	if (r == 0)
		r = open_node(descent, id);
	while (r == 0 && descent->pending.count > 0) {
		struct branch branch = descent->pending.items[--descent->pending.count];

		r = make_node(descent, &branch);
	}
	return r;
}

int call_tree_build_cut(struct call_tree_builder *builder)
{
	size_t count = builder->profile->entries.count;
	struct descent descent;
	int r = descent_init(&descent, builder);
	size_t begin;
	size_t end;

	for (begin = 0; begin < count && r == 0; begin = end) {
		uint32_t key = call_tree_group_of(builder, call_tree_entry(builder, begin));

		clear(&descent);
		for (end = begin; end < count; end++) {
			uint32_t entry = call_tree_entry(builder, end);

			if (call_tree_group_of(builder, entry) != key)
				break;
			take_entry(&descent, entry);
		}
		add_up(&descent);
		r = descend(&descent, key);
	}
	descent_fini(&descent);
	return r;
}
