/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/call_tree.h"

#include "base/bytes.h"
#include "make_profile.h"
#include "model/call_tally.h"

/* The tree in one line: "name:total/self(" children ")". */
static char *tree_text(const struct call_tree *tree)
{
	const struct call_node *nodes = call_tree_nodes(tree);
	struct bytes out = {0};
	uint32_t depth = 0;
	uint32_t i;

	for (i = 0; i < call_tree_count(tree); i++) {
		for (; depth > nodes[i].depth; depth--)
			bytes_put_u8(&out, ')');
		if (i > 0)
			bytes_put_u8(&out, nodes[i].parent == i - 1 ? '(' : ' ');
		depth = nodes[i].depth;
		bytes_printf(&out, "%s:%d/%d", call_tree_name(tree, i), (int)nodes[i].total,
			     (int)nodes[i].self);
		assert_int_equal((int)nodes[i].samples, (int)nodes[i].total);
		assert_int_equal((int)nodes[i].self_samples, (int)nodes[i].self);
	}
	for (; depth > 0; depth--)
		bytes_put_u8(&out, ')');
	bytes_put_u8(&out, '\0');
	assert_false(out.failed);
	return (char *)out.data;
}

static void assert_tree(const struct profile *profile, struct call_tree_options options,
			const char *expected)
{
	struct call_tree *tree = NULL;
	char *text;

	assert_int_equal(call_tree_new(profile, &options, &tree), 0);
	text = tree_text(tree);
	assert_string_equal(text, expected);
	free(text);
	call_tree_free(tree);
}

static void an_empty_profile_is_a_root_alone(void **state)
{
	struct profile *profile = make_profile();

	assert_tree(profile, (struct call_tree_options){0}, "all:0/0");
	assert_tree(profile, (struct call_tree_options){.inverted = true}, "all:0/0");
	assert_tree(profile, (struct call_tree_options){.group = CALL_TREE_BY_THREAD}, "all:0/0");
	profile_free(profile);
}

static void a_value_that_is_not_there_is_refused(void **state)
{
	struct profile *profile = make_profile();
	struct call_tree *tree = NULL;

	assert_int_equal(call_tree_new(profile, &(struct call_tree_options){.value = 2}, &tree),
			 -EINVAL);
	assert_null(tree);
	profile_free(profile);
}

static void siblings_are_in_alphabetical_order_and_totals_add_up(void **state)
{
	struct profile *profile = make_profile();

	make_stack(profile, 0, "main;write", 1);
	make_stack(profile, 0, "main;parse;read", 2);
	make_stack(profile, 0, "main;parse", 4);
	make_stack(profile, 0, "_start", 8);
	assert_tree(profile, (struct call_tree_options){0},
		    "all:15/0(_start:8/8 main:7/0(parse:6/4(read:2/2) write:1/1))");
	profile_free(profile);
}

static void addresses_of_one_function_are_one_node(void **state)
{
	struct profile *profile = make_profile();

	make_stack(profile, 0, "main@1;parse@1", 1);
	make_stack(profile, 0, "main@2;parse@1", 2);
	make_stack(profile, 0, "main@2;parse@7", 4);
	assert_tree(profile, (struct call_tree_options){0}, "all:7/0(main:7/0(parse:7/7))");
	assert_tree(profile, (struct call_tree_options){.inverted = true},
		    "all:7/0(parse:7/0(main:7/7))");
	profile_free(profile);
}

static void inlined_functions_stand_below_the_function_they_are_in(void **state)
{
	struct profile *profile = make_profile();

	make_stack(profile, 0, "main;outer>middle>inner", 1);
	make_stack(profile, 0, "main;outer", 2);
	assert_tree(profile, (struct call_tree_options){0},
		    "all:3/0(main:3/0(outer:3/2(middle:1/0(inner:1/1))))");
	assert_tree(profile, (struct call_tree_options){.inverted = true},
		    "all:3/0(inner:1/0(middle:1/0(outer:1/0(main:1/1))) outer:2/0(main:2/2))");
	profile_free(profile);
}

