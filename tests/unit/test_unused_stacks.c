/* SPDX-License-Identifier: BSD-2-Clause */

/* Stacks whose rows are all gone are removed, their ids are used again, and no answer changes. */

#include "store/unused_stacks.h"

#include <signal.h>

#include "store/store_state.h"

#include "store_world.h"

#define DAY 86400u
#define STACKS 20

/* One row of 1 for each of the stacks NAME0, NAME1 … below the first of the world. */
static void append_named(struct world *world, const char *name, uint32_t time_s)
{
	struct store_series series = series_of("shop", "h1", "");
	struct store_row rows[STACKS];

	for (uint32_t i = 0; i < STACKS; i++) {
		char text[32];

		(void)snprintf(text, sizeof(text), "%s%u", name, i);
		rows[i] = (struct store_row){
			.time_s = time_s,
			.stack = stack_tree_child(&world->profile->stacks, world->stacks[0],
						  add_location(world->profile, text, 1)),
			.samples = 1,
			.value = 1};
	}
	assert_int_equal(append(world, &series, 1, rows, STACKS), 0);
}

/* How much functions have whose names begin so, each as the leaf of main;a;NAME. */
static int64_t sum_named(struct world *world, const char *name)
{
	struct store_selector selector = all();
	struct profile *profile = ask(world, &selector);
	int64_t sum = 0;

	for (size_t i = 0; i < profile->entries.count; i++) {
		uint32_t stack = profile->entries.items[i].stack;
		const struct stack_node *node = &profile->stacks.nodes.items[stack];
		const struct profile_location *location = &profile->locations.items[node->frame];
		uint32_t function = profile->lines.items[location->first_line].function;
		const char *text = profile_text(profile, profile->functions.items[function].name);

		if (strncmp(text, name, strlen(name)) != 0)
			continue;
		assert_int_equal(stack_tree_depth(&profile->stacks, stack), 3);
		sum += profile_entry_values(profile, i)[1];
	}
	profile_free(profile);
	return sum;
}

static uint64_t used_stacks(struct world *world)
{
	struct store_stats stats;

	store_stats(world->store, &stats);
	return stats.stacks;
}

static void keep_thirty_days(struct world *world)
{
	world->config.keep_full_s = world->config.keep_merged_s = 30 * DAY;
	reopen_store(world);
}

static void their_ids_are_used_again(void **state)
{
	struct world *world = *state;
	size_t nodes;

	keep_thirty_days(world);
	append_named(world, "old", START);
	append_named(world, "both", START);
	append_named(world, "both", START + 35 * DAY);
	maintain(world, START + 2 * HOUR);
	assert_int_equal(used_stacks(world), 2 * STACKS);
	nodes = embedded_of(world->store)->names.profile->stacks.nodes.count;
	maintain(world, START + 36 * DAY);
	assert_int_equal(used_stacks(world), STACKS);
	append_named(world, "new", START + 36 * DAY);
	assert_int_equal(embedded_of(world->store)->names.profile->stacks.nodes.count, nodes);
	for (unsigned int round = 0; round < 3; round++) {
		assert_int_equal(used_stacks(world), 2 * STACKS);
		assert_int_equal(sum_named(world, "old"), 0);
		assert_int_equal(sum_named(world, "both"), STACKS);
		assert_int_equal(sum_named(world, "new"), STACKS);
		reopen_store(world);
		if (round == 1)
			maintain(world, START + 37 * DAY);
	}
}

/* A stack that nothing has had for long is found again when it comes again. */
static void one_that_comes_again_is_added_again(void **state)
{
	struct world *world = *state;

	keep_thirty_days(world);
	append_named(world, "old", START);
	maintain(world, START + 2 * HOUR);
	maintain(world, START + 40 * DAY);
	assert_int_equal(used_stacks(world), 0);
	append_named(world, "old", START + 40 * DAY);
	reopen_store(world);
	assert_int_equal(used_stacks(world), STACKS);
	assert_int_equal(sum_named(world, "old"), STACKS);
}

static void a_kill_in_between_leaves_all_or_nothing(void **state)
{
	struct world *world = *state;

	keep_thirty_days(world);
	for (uint32_t round = 0; round < 4; round++) {
		uint32_t now_s = START + round * 60 * DAY;
		char name[16];
		struct error err = {0};
		pid_t pid;

		append_named(world, "kept", now_s + 59 * DAY);
		(void)snprintf(name, sizeof(name), "gone%u.", round);
		append_named(world, name, now_s);
		maintain(world, now_s + 2 * HOUR);
		store_close(world->store);
		world->store = NULL;
		pid = fork();
		if (pid == 0) {
			open_store(world);
			_exit(store_maintain(world->store, now_s + 59 * DAY, &err) < 0);
		}
		(void)usleep(draw(world, 60) * 1000);
		(void)kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		open_store(world);
		assert_true(sum_named(world, "kept") >= STACKS);
		maintain(world, now_s + 59 * DAY);
		assert_int_equal(sum_named(world, name), 0);
		assert_int_equal(used_stacks(world), STACKS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(their_ids_are_used_again),
		TEST(one_that_comes_again_is_added_again),
		TEST(a_kill_in_between_leaves_all_or_nothing),
	};
	const struct CMUnitTest none[] = {cmocka_unit_test(the_store_needs_duckdb)};

	if (access(DUCKDB_LIBRARY, R_OK) < 0)
		return cmocka_run_group_tests_name("unused_stacks", none, NULL, NULL);
	return cmocka_run_group_tests_name("unused_stacks", tests, NULL, NULL);
}
