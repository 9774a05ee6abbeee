/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/run_command.h"
#include "base/vec.h"
#include "model/profile.h"

#define HOUR 3600u
#define START (490000u * HOUR) /* in 2025 */

struct world {
	char folder[64];
	struct store *store;
	struct store_config config;
	struct profile *profile; /* of the batches */
	uint32_t stacks[8];
	unsigned int next; /* number of the next batch */
	unsigned int random;
};

static const struct value_type types[] = {{"samples", "count"}};

static void fail_with(int r, const struct error *err)
{
	if (r < 0)
		fail_msg("%s", err->text);
}

static void open_store(struct world *world)
{
	struct error err = {0};

	world->config.folder = world->folder;
	world->config.library = DUCKDB_LIBRARY;
	fail_with(store_open(&world->config, &world->store, &err), &err);
}

static void reopen_store(struct world *world)
{
	store_close(world->store);
	open_store(world);
}

static uint32_t add_location(struct profile *profile, const char *name, uint32_t line)
{
	struct profile_line lines = {.line = line};

	lines.function = profile_function(profile, name, "prog.c", "/bin/prog", ORIGIN_PROGRAM);
	return profile_location(profile, "/bin/prog", 0x1000 + line, &lines, 1);
}

/* Stacks main;a, main;a;b, main;a;b;c … and their siblings. */
static void make_profile(struct world *world)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	uint32_t node;
	size_t i;

	assert_int_equal(profile_new(types, 1, &world->profile), 0);
	node = stack_tree_child(&world->profile->stacks, 0, add_location(world->profile, "main", 1));
	for (i = 0; i < 4; i++) {
		node = stack_tree_child(&world->profile->stacks, node,
					add_location(world->profile, names[i], 10));
		world->stacks[2 * i] = node;
		world->stacks[2 * i + 1] = stack_tree_child(
			&world->profile->stacks, node, add_location(world->profile, "leaf", 20));
	}
}

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	(void)snprintf(world->folder, sizeof(world->folder), "/tmp/wick-store-XXXXXX");
	assert_non_null(mkdtemp(world->folder));
	world->random = 1;
	make_profile(world);
	open_store(world);
	*state = world;
	return 0;
}

static void remove_folder(const char *folder)
{
	const char *const command[] = {"rm", "-rf", folder, NULL};
	pid_t pid = fork();

	if (pid == 0) {
		(void)execvp(command[0], (char **)(uintptr_t)command);
		_exit(127);
	}
	(void)waitpid(pid, NULL, 0);
}

static int tear_down(void **state)
{
	struct world *world = *state;

	store_close(world->store);
	profile_free(world->profile);
	remove_folder(world->folder);
	free(world);
	return 0;
}

static unsigned int draw(struct world *world, unsigned int below)
{
	world->random = world->random * 1103515245u + 12345u;
	return (world->random >> 16) % below;
}

static struct store_series series_of(const char *service, const char *host, const char *release)
{
	return (struct store_series){.service = service,
				     .type = "cpu",
				     .unit = "nanoseconds",
				     .host = host,
				     .release = release};
}

static int append_as(struct world *world, const char *id, const struct store_series *series,
		     size_t series_count, const struct store_row *rows, size_t row_count)
{
	struct store_batch batch = {.id = id,
				    .profile = world->profile,
				    .series = series,
				    .series_count = series_count,
				    .rows = rows,
				    .row_count = row_count};
	struct error err = {0};
	int r = store_append(world->store, &batch, &err);

	fail_with(r, &err);
	return r;
}

static int append(struct world *world, const struct store_series *series, size_t series_count,
		  const struct store_row *rows, size_t row_count)
{
	char id[32];

	(void)snprintf(id, sizeof(id), "batch %u", world->next++);
	return append_as(world, id, series, series_count, rows, row_count);
}