static void inverted_callers_are_shared_and_sorted(void **state)
{
	struct profile *profile = make_profile();

	make_stack(profile, 0, "main;b;copy", 1);
	make_stack(profile, 0, "main;a;copy", 2);
	make_stack(profile, 0, "copy", 4);
	make_stack(profile, 0, "", 8);
	assert_tree(profile, (struct call_tree_options){.inverted = true},
		    "all:15/8(copy:7/4(a:2/0(main:2/2) b:1/0(main:1/1)))");
	profile_free(profile);
}

static void callers_of_small_inverted_nodes_are_not_followed(void **state)
{
	struct profile *profile = make_profile();

	make_stack(profile, 0, "main;b;copy", 1);
	make_stack(profile, 0, "main;a;copy", 2);
	assert_tree(profile, (struct call_tree_options){.inverted = true, .min_total = 2},
		    "all:3/0(copy:3/0(a:2/0(main:2/2) b:1/0))");
	profile_free(profile);
}

static void recursion_can_be_collapsed(void **state)
{
	struct profile *profile = make_profile();
	struct call_tree_options options = {.collapse_recursion = true};

	make_stack(profile, 0, "main;f@1;f@2;f>f;g", 1);
	make_stack(profile, 0, "main;f;h;f", 2);
	assert_tree(profile, options, "all:3/0(main:3/0(f:3/0(g:1/1 h:2/0(f:2/2))))");
	options.inverted = true;
	assert_tree(profile, options,
		    "all:3/0(f:2/0(h:2/0(f:2/0(main:2/2))) g:1/0(f:1/0(main:1/1)))");
	profile_free(profile);
}

static void groups_come_below_the_root(void **state)
{
	struct profile *profile = make_profile();
	uint32_t worker = profile_thread(profile, 100, 102, "worker", "app");
	uint32_t other = profile_thread(profile, 7, 7, "Zed", "Zed");

	make_stack(profile, worker, "main;run", 1);
	make_stack(profile, 0, "main;run", 2);
	make_stack(profile, other, "main", 4);
	make_stack(profile, worker, "main", 8);
	assert_tree(profile, (struct call_tree_options){.group = CALL_TREE_BY_PROCESS},
		    "all:15/0(Zed:4/0(main:4/4) app:11/0(main:11/8(run:3/3)))");
	assert_tree(profile, (struct call_tree_options){.group = CALL_TREE_BY_THREAD},
		    "all:15/0(Zed/7:4/0(main:4/4) app/100:2/0(main:2/0(run:2/2)) "
		    "worker/102:9/0(main:9/8(run:1/1)))");
	assert_tree(profile, (struct call_tree_options){.group = CALL_TREE_BY_PID},
		    "all:15/0(Zed/7:4/0(main:4/4) app/100:11/0(main:11/8(run:3/3)))");
	assert_tree(profile,
		    (struct call_tree_options){.group = CALL_TREE_BY_PROCESS, .inverted = true},
		    "all:15/0(Zed:4/0(main:4/4) app:11/0(main:8/8 run:3/0(main:3/3)))");
	profile_free(profile);
}

static void a_node_may_have_hundreds_of_children(void **state)
{
	struct profile *profile = make_profile();
	struct call_tree *tree = NULL;
	char frames[32];
	uint32_t i;

	for (i = 0; i < 600; i++) { /* two addresses of each, in no order */
		(void)snprintf(frames, sizeof(frames), "main;f%03u@%u", i * 7 % 300, i / 300);
		make_stack(profile, 0, frames, 1);
	}
	assert_int_equal(call_tree_new(profile, &(struct call_tree_options){0}, &tree), 0);
	assert_int_equal(call_tree_count(tree), 302);
	for (i = 0; i < 300; i++) {
		(void)snprintf(frames, sizeof(frames), "f%03u", i);
		assert_string_equal(call_tree_name(tree, i + 2), frames);
		assert_int_equal(call_tree_nodes(tree)[i + 2].total, 2);
	}
	call_tree_free(tree);
	profile_free(profile);
}

