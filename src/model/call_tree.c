/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/call_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "model/call_tree_builder.h"

/*
 * From the root, a tree is built in two steps. First every stack is walked up only as far as the
 * last node whose call node is known ("memo"), and down from there; nodes get ids in order of
 * creation. Then siblings are sorted and nodes are put into pre-order in place. Until then "end"
 * links to the first child and "depth" to the next sibling; 0, the root, is nobody's child and ends
 * both.
 *
 * From the leaves, a tree is built in pre-order at once: the stacks of a node are a range of an
 * array, sorted by the next caller, and each run of equal callers is a child with a smaller range.
 */

#define MAX_CUT_GROUPS 8u

uint32_t call_tree_samples_value(const struct profile *profile)
{
	uint32_t i;

	for (i = 0; i < profile->value_count; i++)
		if (strcmp(profile->value_types[i].name, "samples") == 0)
			return i;
	return ID_NONE;
}

static void builder_fini(struct call_tree_builder *builder)
{
	free(builder->thread_group);
	free(builder->entry_order);
	free(builder->ranks);
	free(builder->by_rank);
	free(builder->memo);
	id_index_fini(&builder->index);
	vec_fini(&builder->path);
}

/* Groups */

/* The label of a thread's group, ID_NONE without memory. */
static uint32_t add_label(struct call_tree_builder *builder, const struct profile_thread *thread)
{
	const struct profile *profile = builder->profile;
	bool by_thread = builder->options.group == CALL_TREE_BY_THREAD;
	const char *name = profile_text(profile, by_thread ? thread->comm : thread->process_comm);
	SCOPED(mem) char *label = NULL;

	if (builder->options.group == CALL_TREE_BY_PROCESS)
		return strings_add(&builder->tree->labels, name);
	if (asprintf(&label, "%s/%" PRIu32, name, by_thread ? thread->tid : thread->pid) < 0) {
		label = NULL; /* undefined after asprintf() failed */
		return ID_NONE;
	}
	return strings_add(&builder->tree->labels, label);
}

static int label_threads(struct call_tree_builder *builder)
{
	const struct profile *profile = builder->profile;
	size_t i;

	builder->thread_group = calloc(profile->threads.count + 1, sizeof(uint32_t));
	if (!builder->thread_group)
		return -ENOMEM;
	for (i = 0; i < profile->threads.count; i++) {
		builder->thread_group[i] = add_label(builder, &profile->threads.items[i]);
		if (builder->thread_group[i] == ID_NONE)
			return -ENOMEM;
	}
	return 0;
}

/* Alphabetical ranks */

int call_tree_compare_functions(const void *a, const void *b, void *context)
{
	const struct profile *profile = context;
	uint32_t left = *(const uint32_t *)a;
	uint32_t right = *(const uint32_t *)b;
	const struct profile_function *x = &profile->functions.items[left];
	const struct profile_function *y = &profile->functions.items[right];
	int order = 0;

	if (x->name != y->name)
		order = strcmp(profile_text(profile, x->name), profile_text(profile, y->name));
	if (order == 0 && x->module != y->module)
		order = strcmp(profile_text(profile, x->module), profile_text(profile, y->module));
	if (order == 0 && x->file != y->file)
		order = strcmp(profile_text(profile, x->file), profile_text(profile, y->file));
	return order ? order : (left > right) - (left < right);
}

static int compare_labels(const void *a, const void *b, void *context)
{
	const struct strings *labels = context;

	return strcmp(strings_get(labels, *(const uint32_t *)a & ~CALL_TREE_GROUP),
		      strings_get(labels, *(const uint32_t *)b & ~CALL_TREE_GROUP));
}

static uint32_t rank_slot(const struct call_tree_builder *builder, uint32_t key)
{
	if (key & CALL_TREE_GROUP)
		return (uint32_t)builder->profile->functions.count + (key & ~CALL_TREE_GROUP);
	return key;
}