static void append_one(struct world *world, const struct store_series *series, uint32_t time_s,
		       uint32_t stack, int64_t value)
{
	struct store_row row = {
		.time_s = time_s, .stack = world->stacks[stack], .samples = 1, .value = value};

	assert_int_equal(append(world, series, 1, &row, 1), 0);
}

static struct store_selector all(void)
{
	return (struct store_selector){.from_s = 0, .to_s = UINT32_MAX};
}

static struct profile *ask(struct world *world, const struct store_selector *selector)
{
	struct profile *profile = NULL;
	struct error err = {0};

	fail_with(store_profile(world->store, selector, &profile, &err), &err);
	return profile;
}

/* The sums of samples (0) or values (1) of a profile. */
static int64_t sum_of(const struct profile *profile, unsigned int value)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < profile->entries.count; i++)
		sum += profile_entry_values(profile, i)[value];
	return sum;
}

static int64_t total(struct world *world, struct store_selector selector)
{
	struct profile *profile = ask(world, &selector);
	int64_t sum = sum_of(profile, 1);

	profile_free(profile);
	return sum;
}

__attribute__((unused)) static void maintain(struct world *world, uint64_t now_s)
{
	struct error err = {0};

	fail_with(store_maintain(world->store, now_s, &err), &err);
}

static void stack_text(const struct profile *profile, uint32_t stack, char *ret, size_t size)
{
	const struct stack_node *node = &profile->stacks.nodes.items[stack];
	const struct profile_location *location;
	size_t n;

	*ret = '\0';
	if (stack == 0)
		return;
	stack_text(profile, node->parent, ret, size);
	n = strlen(ret);
	location = &profile->locations.items[node->frame];
	for (uint32_t i = 0; i < location->line_count; i++, n = strlen(ret)) {
		const struct profile_line *line = &profile->lines.items[location->first_line + i];

		(void)snprintf(ret + n, size - n, "%s%s:%u", n > 0 ? ";" : "",
			       profile_text(profile, profile->functions.items[line->function].name),
			       line->line);
	}
}

/* The value of a stack by its text; 0 if there is none. */
static int64_t value_of(const struct profile *profile, const char *stack)
{
	char text[256];
	size_t i;

	for (i = 0; i < profile->entries.count; i++) {
		stack_text(profile, profile->entries.items[i].stack, text, sizeof(text));
		if (strcmp(text, stack) == 0)
			return profile_entry_values(profile, i)[1];
	}
	return 0;
}

static void what_is_appended_is_answered(void **state)
{
	struct world *world = *state;
	struct store_series series = series_of("shop", "h1", "1.0");
	struct store_selector selector = all();
	struct profile *profile;

	append_one(world, &series, START, 0, 5);
	append_one(world, &series, START + 30, 0, 7);
	append_one(world, &series, START + 30, 3, 100);
	profile = ask(world, &selector);
	assert_int_equal(profile->entries.count, 2);
	assert_int_equal(value_of(profile, "main:1;a:10"), 12);
	assert_int_equal(value_of(profile, "main:1;a:10;b:10;leaf:20"), 100);
	assert_string_equal(profile->value_types[1].name, "cpu");
	assert_string_equal(profile->value_types[1].unit, "nanoseconds");
	assert_int_equal(profile->quality.samples, 3);
	profile_free(profile);
}

/* What a random history should answer, kept in the simplest way. */
struct truth {
	int64_t value[2][3][8];  /* by service, host, stack */
	int64_t by_minute[2][240]; /* by service */
};

static const char *const services[] = {"shop", "mail"};
static const char *const hosts[] = {"h1", "h2", "h3"};

