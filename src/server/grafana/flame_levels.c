/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/grafana/flame_levels.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "model/call_tree.h"
#include "model/strings.h"
#include "server/connect_codec.h"

#define MAX_SIDES 2

/* Where the next box of a row goes. */
struct row {
	json_t *numbers;
	int64_t end[MAX_SIDES]; /* of the box before */
	bool ends_in_other;
};

struct drawing {
	struct call_tree *trees[MAX_SIDES];
	size_t sides;
	int64_t smallest; /* boxes with less are "other" */
	int64_t max_self;
	struct strings names; /* id - 1 is the index */
	VEC(struct row) rows;
	VEC(int64_t) starts; /* of the children of each node, for each side */
};

static void drawing_fini(struct drawing *drawing)
{
	size_t i;

	for (i = 0; i < drawing->sides; i++)
		call_tree_free(drawing->trees[i]);
	for (i = 0; i < drawing->rows.count; i++)
		json_decref(drawing->rows.items[i].numbers);
	strings_fini(&drawing->names);
	vec_fini(&drawing->rows);
	vec_fini(&drawing->starts);
}

static int descending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;

	return x > y ? -1 : x < y;
}

static int64_t total_of(const struct drawing *drawing, uint32_t node)
{
	int64_t total = 0;
	size_t side;

	for (side = 0; side < drawing->sides; side++)
		total += call_tree_nodes(drawing->trees[side])[node].total;
	return total;
}

/* The total of the last box that is within the limit. */
static int choose_smallest(struct drawing *drawing, uint64_t max_nodes)
{
	uint32_t count = call_tree_count(drawing->trees[0]);
	VEC(int64_t) totals = {0};
	uint32_t i;

	drawing->smallest = 1;
	if (count <= max_nodes)
		return 0;
	for (i = 0; i < count; i++)
		if (vec_push(&totals, total_of(drawing, i)) < 0) {
			vec_fini(&totals);
			return -1;
		}
	qsort(totals.items, count, sizeof(*totals.items), descending);
	drawing->smallest = totals.items[max_nodes - 1] > 0 ? totals.items[max_nodes - 1] : 1;
	vec_fini(&totals);
	return 0;
}

static struct row *row_at(struct drawing *drawing, uint32_t depth)
{
	while (drawing->rows.count <= depth)
		if (vec_push(&drawing->rows, (struct row){.numbers = json_array()}) < 0)
			return NULL;
	return &drawing->rows.items[depth];
}

static void add_to(json_t *numbers, size_t from_end, int64_t amount)
{
	json_t *number = json_array_get(numbers, json_array_size(numbers) - from_end);

	(void)json_integer_set(number, json_integer_value(number) + amount);
}

/* A small box right of another small one: they become one. */
static bool grow_other(struct drawing *drawing, struct row *row, uint32_t node,
		       const int64_t *starts)
{
	size_t side;

	for (side = 0; side < drawing->sides; side++)
		if (!row->ends_in_other || row->end[side] != starts[side])
			return false;
	for (side = 0; side < drawing->sides; side++) {
		int64_t total = call_tree_nodes(drawing->trees[side])[node].total;
		size_t back = 1 + 3 * (drawing->sides - side);

		add_to(row->numbers, back - 1, total);
		add_to(row->numbers, back - 2, total);
		row->end[side] += total;
	}
	return true;
}

static int put_box(struct drawing *drawing, uint32_t node, const int64_t *starts, bool other)
{
	uint32_t depth = call_tree_nodes(drawing->trees[0])[node].depth;
	struct row *row = row_at(drawing, depth);
	const char *name = other       ? "other"
			   : node == 0 ? "total"
				       : call_tree_name(drawing->trees[0], node);
	uint32_t id = strings_add(&drawing->names, *name ? name : "[unnamed]");
	size_t side;

	if (!row || id == ID_NONE)
		return -1;
	if (other && grow_other(drawing, row, node, starts))
		return 0;
	for (side = 0; side < drawing->sides; side++) {
		const struct call_node *at = &call_tree_nodes(drawing->trees[side])[node];
		int64_t self = other ? at->total : at->self;

		(void)json_array_append_new(row->numbers,
					    json_integer(starts[side] - row->end[side]));
		(void)json_array_append_new(row->numbers, json_integer(at->total));
		(void)json_array_append_new(row->numbers, json_integer(self));
		row->end[side] = starts[side] + at->total;
		if (self > drawing->max_self)
			drawing->max_self = self;
	}
	(void)json_array_append_new(row->numbers, json_integer(id - 1));
	row->ends_in_other = other;
	return 0;
}