static void ten_thousand_frames_are_no_problem(void **state)
{
	struct profile *profile = make_profile();
	char name[32] = "deep";
	uint32_t stack = 0;
	struct call_tree *tree = NULL;
	bool inverted;
	int i;

	for (i = 0; i < 10000; i++) {
		(void)snprintf(name, sizeof(name), "deep%d", i);
		stack = stack_tree_child(&profile->stacks, stack, make_location(profile, name));
	}
	assert_int_equal(profile_add(profile, stack, 0, (int64_t[]){1, 1}), 0);
	for (inverted = false;; inverted = true) {
		struct call_tree_options options = {.inverted = inverted};

		assert_int_equal(call_tree_new(profile, &options, &tree), 0);
		assert_int_equal(call_tree_max_depth(tree), 10000);
		assert_string_equal(call_tree_name(tree, 10000), inverted ? "deep0" : "deep9999");
		call_tree_free(tree);
		if (inverted)
			break;
	}
	profile_free(profile);
}

static const struct call_tally *find_tally(const struct profile *profile,
					   const struct call_tally *tallies, size_t count,
					   const char *name)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (strcmp(profile_text(profile, profile->functions.items[tallies[i].key].name),
			   name) == 0)
			return &tallies[i];
	fail_msg("no tally of %s", name);
	return NULL;
}

static void a_recursive_function_counts_once_per_stack(void **state)
{
	struct profile *profile = make_profile();
	struct call_tree *tree = NULL;
	struct call_tally *tallies = NULL;
	const struct call_tally *fib;
	size_t count = 0;

	make_stack(profile, 0, "main;fib;fib;fib", 3);
	make_stack(profile, 0, "main;fib;help;fib", 2);
	make_stack(profile, 0, "main;other;fib", 1);
	assert_int_equal(call_tree_new(profile, &(struct call_tree_options){0}, &tree), 0);
	assert_int_equal(call_tally_new(profile, tree, CALL_TALLY_FUNCTION, &tallies, &count), 0);
	fib = find_tally(profile, tallies, count, "fib");
	assert_int_equal(count, 4);
	assert_ptr_equal(fib, &tallies[0]);
	assert_int_equal(fib->self, 6);
	assert_int_equal(fib->total, 6);
	assert_int_equal(fib->samples, 6);
	assert_int_equal(find_tally(profile, tallies, count, "main")->total, 6);
	assert_int_equal(find_tally(profile, tallies, count, "help")->total, 2);
	free(tallies);
	call_tree_free(tree);
	profile_free(profile);
}

static void modules_count_once_per_stack(void **state)
{
	struct profile *profile = make_profile();
	struct call_tree *tree = NULL;
	struct call_tally *tallies = NULL;
	size_t count = 0;

	make_stack(profile, 0, "main;lib_sort;compare;lib_strcmp", 3);
	make_stack(profile, 0, "main", 1);
	assert_int_equal(call_tree_new(profile, &(struct call_tree_options){0}, &tree), 0);
	assert_int_equal(call_tally_new(profile, tree, CALL_TALLY_MODULE, &tallies, &count), 0);
	assert_int_equal(count, 2);
	assert_string_equal(profile_text(profile, tallies[0].key), "/usr/lib/libdemo.so.1");
	assert_int_equal(tallies[0].self, 3);
	assert_int_equal(tallies[0].total, 3);
	assert_int_equal(tallies[1].self, 1);
	assert_int_equal(tallies[1].total, 4);
	free(tallies);
	call_tree_free(tree);
	profile_free(profile);
}