static int rank_names(struct call_tree_builder *builder)
{
	size_t functions = builder->profile->functions.count;
	size_t labels = builder->tree->labels.entries.count;
	uint32_t i;

	builder->ranks = malloc((functions + labels) * sizeof(uint32_t));
	builder->by_rank = malloc((functions + labels) * sizeof(uint32_t));
	if (!builder->ranks || !builder->by_rank)
		return -ENOMEM;
	for (i = 0; i < functions; i++)
		builder->by_rank[i] = i;
	for (i = 0; i < labels; i++)
		builder->by_rank[functions + i] = CALL_TREE_GROUP | i;
	/* glibc's context parameter is not const; the comparisons do not write. */
	qsort_r(builder->by_rank, functions, sizeof(uint32_t), call_tree_compare_functions,
		(void *)(uintptr_t)builder->profile);
	qsort_r(builder->by_rank + functions, labels, sizeof(uint32_t), compare_labels,
		&builder->tree->labels);
	for (i = 0; i < functions + labels; i++)
		builder->ranks[rank_slot(builder, builder->by_rank[i])] = i;
	return 0;
}

/* Alphabetical position of an entry's group among the groups. */
static uint32_t group_rank(const struct call_tree_builder *builder, uint32_t entry)
{
	return builder->ranks[rank_slot(builder, call_tree_group_of(builder, entry))] -
	       (uint32_t)builder->profile->functions.count;
}

/* Sorts entries by group, keeping their order inside: a counting sort. */
static int order_entries(struct call_tree_builder *builder)
{
	const struct profile *profile = builder->profile;
	size_t groups = builder->tree->labels.entries.count;
	SCOPED(mem) uint32_t *starts = calloc(groups + 1, sizeof(*starts));
	size_t i;

	builder->entry_order = malloc((profile->entries.count + 1) * sizeof(uint32_t));
	if (!starts || !builder->entry_order)
		return -ENOMEM;
	for (i = 0; i < profile->entries.count; i++)
		starts[group_rank(builder, (uint32_t)i) + 1]++;
	for (i = 0; i < groups; i++)
		starts[i + 1] += starts[i];
	for (i = 0; i < profile->entries.count; i++)
		builder->entry_order[starts[group_rank(builder, (uint32_t)i)]++] = (uint32_t)i;
	return 0;
}

/* From the root */

#define WALKED_CHILDREN 8

uint32_t call_tree_add(struct call_tree *tree, uint32_t parent, uint32_t function)
{
	uint32_t id = (uint32_t)tree->nodes.count;

	if (id >= CALL_TREE_GROUP ||
	    vec_push(&tree->nodes, (struct call_node){.parent = parent, .function = function}) < 0)
		return ID_NONE;
	return id;
}

/* Links a new node after a sibling, or as the first child. */
static void link_child(struct call_node *nodes, uint32_t id, uint32_t before)
{
	uint32_t *link = before ? &nodes[before].depth : &nodes[nodes[id].parent].end;

	nodes[id].depth = *link;
	*link = id;
}

/*
 * Most nodes have few children: the first ones are found by walking the list, which costs less time
 * and memory than an index of all nodes. Only the children after them are in the index.
 */
static uint32_t child_of(struct call_tree_builder *builder, uint32_t parent, uint32_t function)
{
	struct call_node *nodes = builder->tree->nodes.items;
	uint64_t hash;
	struct id_probe probe;
	uint32_t before = 0; /* the sibling after which a new child is linked */
	uint32_t walked = 0;
	uint32_t id;

	for (id = nodes[parent].end; id != 0 && walked < WALKED_CHILDREN; id = nodes[id].depth) {
		if (nodes[id].function == function)
			return id;
		before = id;
		walked++;
	}
	hash = hash_pair(parent, function);
	probe = id_index_probe(&builder->index, hash);
	while (walked == WALKED_CHILDREN &&
	       (id = id_probe_next(&builder->index, &probe)) != ID_NONE)
		if (nodes[id].parent == parent && nodes[id].function == function)
			return id;
	id = call_tree_add(builder->tree, parent, function);
	if (id == ID_NONE ||
	    (walked == WALKED_CHILDREN && id_index_add(&builder->index, hash, id) < 0))
		return ID_NONE;
	link_child(builder->tree->nodes.items, id, before);
	return id;
}

