/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/flame/flame_layout.h"

#include <stdlib.h>

#include "base/scope.h"
#include "model/call_tree.h"

/* The free part of the current box at each depth. */
struct space {
	int64_t begin;
	int64_t end;
};

/* Places the nodes in pre-order. */
static int place(struct flame_layout *layout, const struct call_tree *tree, struct space *spaces,
		 double min_total)
{
	const struct call_node *nodes = call_tree_nodes(tree);
	uint32_t count = call_tree_count(tree);
	uint32_t i = 0;

	spaces[0] = (struct space){.end = layout->total};
	while (i < count) {
		struct space *space = &spaces[nodes[i].depth];
		struct flame_box box = {.node = i, .row = nodes[i].depth, .begin = space->begin};

		/* Negative values of siblings must not push a box out of its parent. */
		box.end = nodes[i].total < space->end - box.begin ? box.begin + nodes[i].total
								  : space->end;
		if (box.end <= box.begin || (double)(box.end - box.begin) < min_total) {
			if (box.end > box.begin) {
				layout->left_out++;
				layout->left_out_total += box.end - box.begin;
				space->begin = box.end;
			}
			i = nodes[i].end;
			continue;
		}
		if (vec_push(&layout->boxes, box) < 0)
			return -ENOMEM;
		if (box.row >= layout->rows)
			layout->rows = box.row + 1;
		space->begin = box.end;
		spaces[box.row + 1] = (struct space){.begin = box.begin, .end = box.end};
		i++;
	}
	return 0;
}

/* Sorts boxes by row, keeping their order inside: a counting sort. */
static int sort_rows(struct flame_layout *layout)
{
	size_t count = layout->boxes.count;
	SCOPED(mem) uint32_t *starts = calloc((size_t)layout->rows + 1, sizeof(*starts));
	struct flame_box *sorted = malloc((count + 1) * sizeof(*sorted));
	size_t i;

	if (!starts || !sorted) {
		free(sorted);
		return -ENOMEM;
	}
	for (i = 0; i < count; i++)
		starts[layout->boxes.items[i].row + 1]++;
	for (i = 0; i < layout->rows; i++)
		starts[i + 1] += starts[i];
	for (i = 0; i < count; i++)
		sorted[starts[layout->boxes.items[i].row]++] = layout->boxes.items[i];
	free(layout->boxes.items);
	layout->boxes.items = sorted;
	layout->boxes.capacity = count + 1;
	return 0;
}

int flame_layout_init(struct flame_layout *layout, const struct call_tree *tree,
		      double min_fraction)
{
	SCOPED(mem)
	struct space *spaces = calloc((size_t)call_tree_max_depth(tree) + 2, sizeof(*spaces));

	*layout = (struct flame_layout){.total = call_tree_nodes(tree)[0].total};
	if (!spaces)
		return -ENOMEM;
	if (place(layout, tree, spaces, min_fraction * (double)layout->total) < 0 ||
	    sort_rows(layout) < 0) {
		flame_layout_fini(layout);
		return -ENOMEM;
	}
	return 0;
}

void flame_layout_fini(struct flame_layout *layout)
{
	vec_fini(&layout->boxes);
}
