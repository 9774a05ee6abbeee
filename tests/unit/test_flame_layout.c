/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/flame/flame_layout.h"

#include "make_profile.h"
#include "model/call_tree.h"

/* A bushy tree of a few thousand nodes from a fixed sequence of numbers. */
static struct call_tree *bush(struct profile *profile)
{
	struct call_tree *tree = NULL;
	uint32_t random = 12345;
	char frames[64];
	int i;

	for (i = 0; i < 3000; i++) {
		uint32_t depth = (random >> 16) % 12 + 1;
		size_t used = 0;

		while (depth-- > 0) {
			random = random * 1103515245u + 12345u;
			frames[used++] = (char)('a' + (random >> 16) % 5);
			frames[used++] = ';';
		}
		frames[used] = '\0';
		make_stack(profile, 0, frames, i % 7 + 1);
	}
	assert_int_equal(call_tree_new(profile, &(struct call_tree_options){0}, &tree), 0);
	return tree;
}

static void children_fill_their_parent_up_to_its_own_cost(void **state)
{
	struct profile *profile = make_profile();
	struct call_tree *tree = bush(profile);
	const struct call_node *nodes = call_tree_nodes(tree);
	uint32_t count = call_tree_count(tree);
	struct flame_box *of_node = calloc(count, sizeof(*of_node));
	int64_t *children = calloc(count, sizeof(*children));
	struct flame_layout layout;
	uint32_t i;

	assert_int_equal(flame_layout_init(&layout, tree, 0), 0);
	assert_int_equal(layout.boxes.count, count);
	assert_int_equal(layout.left_out, 0);
	for (i = 0; i < count; i++)
		of_node[layout.boxes.items[i].node] = layout.boxes.items[i];
	for (i = 0; i < count; i++) {
		struct flame_box parent = of_node[nodes[i].parent];

		assert_int_equal(of_node[i].row, nodes[i].depth);
		assert_int_equal(of_node[i].end - of_node[i].begin, nodes[i].total);
		assert_true(of_node[i].begin >= parent.begin && of_node[i].end <= parent.end);
		if (i > 0) { /* no gap between siblings */
			assert_int_equal(of_node[i].begin,
					 parent.begin + children[nodes[i].parent]);
			children[nodes[i].parent] += nodes[i].total;
		}
	}
	for (i = 0; i < count; i++)
		assert_int_equal(children[i] + nodes[i].self, nodes[i].total);
	free(of_node);
	free(children);
	flame_layout_fini(&layout);
	call_tree_free(tree);
	profile_free(profile);
}

static void boxes_come_row_by_row_from_left_to_right(void **state)
{
	struct profile *profile = make_profile();
	struct call_tree *tree = bush(profile);
	struct flame_layout layout;
	size_t i;

	assert_int_equal(flame_layout_init(&layout, tree, 0.001), 0);
	for (i = 1; i < layout.boxes.count; i++) {
		struct flame_box before = layout.boxes.items[i - 1];
		struct flame_box box = layout.boxes.items[i];

		assert_true(box.row == before.row ? box.begin >= before.end
						  : box.row == before.row + 1);
	}
	assert_int_equal(layout.rows, layout.boxes.items[layout.boxes.count - 1].row + 1);
	flame_layout_fini(&layout);
	call_tree_free(tree);
	profile_free(profile);
}

static void narrow_branches_are_left_out_and_counted(void **state)
{
	struct profile *profile = make_profile();
	struct call_tree *tree = NULL;
	struct flame_layout layout;

	make_stack(profile, 0, "main;wide", 97);
	make_stack(profile, 0, "main;narrow;deep;deeper", 2);
	make_stack(profile, 0, "main;tiny", 1);
	assert_int_equal(call_tree_new(profile, &(struct call_tree_options){0}, &tree), 0);
	assert_int_equal(flame_layout_init(&layout, tree, 0.05), 0);
	assert_int_equal(layout.boxes.count, 3);
	assert_int_equal(layout.rows, 3);
	assert_int_equal(layout.left_out, 2);
	assert_int_equal(layout.left_out_total, 3);
	assert_int_equal(layout.boxes.items[2].begin, 3); /* after the room of narrow and tiny */
	flame_layout_fini(&layout);
	call_tree_free(tree);
	profile_free(profile);
}

static void negative_values_do_not_push_boxes_out(void **state)
{
	struct profile *profile = make_profile();
	struct call_tree *tree = NULL;
	struct flame_layout layout;
	size_t i;

	make_stack(profile, 0, "main;a", 10);
	make_stack(profile, 0, "main;b", -6);
	make_stack(profile, 0, "main;c", 3);
	assert_int_equal(call_tree_new(profile, &(struct call_tree_options){0}, &tree), 0);
	assert_int_equal(flame_layout_init(&layout, tree, 0), 0);
	for (i = 0; i < layout.boxes.count; i++)
		assert_true(layout.boxes.items[i].begin >= 0 && layout.boxes.items[i].end <= 7);
	flame_layout_fini(&layout);
	call_tree_free(tree);
	profile_free(profile);
}

static void nothing_takes_no_room(void **state)
{
	struct profile *profile = make_profile();
	struct call_tree *tree = NULL;
	struct flame_layout layout;

	assert_int_equal(call_tree_new(profile, &(struct call_tree_options){0}, &tree), 0);
	assert_int_equal(flame_layout_init(&layout, tree, 0.001), 0);
	assert_int_equal(layout.boxes.count, 0);
	assert_int_equal(layout.rows, 0);
	flame_layout_fini(&layout);
	call_tree_free(tree);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_fill_their_parent_up_to_its_own_cost),
		cmocka_unit_test(boxes_come_row_by_row_from_left_to_right),
		cmocka_unit_test(narrow_branches_are_left_out_and_counted),
		cmocka_unit_test(negative_values_do_not_push_boxes_out),
		cmocka_unit_test(nothing_takes_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