/* Steps from a call node through the functions at one location. */
static uint32_t step_down(struct call_tree_builder *builder, uint32_t node, uint32_t location)
{
	const struct profile *profile = builder->profile;
	struct profile_location at = profile->locations.items[location];
	uint32_t i;

	for (i = 0; i < at.line_count && node != ID_NONE; i++) {
		uint32_t function = profile->lines.items[at.first_line + i].function;

		if (!builder->options.collapse_recursion ||
		    builder->tree->nodes.items[node].function != function)
			node = child_of(builder, node, function);
		if (i == 0 && node != ID_NONE)
			builder->tree->nodes.items[node].called = true;
	}
	return node;
}

/* The call node of a stack below the node of its group. */
static uint32_t place_stack(struct call_tree_builder *builder, uint32_t group, uint32_t stack)
{
	const struct stack_node *stacks = builder->profile->stacks.nodes.items;
	uint32_t node;

	builder->path.count = 0;
	while (stack != 0 && builder->memo[stack] <= group) {
		if (vec_push(&builder->path, stack) < 0)
			return ID_NONE;
		stack = stacks[stack].parent;
	}
	node = stack ? builder->memo[stack] : group;
	while (builder->path.count > 0) {
		stack = builder->path.items[--builder->path.count];
		node = step_down(builder, node, stacks[stack].frame);
		if (node == ID_NONE)
			return ID_NONE;
		builder->memo[stack] = node;
	}
	return node;
}

static int place_entries(struct call_tree_builder *builder)
{
	const struct profile *profile = builder->profile;
	uint32_t group = 0;
	uint32_t group_key = CALL_TREE_GROUP;
	size_t i;

	builder->memo = calloc(profile->stacks.nodes.count, sizeof(uint32_t));
	if (!builder->memo)
		return -ENOMEM;
	for (i = 0; i < profile->entries.count; i++) {
		uint32_t entry = call_tree_entry(builder, i);
		const int64_t *values = profile_entry_values(profile, entry);
		uint32_t key = call_tree_group_of(builder, entry);
		uint32_t at;

		if (builder->thread_group && (i == 0 || key != group_key)) {
			group = child_of(builder, 0, key);
			group_key = key;
		}
		at = group == ID_NONE
			     ? ID_NONE
			     : place_stack(builder, group, profile->entries.items[entry].stack);
		if (at == ID_NONE)
			return -ENOMEM;
		builder->tree->nodes.items[at].self += values[builder->options.value];
		if (builder->samples_value != ID_NONE)
			builder->tree->nodes.items[at].self_samples +=
				(uint64_t)values[builder->samples_value];
	}
	return 0;
}

/* A parent's id is smaller than its children's: one backward pass sums up. */
static void add_up(struct call_tree *tree)
{
	struct call_node *nodes = tree->nodes.items;
	size_t i;

	for (i = tree->nodes.count; i-- > 0;) {
		nodes[i].total += nodes[i].self;
		nodes[i].samples += nodes[i].self_samples;
		if (i == 0)
			break;
		nodes[nodes[i].parent].total += nodes[i].total;
		nodes[nodes[i].parent].samples += nodes[i].samples;
	}
}

static uint32_t rank_of(const struct call_tree_builder *builder, uint32_t node)
{
	return builder->ranks[rank_slot(builder, builder->tree->nodes.items[node].function)];
}