static void an_inverted_tree_begins_with_the_self_cost_of_each_function(void **state)
{
	struct profile *profile = make_profile();
	struct call_tree *forward = NULL;
	struct call_tree *inverted = NULL;
	struct call_tally *tallies = NULL;
	const struct call_node *nodes;
	uint32_t random = 99;
	size_t count = 0;
	uint32_t node;
	int i;

	for (i = 0; i < 2000; i++) {
		char frames[] = "a;a;a;a;a;a;a";
		size_t k;

		for (k = 0; k < sizeof(frames) - 1; k += 2) {
			random = random * 1103515245u + 12345u;
			frames[k] = (char)('a' + (random >> 16) % 9);
		}
		frames[1 + (random >> 20) % 7 * 2] = '\0';
		make_stack(profile, 0, frames, i % 5 + 1);
	}
	assert_int_equal(call_tree_new(profile, &(struct call_tree_options){0}, &forward), 0);
	assert_int_equal(
		call_tree_new(profile, &(struct call_tree_options){.inverted = true}, &inverted),
		0);
	assert_int_equal(call_tally_new(profile, forward, CALL_TALLY_FUNCTION, &tallies, &count),
			 0);
	nodes = call_tree_nodes(inverted);
	assert_int_equal(nodes[0].total, call_tree_nodes(forward)[0].total);
	for (node = 1; node < call_tree_count(inverted); node = nodes[node].end)
		assert_int_equal(
			nodes[node].total,
			find_tally(profile, tallies, count, call_tree_name(inverted, node))->self);
	free(tallies);
	call_tree_free(forward);
	call_tree_free(inverted);
	profile_free(profile);
}

static void trees_of_two_values_are_cut_alike(void **state)
{
	struct profile *profile = make_profile();
	struct call_tree_options options = {
		.inverted = true, .min_total = 5 * MAKE_PERIOD_NS, .min_value = 1};
	uint32_t counts[2];

	make_stack(profile, 0, "main;parse;read", 6);
	make_stack(profile, 0, "main;write;flush", 2);
	for (options.value = 0; options.value < 2; options.value++) {
		struct call_tree *tree = NULL;

		assert_int_equal(call_tree_new(profile, &options, &tree), 0);
		counts[options.value] = call_tree_count(tree);
		call_tree_free(tree);
	}
	assert_int_equal(counts[0], 5); /* all, flush, read and its two callers */
	assert_int_equal(counts[1], 5);
	options.value = 0;
	options.min_value = 2; /* there is none */
	assert_int_equal(call_tree_new(profile, &options, &(struct call_tree *){NULL}), -EINVAL);
	profile_free(profile);
}

/* Stacks of two threads with two addresses of a function, inlined ones and recursion. */
static struct profile *random_profile(void)
{
	struct profile *profile = make_profile();
	uint32_t random = 7;
	int i;

	assert_int_equal(profile_thread(profile, 100, 101, "worker", "app"), 1);
	for (i = 0; i < 1500; i++) {
		static const char *const names[] = {"a@1", "a@2", "b",   "c>d",   "c>d>e@1",
						    "d",   "e",   "c@3", "sys_f", "a>a"};
		char frames[80] = "main";
		size_t depth = 1 + (size_t)i % 8;

		while (depth-- > 0) {
			random = random * 1103515245u + 12345u;
			strncat(frames, ";", sizeof(frames) - strlen(frames) - 1);
			strncat(frames, names[(random >> 16) % ARRAY_SIZE(names)],
				sizeof(frames) - strlen(frames) - 1);
		}
		make_stack(profile, (uint32_t)i % 2, frames, i % 7);
	}
	return profile;
}

/* A tree that is cut has the nodes of the whole one that are not below small ones. */
static void assert_cut(const struct call_tree *cut, const struct call_tree *whole, int64_t least)
{
	const struct call_node *a = call_tree_nodes(cut);
	const struct call_node *b = call_tree_nodes(whole);
	uint32_t at = 0;
	uint32_t i;

	for (i = 0; i < call_tree_count(cut); i++) {
		bool small = b[at].total < least && !(b[at].function & CALL_TREE_GROUP);

		assert_true(at < call_tree_count(whole));
		assert_string_equal(call_tree_name(cut, i), call_tree_name(whole, at));
		assert_int_equal(a[i].depth, b[at].depth);
		assert_int_equal(a[i].function, b[at].function);
		assert_int_equal(a[i].total, b[at].total);
		assert_int_equal(a[i].samples, b[at].samples);
		if (!small) {
			assert_int_equal(a[i].called, b[at].called);
			assert_int_equal(a[i].self, b[at].self);
			assert_int_equal(a[i].self_samples, b[at].self_samples);
		}
		at = small ? b[at].end : at + 1;
	}
	assert_int_equal(at, call_tree_count(whole));
}