/* Rows of four hours, in random order. */
static void fill(struct world *world, struct truth *truth, unsigned int batches)
{
	struct store_series series[6];
	struct store_row rows[500];
	unsigned int i;

	for (i = 0; i < 6; i++)
		series[i] = series_of(services[i / 3], hosts[i % 3], i % 3 == 2 ? "2.0" : "1.0");
	while (batches-- > 0) {
		for (i = 0; i < ARRAY_SIZE(rows); i++) {
			unsigned int its = draw(world, 6);
			unsigned int minute = draw(world, 240);
			unsigned int stack = draw(world, 8);
			int64_t value = 1 + draw(world, 1000);

			rows[i] = (struct store_row){.series = its,
						     .time_s = START + minute * 60,
						     .stack = world->stacks[stack],
						     .samples = 1,
						     .value = value};
			truth->value[its / 3][its % 3][stack] += value;
			truth->by_minute[its / 3][minute] += value;
		}
		assert_int_equal(append(world, series, 6, rows, ARRAY_SIZE(rows)), 0);
	}
}

static void check_stacks(struct world *world, const struct truth *truth)
{
	static const char *const texts[] = {
		"main:1;a:10",
		"main:1;a:10;leaf:20",
		"main:1;a:10;b:10",
		"main:1;a:10;b:10;leaf:20",
		"main:1;a:10;b:10;c:10",
		"main:1;a:10;b:10;c:10;leaf:20",
		"main:1;a:10;b:10;c:10;d:10",
		"main:1;a:10;b:10;c:10;d:10;leaf:20",
	};
	unsigned int service;
	unsigned int i;

	for (service = 0; service < 2; service++) {
		struct store_match match[] = {{"service", services[service], MATCH_EQUAL},
					      {"host", "h[12]", MATCH_REGEX}};
		struct store_selector selector = all();
		struct profile *profile;

		selector.matches = match;
		selector.match_count = 2;
		profile = ask(world, &selector);
		for (i = 0; i < 8; i++)
			assert_int_equal(value_of(profile, texts[i]),
					 truth->value[service][0][i] + truth->value[service][1][i]);
		profile_free(profile);
	}
}

/* The sum of any range of minutes is that of the truth. */
static void check_ranges(struct world *world, const struct truth *truth)
{
	unsigned int i;

	for (i = 0; i < 20; i++) {
		unsigned int from = draw(world, 240);
		unsigned int to = from + draw(world, 240 - from + 1);
		struct store_match match = {"service", "shop", MATCH_EQUAL};
		struct store_selector selector = {.matches = &match,
						  .match_count = 1,
						  .from_s = START + from * 60,
						  .to_s = START + to * 60};
		int64_t sum = 0;

		for (unsigned int minute = from; minute < to; minute++)
			sum += truth->by_minute[0][minute];
		assert_int_equal(total(world, selector), sum);
	}
}

static void answers_equal_a_sum_by_hand(void **state)
{
	struct world *world = *state;
	struct truth truth = {0};

	fill(world, &truth, 4);
	check_stacks(world, &truth);
	check_ranges(world, &truth);
}

static void a_restart_changes_no_answer(void **state)
{
	struct world *world = *state;
	struct truth truth = {0};

	fill(world, &truth, 2);
	reopen_store(world);
	check_stacks(world, &truth);
	fill(world, &truth, 2);
	check_stacks(world, &truth);
	check_ranges(world, &truth);
}

static void a_batch_that_comes_again_is_stored_once(void **state)
{
	struct world *world = *state;
	struct store_series series = series_of("shop", "h1", "");
	struct store_row row = {.time_s = START, .stack = world->stacks[0], .value = 3};
	struct store_stats stats;

	assert_int_equal(append_as(world, "same", &series, 1, &row, 1), 0);
	assert_int_equal(append_as(world, "same", &series, 1, &row, 1), 1);
	reopen_store(world);
	assert_int_equal(append_as(world, "same", &series, 1, &row, 1), 1);
	assert_int_equal(total(world, all()), 3);
	store_stats(world->store, &stats);
	assert_int_equal(stats.duplicates, 1);
	assert_int_equal(stats.rows, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(what_is_appended_is_answered),
		TEST(answers_equal_a_sum_by_hand),
		TEST(a_restart_changes_no_answer),
		TEST(a_batch_that_comes_again_is_stored_once),
	};

	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