/* Parents come before their children, and know where the next child starts. */
static int put_boxes(struct drawing *drawing)
{
	const struct call_node *nodes = call_tree_nodes(drawing->trees[0]);
	uint32_t count = call_tree_count(drawing->trees[0]);
	uint32_t i = 0;

	while (drawing->starts.count < (size_t)count * drawing->sides)
		if (vec_push(&drawing->starts, 0) < 0)
			return -1;
	while (i < count) {
		int64_t *parent = drawing->starts.items + nodes[i].parent * drawing->sides;
		int64_t *own = drawing->starts.items + i * drawing->sides;
		int64_t starts[MAX_SIDES] = {0};
		bool other = i > 0 && total_of(drawing, i) < drawing->smallest;
		size_t side;

		for (side = 0; side < drawing->sides; side++) {
			const struct call_node *at = &call_tree_nodes(drawing->trees[side])[i];

			starts[side] = i > 0 ? parent[side] : 0;
			if (i > 0)
				parent[side] += at->total;
			own[side] = starts[side] + at->self;
		}
		if (put_box(drawing, i, starts, other) < 0)
			return -1;
		i = other ? nodes[i].end : i + 1;
	}
	return 0;
}

static json_t *result_of(struct drawing *drawing)
{
	json_t *result = json_object();
	json_t *names = json_array();
	json_t *levels = json_array();
	size_t i;

	for (i = 1; i < drawing->names.entries.count; i++) {
		json_t *name = connect_string(strings_get(&drawing->names, (uint32_t)i));

		/* Boxes refer to names by their place in the list. */
		(void)json_array_append_new(names, name ? name : connect_string("[not UTF-8]"));
	}
	for (i = 0; i < drawing->rows.count; i++) {
		json_t *level = json_object();

		(void)json_object_set(level, "values", drawing->rows.items[i].numbers);
		(void)json_array_append_new(levels, level);
	}
	(void)json_object_set_new(result, "names", names);
	(void)json_object_set_new(result, "levels", levels);
	(void)json_object_set_new(result, "total", json_integer(total_of(drawing, 0)));
	(void)json_object_set_new(result, "maxSelf", json_integer(drawing->max_self));
	return result;
}

static json_t *draw(const struct profile *profile, const uint32_t *values, size_t sides,
		    uint64_t max_nodes)
{
	struct drawing drawing = {.sides = sides};
	json_t *result = NULL;
	size_t i;
	int r = strings_init(&drawing.names);

	for (i = 0; i < sides && r == 0; i++)
		r = call_tree_new(profile, &(struct call_tree_options){.value = values[i]},
				  &drawing.trees[i]);
	if (r == 0)
		r = choose_smallest(&drawing, max_nodes);
	if (r == 0)
		r = put_boxes(&drawing);
	if (r == 0)
		result = result_of(&drawing);
	if (result && sides == 2) {
		(void)json_object_set_new(result, "leftTicks",
					  json_integer(call_tree_nodes(drawing.trees[0])[0].total));
		(void)json_object_set_new(result, "rightTicks",
					  json_integer(call_tree_nodes(drawing.trees[1])[0].total));
	}
	drawing_fini(&drawing);
	return result;
}

json_t *flame_levels(const struct profile *profile, uint32_t value, uint64_t max_nodes)
{
	return draw(profile, &value, 1, max_nodes);
}

json_t *flame_levels_pair(const struct profile *profile, const uint32_t values[2],
			  uint64_t max_nodes)
{
	return draw(profile, values, 2, max_nodes);
}