static void a_tree_that_is_cut_lacks_only_what_is_below_small_nodes(void **state)
{
	struct profile *profile = random_profile();
	unsigned int kind;

	for (kind = 0; kind < 12; kind++) {
		struct call_tree_options options = {.value = kind % 2,
						    .min_value = kind % 2,
						    .collapse_recursion = kind / 2 % 2,
						    .group = (enum call_tree_group)(kind / 4)};
		int64_t least = 40 * (options.value ? MAKE_PERIOD_NS : 1);
		struct call_tree *whole = NULL;
		struct call_tree *cut = NULL;

		assert_int_equal(call_tree_new(profile, &options, &whole), 0);
		options.min_total = least;
		assert_int_equal(call_tree_new(profile, &options, &cut), 0);
		assert_true(call_tree_count(cut) > 20);
		assert_true(call_tree_count(cut) < call_tree_count(whole) / 2);
		assert_cut(cut, whole, least);
		call_tree_free(cut);
		/* Small nodes are told by another value than that of the tree. */
		options.value = 1 - options.value;
		assert_int_equal(call_tree_new(profile, &options, &cut), 0);
		assert_true(call_tree_count(cut) < call_tree_count(whole) / 2);
		call_tree_free(cut);
		call_tree_free(whole);
	}
	profile_free(profile);
}

static void stacks_are_found_in_a_tree_that_keeps_them(void **state)
{
	struct call_tree_options options = {.value = 0, .keep_stacks = true};
	struct profile *profile = make_profile();
	struct call_tree *tree = NULL;

	make_stack(profile, 0, "main;write@1", 2);
	make_stack(profile, 0, "main;parse;read", 6);
	make_stack(profile, 0, "main;write@2", 1);
	assert_int_equal(call_tree_new(profile, &options, &tree), 0);
	assert_string_equal(call_tree_name(tree, call_tree_of_stack(tree, 0)), "all");
	for (size_t i = 0; i < profile->entries.count; i++) {
		uint32_t node = call_tree_of_stack(tree, profile->entries.items[i].stack);

		assert_string_equal(call_tree_name(tree, node), i == 1 ? "read" : "write");
		assert_int_equal(call_tree_nodes(tree)[node].self, i == 1 ? 6 : 3);
	}
	call_tree_free(tree);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_profile_is_a_root_alone),
		cmocka_unit_test(a_value_that_is_not_there_is_refused),
		cmocka_unit_test(siblings_are_in_alphabetical_order_and_totals_add_up),
		cmocka_unit_test(addresses_of_one_function_are_one_node),
		cmocka_unit_test(inlined_functions_stand_below_the_function_they_are_in),
		cmocka_unit_test(inverted_callers_are_shared_and_sorted),
		cmocka_unit_test(callers_of_small_inverted_nodes_are_not_followed),
		cmocka_unit_test(recursion_can_be_collapsed),
		cmocka_unit_test(groups_come_below_the_root),
		cmocka_unit_test(a_node_may_have_hundreds_of_children),
		cmocka_unit_test(ten_thousand_frames_are_no_problem),
		cmocka_unit_test(a_recursive_function_counts_once_per_stack),
		cmocka_unit_test(modules_count_once_per_stack),
		cmocka_unit_test(an_inverted_tree_begins_with_the_self_cost_of_each_function),
		cmocka_unit_test(trees_of_two_values_are_cut_alike),
		cmocka_unit_test(a_tree_that_is_cut_lacks_only_what_is_below_small_nodes),
		cmocka_unit_test(stacks_are_found_in_a_tree_that_keeps_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
