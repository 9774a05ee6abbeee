/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/stack_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Builds 4000 stacks of five frames and checks that each has one id of its own. */
static void check_tree(uint64_t hash_mask)
{
	struct stack_tree tree;
	uint32_t ids[4000];

	assert_int_equal(stack_tree_init(&tree), 0);
	tree.hash_mask = hash_mask;
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 4000; i++) {
			uint32_t node = 0;

			for (uint32_t k = 0; k < 5; k++)
				node = stack_tree_child(&tree, node, i >> (3 * (4 - k)));
			assert_true(round == 0 || ids[i] == node);
			ids[i] = node;
		}
	}
	for (uint32_t i = 0; i < 4000; i++) {
		uint32_t node = ids[i];

		assert_int_equal(stack_tree_depth(&tree, node), 5);
		for (uint32_t k = 5; k-- > 0; node = tree.nodes.items[node].parent)
			assert_int_equal(tree.nodes.items[node].frame, i >> (3 * (4 - k)));
		assert_int_equal(node, 0);
	}
	stack_tree_fini(&tree);
}

static void equal_stacks_have_one_id_and_others_another(void **state)
{
	check_tree(UINT64_MAX);
}

static void equal_hashes_are_told_apart_by_content(void **state)
{
	check_tree(0);
	check_tree(3);
}

static void nodes_with_many_children_find_each(void **state)
{
	struct stack_tree tree;
	uint32_t ids[300];

	for (uint32_t bits = 0; bits < 3; bits++) {
		assert_int_equal(stack_tree_init(&tree), 0);
		tree.hash_mask = bits == 2 ? UINT64_MAX : bits; /* all hashes equal, two, all */
		for (uint32_t i = 0; i < 300; i++)
			ids[i] = stack_tree_child(&tree, 0, i);
		for (uint32_t i = 0; i < 300; i++)
			assert_int_equal(stack_tree_child(&tree, 0, i), ids[i]);
		assert_int_equal(tree.nodes.count, 301);
		stack_tree_fini(&tree);
	}
}

static void appended_nodes_are_found(void **state)
{
	struct stack_tree tree;
	uint32_t ids[300];

	assert_int_equal(stack_tree_init(&tree), 0);
	for (uint32_t i = 0; i < 300; i++)
		ids[i] = stack_tree_append(&tree, i < 100 ? 0 : ids[i - 100], i);
	for (uint32_t i = 0; i < 300; i++)
		assert_int_equal(stack_tree_child(&tree, i < 100 ? 0 : ids[i - 100], i), ids[i]);
	assert_int_equal(tree.nodes.count, 301);
	assert_int_equal(stack_tree_child(&tree, 0, 300), 301);
	stack_tree_fini(&tree);
}

static void parents_come_before_children(void **state)
{
	struct stack_tree tree;
	uint32_t a;
	uint32_t b;

	assert_int_equal(stack_tree_init(&tree), 0);
	a = stack_tree_child(&tree, 0, 9);
	b = stack_tree_child(&tree, a, 9);
	assert_true(a > 0 && b > a);
	assert_int_equal(stack_tree_depth(&tree, 0), 0);
	stack_tree_fini(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_have_one_id_and_others_another),
		cmocka_unit_test(equal_hashes_are_told_apart_by_content),
		cmocka_unit_test(nodes_with_many_children_find_each),
		cmocka_unit_test(appended_nodes_are_found),
		cmocka_unit_test(parents_come_before_children),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