static int compare_words(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sorts the children of every node alphabetically. */
static int sort_children(struct call_tree_builder *builder)
{
	struct call_node *nodes = builder->tree->nodes.items;
	VEC(uint64_t) children = {0}; /* rank and id */
	int r = 0;
	size_t i;

	for (i = 0; i < builder->tree->nodes.count && r == 0; i++) {
		uint32_t child = nodes[i].end;

		if (child == 0 || nodes[child].depth == 0)
			continue;
		children.count = 0;
		for (; child != 0 && r == 0; child = nodes[child].depth)
			r = vec_push(&children, (uint64_t)rank_of(builder, child) << 32 | child);
		qsort(children.items, children.count, sizeof(uint64_t), compare_words);
		nodes[i].end = 0;
		while (children.count > 0) /* the last name is prepended first */
			link_child(nodes, (uint32_t)children.items[--children.count], 0);
	}
	vec_fini(&children);
	return r;
}

/* Numbers the linked nodes in pre-order. */
static void number_nodes(const struct call_node *nodes, uint32_t *new_ids)
{
	uint32_t count = 0;
	uint32_t at = 0;

	for (;;) {
		new_ids[at] = count++;
		if (nodes[at].end != 0) {
			at = nodes[at].end;
			continue;
		}
		while (at != 0 && nodes[at].depth == 0)
			at = nodes[at].parent;
		if (at == 0)
			return;
		at = nodes[at].depth;
	}
}

/* Moves each node to its new place along the cycles of the permutation. */
static void permute(struct call_node *nodes, uint32_t *new_ids, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		nodes[i].parent = new_ids[nodes[i].parent];
	for (i = 0; i < count; i++) {
		while (new_ids[i] != i) {
			uint32_t to = new_ids[i];
			struct call_node node = nodes[to];

			nodes[to] = nodes[i];
			nodes[i] = node;
			new_ids[i] = new_ids[to];
			new_ids[to] = to;
		}
	}
}

static int build_from_root(struct call_tree_builder *builder)
{
	struct call_tree *tree = builder->tree;
	SCOPED(mem) uint32_t *new_ids = NULL;
	size_t i;

	if (place_entries(builder) < 0)
		return -ENOMEM;
	if (builder->options.keep_stacks)
		tree->stacks = builder->memo;
	else
		free(builder->memo); /* free the largest parts before allocating the next ones */
	builder->memo = NULL;
	id_index_fini(&builder->index);
	add_up(tree);
	if (sort_children(builder) < 0)
		return -ENOMEM;
	new_ids = malloc(tree->nodes.count * sizeof(*new_ids));
	if (!new_ids)
		return -ENOMEM;
	number_nodes(tree->nodes.items, new_ids);
	for (i = 0; tree->stacks && i < builder->profile->stacks.nodes.count; i++)
		tree->stacks[i] = new_ids[tree->stacks[i]];
	permute(tree->nodes.items, new_ids, (uint32_t)tree->nodes.count);
	return 0;
}

/* From the leaves */

/* A stack on its way up: the rest of it, and its cost. */
struct climber {
	uint32_t stack; /* stack node of the next caller */
	uint32_t lines; /* functions of its location not yet climbed */
	uint32_t key;   /* rank of the next caller + 1; 0: the stack ends */
	int64_t value;
	int64_t size; /* in the value type that decides which nodes are small */
	uint64_t samples;
};

/* The climbers [begin, end) belong to a child of parent that does not exist yet. */
struct climb {
	uint32_t parent;
	uint32_t begin;
	uint32_t end;
};

struct inversion {
	struct call_tree_builder *builder;
	struct climber *climbers;
	VEC(struct climb) pending;
};

/* Finds the next caller that is not "skip" (a rank + 1, for recursion; 0: none). */
static void climb_one(const struct call_tree_builder *builder, struct climber *climber,
		      uint32_t skip)
{
	const struct profile *profile = builder->profile;
	const struct stack_node *stacks = profile->stacks.nodes.items;

	climber->key = 0;
	while (climber->stack != 0) {
		struct profile_location at = profile->locations.items[stacks[climber->stack].frame];

		while (climber->lines > 0) {
			uint32_t line = at.first_line + --climber->lines;
			uint32_t key = builder->ranks[profile->lines.items[line].function] + 1;

			if (key != skip) {
				climber->key = key;
				return;
			}
		}
		climber->stack = stacks[climber->stack].parent;
		if (climber->stack != 0)
			climber->lines =
				profile->locations.items[stacks[climber->stack].frame].line_count;
	}
}

static int compare_climbers(const void *a, const void *b)
{
	const struct climber *x = a;
	const struct climber *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/* Moves all climbers of a node up and leaves its children as pending climbs. */
static int climb_range(struct inversion *inversion, uint32_t node, uint32_t begin, uint32_t end)
{
	const struct call_tree_builder *builder = inversion->builder;
	struct call_node *at = &builder->tree->nodes.items[node];
	struct climber *climbers = inversion->climbers;
	uint32_t skip = 0;
	bool sorted = true;
	uint32_t i;

	if (builder->options.collapse_recursion && !(at->function & CALL_TREE_GROUP))
		skip = builder->ranks[at->function] + 1;
	for (i = begin; i < end; i++) {
		climb_one(builder, &climbers[i], skip);
		sorted = sorted && (i == begin || climbers[i - 1].key <= climbers[i].key);
	}
	if (!sorted)
		qsort(climbers + begin, end - begin, sizeof(*climbers), compare_climbers);
	for (; begin < end && climbers[begin].key == 0; begin++) {
		at->self += climbers[begin].value;
		at->self_samples += climbers[begin].samples;
	}
	while (end > begin) { /* the first child is pushed last and popped first */
		for (i = end - 1; i > begin && climbers[i - 1].key == climbers[end - 1].key;)
			i--;
		if (vec_push(&inversion->pending,
			     (struct climb){.parent = node, .begin = i, .end = end}) < 0)
			return -ENOMEM;
		end = i;
	}
	return 0;
}

/* Creates the node of climbers that share their next caller. */
static uint32_t climb_node(struct inversion *inversion, const struct climb *climb, uint32_t key)
{
	struct call_tree *tree = inversion->builder->tree;
	uint32_t id = call_tree_add(tree, climb->parent, key);
	uint32_t i;

	if (id == ID_NONE)
		return ID_NONE;
	for (i = climb->begin; i < climb->end; i++) {
		tree->nodes.items[id].total += inversion->climbers[i].value;
		tree->nodes.items[id].samples += inversion->climbers[i].samples;
		/* The outermost function of a location is the one that was called. */
		if (inversion->climbers[i].lines == 0)
			tree->nodes.items[id].called = true;
	}
	return id;
}

/*
 * Decides whether callers are followed. Trees of two values of a profile have the same nodes if
 * this uses the same value in both.
 */
static int64_t size_of(const struct inversion *inversion, const struct climb *climb)
{
	int64_t size = 0;
	uint32_t i;

	for (i = climb->begin; i < climb->end; i++)
		size += inversion->climbers[i].size;
	return size;
}

/* Creates everything above the node of a group. */
static int climb_group(struct inversion *inversion, uint32_t node, uint32_t begin, uint32_t end)
{
	struct call_tree_builder *builder = inversion->builder;

	if (climb_range(inversion, node, begin, end) < 0)
		return -ENOMEM;
	while (inversion->pending.count > 0) {
		struct climb climb = inversion->pending.items[--inversion->pending.count];
		uint32_t rank = inversion->climbers[climb.begin].key - 1;

		node = climb_node(inversion, &climb, builder->by_rank[rank]);
		if (node == ID_NONE)
			return -ENOMEM;
		if (size_of(inversion, &climb) < builder->options.min_total)
			continue;
		if (climb_range(inversion, node, climb.begin, climb.end) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void fill_climbers(struct inversion *inversion)
{
	const struct call_tree_builder *builder = inversion->builder;
	const struct profile *profile = builder->profile;
	size_t i;

	for (i = 0; i < profile->entries.count; i++) {
		uint32_t entry = call_tree_entry(builder, i);
		const int64_t *values = profile_entry_values(profile, entry);
		uint32_t stack = profile->entries.items[entry].stack;
		uint32_t location = profile->stacks.nodes.items[stack].frame;

		inversion->climbers[i] = (struct climber){
			.stack = stack,
			.lines = stack ? profile->locations.items[location].line_count : 0,
			.value = values[builder->options.value],
			.size = values[builder->options.min_value],
			.samples = builder->samples_value == ID_NONE
					   ? 0
					   : (uint64_t)values[builder->samples_value],
		};
	}
}

static int climb_groups(struct inversion *inversion)
{
	struct call_tree_builder *builder = inversion->builder;
	uint32_t count = (uint32_t)builder->profile->entries.count;
	struct call_node *root = builder->tree->nodes.items;
	uint32_t begin = 0;
	uint32_t end;

	for (end = 0; end < count; end++) {
		root->total += inversion->climbers[end].value;
		root->samples += inversion->climbers[end].samples;
	}
	for (begin = 0; begin < count; begin = end) {
		uint32_t key = call_tree_group_of(builder, call_tree_entry(builder, begin));
		struct climb group = {.begin = begin};
		uint32_t node = 0;

		for (end = begin + 1; end < count; end++)
			if (call_tree_group_of(builder, call_tree_entry(builder, end)) != key)
				break;
		group.end = end;
		if (builder->thread_group)
			node = climb_node(inversion, &group, key);
		if (node == ID_NONE || climb_group(inversion, node, begin, end) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int build_from_leaves(struct call_tree_builder *builder)
{
	struct inversion inversion = {.builder = builder};
	int r = -ENOMEM;

	inversion.climbers = calloc(builder->profile->entries.count + 1, sizeof(struct climber));
	if (inversion.climbers) {
		fill_climbers(&inversion);
		r = climb_groups(&inversion);
	}
	free(inversion.climbers);
	vec_fini(&inversion.pending);
	return r;
}

/* Both */

/* Fills depth and end of nodes in pre-order. */
static void measure(struct call_tree *tree)
{
	struct call_node *nodes = tree->nodes.items;
	uint32_t count = (uint32_t)tree->nodes.count;
	uint32_t i;

	nodes[0].depth = 0;
	nodes[0].end = count;
	for (i = 1; i < count; i++) {
		nodes[i].end = i + 1;
		nodes[i].depth = nodes[nodes[i].parent].depth + 1;
		if (nodes[i].depth > tree->max_depth)
			tree->max_depth = nodes[i].depth;
	}
	for (i = count - 1; i > 0; i--)
		if (nodes[i].end > nodes[nodes[i].parent].end)
			nodes[nodes[i].parent].end = nodes[i].end;
}

/* A cut tree costs a pass over all stacks for each group: worthwhile for a few. */
static bool is_cut(const struct call_tree_builder *builder)
{
	return builder->options.min_total > 0 && !builder->options.keep_stacks &&
	       builder->tree->labels.entries.count <= MAX_CUT_GROUPS;
}

static int build(struct call_tree_builder *builder)
{
	int r;

	if (call_tree_add(builder->tree, 0, CALL_TREE_GROUP) == ID_NONE)
		return -ENOMEM;
	if (builder->options.group != CALL_TREE_WHOLE && label_threads(builder) < 0)
		return -ENOMEM;
	if (rank_names(builder) < 0)
		return -ENOMEM;
	if (builder->thread_group && order_entries(builder) < 0)
		return -ENOMEM;
	if (builder->options.inverted)
		r = build_from_leaves(builder);
	else
		r = is_cut(builder) ? call_tree_build_cut(builder) : build_from_root(builder);
	if (r < 0)
		return r;
	measure(builder->tree);
	return 0;
}

int call_tree_new(const struct profile *profile, const struct call_tree_options *options,
		  struct call_tree **ret)
{
	SCOPED(call_tree) struct call_tree *tree = NULL;
	struct call_tree_builder builder = {.profile = profile, .options = *options};
	int r;

	if (options->value >= profile->value_count || options->min_value >= profile->value_count ||
	    options->samples_value >= profile->value_count)
		return -EINVAL;
	tree = calloc(1, sizeof(*tree));
	if (!tree)
		return -ENOMEM;
	tree->profile = profile;
	if (strings_init(&tree->labels) < 0)
		return -ENOMEM;
	builder.tree = tree;
	builder.samples_value = options->samples_value;
	if (builder.samples_value == 0)
		builder.samples_value = call_tree_samples_value(profile);
	r = build(&builder);
	builder_fini(&builder);
	if (r < 0)
		return r;
	*ret = scope_take(&tree);
	return 0;
}

void call_tree_free(struct call_tree *tree)
{
	if (!tree)
		return;
	strings_fini(&tree->labels);
	vec_fini(&tree->nodes);
	free(tree->stacks);
	free(tree);
}

const struct call_node *call_tree_nodes(const struct call_tree *tree)
{
	return tree->nodes.items;
}

uint32_t call_tree_count(const struct call_tree *tree)
{
	return (uint32_t)tree->nodes.count;
}

uint32_t call_tree_max_depth(const struct call_tree *tree)
{
	return tree->max_depth;
}

uint32_t call_tree_of_stack(const struct call_tree *tree, uint32_t stack)
{
	return tree->stacks[stack];
}

const char *call_tree_name(const struct call_tree *tree, uint32_t node)
{
	uint32_t function = tree->nodes.items[node].function;

	if (node == 0)
		return "all";
	if (function & CALL_TREE_GROUP)
		return strings_get(&tree->labels, function & ~CALL_TREE_GROUP);
	return profile_text(tree->profile, tree->profile->functions.items[function].name);
}
