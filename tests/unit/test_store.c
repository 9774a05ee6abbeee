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
	node = stack_tree_child(&world->profile->stacks, 0,
				add_location(world->profile, "main", 1));
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

static void maintain(struct world *world, uint64_t now_s)
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
	int64_t value[2][3][8];    /* by service, host, stack */
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

static uint64_t file_count(struct world *world)
{
	struct store_stats stats;

	store_stats(world->store, &stats);
	return stats.rows - stats.hot_rows > 0 ? stats.hot_rows == 0 ? 2 : 1 : 0;
}

static void sorting_closed_hours_changes_no_answer(void **state)
{
	struct world *world = *state;
	struct truth truth = {0};

	fill(world, &truth, 4);
	/* Two of the four hours are over. */
	maintain(world, START + 2 * HOUR + 700);
	assert_int_equal(file_count(world), 1);
	check_stacks(world, &truth);
	check_ranges(world, &truth);
	maintain(world, START + 9 * HOUR);
	assert_int_equal(file_count(world), 2);
	check_stacks(world, &truth);
	check_ranges(world, &truth);
	reopen_store(world);
	check_stacks(world, &truth);
	check_ranges(world, &truth);
}

static void rows_that_come_late_are_added_to_their_hour(void **state)
{
	struct world *world = *state;
	struct truth truth = {0};

	fill(world, &truth, 2);
	maintain(world, START + 9 * HOUR);
	fill(world, &truth, 2);
	check_ranges(world, &truth);
	maintain(world, START + 9 * HOUR + 60);
	assert_int_equal(file_count(world), 1);
	maintain(world, START + 10 * HOUR);
	assert_int_equal(file_count(world), 2);
	check_stacks(world, &truth);
	check_ranges(world, &truth);
}

static void a_clock_that_steps_loses_nothing(void **state)
{
	struct world *world = *state;
	struct store_series series = series_of("shop", "h1", "");

	append_one(world, &series, START + 5 * HOUR, 0, 1);
	append_one(world, &series, START + HOUR, 0, 10);
	maintain(world, START + 9 * HOUR);
	append_one(world, &series, START + 300 * HOUR, 0, 100);
	append_one(world, &series, START - 100 * HOUR, 0, 1000);
	maintain(world, START);
	maintain(world, START - 30 * HOUR);
	maintain(world, START + 9 * HOUR);
	append_one(world, &series, UINT32_MAX - 1, 0, 10000);
	assert_int_equal(total(world, all()), 11111);
	reopen_store(world);
	assert_int_equal(total(world, all()), 11111);
}

static void old_rows_are_merged_with_exact_sums(void **state)
{
	struct world *world = *state;
	struct truth truth = {0};
	struct store_stats before;
	struct store_stats after;
	struct store_selector selector = all();
	int64_t sum = 0;
	unsigned int i;

	world->config.keep_full_s = 10 * HOUR;
	world->config.keep_merged_s = 100 * HOUR;
	reopen_store(world);
	fill(world, &truth, 8);
	maintain(world, START + 9 * HOUR);
	store_stats(world->store, &before);
	maintain(world, START + 20 * HOUR);
	store_stats(world->store, &after);
	assert_true(after.rows < before.rows);
	check_stacks(world, &truth);
	/* Times are multiples of five minutes now, and nothing else has changed. */
	selector.from_s = START + 25 * 60;
	selector.to_s = START + 100 * 60;
	for (i = 25; i < 100; i++)
		sum += truth.by_minute[0][i] + truth.by_minute[1][i];
	assert_int_equal(total(world, selector), sum);
	/* Two hours are too old a day later, then all are. */
	maintain(world, START + 102 * HOUR);
	for (i = 120, sum = 0; i < 240; i++)
		sum += truth.by_minute[0][i] + truth.by_minute[1][i];
	assert_int_equal(total(world, all()), sum);
	maintain(world, START + 200 * HOUR);
	assert_int_equal(total(world, all()), 0);
}

static void the_oldest_hours_go_when_the_disk_limit_is_reached(void **state)
{
	struct world *world = *state;
	struct truth truth = {0};
	int64_t sum = 0;

	fill(world, &truth, 2);
	world->config.keep_bytes = 1;
	reopen_store(world);
	maintain(world, START + 9 * HOUR);
	maintain(world, START + 9 * HOUR);
	for (unsigned int i = 180; i < 240; i++)
		sum += truth.by_minute[0][i] + truth.by_minute[1][i];
	assert_int_equal(total(world, all()), sum);
}

/* Levels of 100 and 300 at two times, and of 50 at one of them: their means. */
static void levels_are_averaged_over_time(void **state)
{
	struct world *world = *state;
	struct store_series series = {.service = "shop",
				      .type = "inuse",
				      .unit = "bytes",
				      .is_gauge = true,
				      .host = "h1",
				      .release = ""};
	struct store_row rows[] = {
		{.time_s = START, .stack = world->stacks[0], .samples = 1, .value = 100},
		{.time_s = START + 60, .stack = world->stacks[0], .samples = 1, .value = 300},
		{.time_s = START + 60, .stack = world->stacks[1], .samples = 1, .value = 50},
	};
	struct store_selector selector = all();

	selector.type = "inuse";
	world->config.keep_full_s = 10 * HOUR;
	reopen_store(world);
	assert_int_equal(append(world, &series, 1, rows, 3), 0);
	for (unsigned int hours = 0; hours < 30; hours += 9) {
		struct profile *profile = ask(world, &selector);

		assert_int_equal(value_of(profile, "main:1;a:10"), 200);
		assert_int_equal(value_of(profile, "main:1;a:10;leaf:20"), 25);
		profile_free(profile);
		maintain(world, START + hours * HOUR);
	}
	series.host = "h2";
	assert_int_equal(append(world, &series, 1, rows, 1), 0);
	assert_int_equal(total(world, selector), 325);
}

/* Items as text, one in a line. */
struct lines {
	char text[4096];
};

static bool add_item(void *self, const struct store_item *item)
{
	struct lines *lines = self;
	size_t n = strlen(lines->text);

	(void)snprintf(lines->text + n, sizeof(lines->text) - n, "%s|%s %llu %lld %lld %u-%u\n",
		       item->name, item->detail, (unsigned long long)item->samples,
		       (long long)item->value, (long long)item->self,
		       item->from_s ? item->from_s - START : 0,
		       item->to_s ? item->to_s - START : 0);
	return true;
}

static void check_lists(struct world *world)
{
	struct store_selector selector = all();
	struct lines lines = {{0}};
	struct error err = {0};

	fail_with(store_values(world->store, &selector, "release", add_item, &lines, &err), &err);
	assert_string_equal(lines.text, "2.0| 2 1100 0 3600-7200\n1.0| 2 11 0 0-60\n");
	lines.text[0] = '\0';
	fail_with(store_values(world->store, &selector, "zone", add_item, &lines, &err), &err);
	assert_string_equal(lines.text, "east| 2 1100 0 3600-7200\n| 2 11 0 0-60\n");
	lines.text[0] = '\0';
	fail_with(store_label_names(world->store, &selector, add_item, &lines, &err), &err);
	assert_string_equal(lines.text, "host| 0 0 0 0-0\nrelease| 0 0 0 0-0\n"
					"service| 0 0 0 0-0\ntype| 0 0 0 0-0\nzone| 0 0 0 0-0\n");
	lines.text[0] = '\0';
	fail_with(store_top(world->store, &selector, 2, add_item, &lines, &err), &err);
	assert_string_equal(lines.text, "b|/bin/prog 1 1000 1000 0-0\n"
					"leaf|/bin/prog 1 100 100 0-0\n");
}

static void check_times(struct world *world)
{
	struct store_selector selector = all();
	struct lines lines = {{0}};
	struct error err = {0};

	fail_with(store_over_time(world->store, &selector,
				  &(struct store_over_time){.step_s = HOUR}, add_item, &lines,
				  &err),
		  &err);
	assert_string_equal(lines.text, "| 2 11 0 0-3600\n| 1 100 0 3600-7200\n"
					"| 1 1000 0 7200-10800\n");
	lines.text[0] = '\0';
	fail_with(store_over_time(world->store, &selector,
				  &(struct store_over_time){.function = "b", .step_s = HOUR},
				  add_item, &lines, &err),
		  &err);
	assert_string_equal(lines.text, "| 1 1000 0 7200-10800\n");
	lines.text[0] = '\0';
	fail_with(store_over_time(world->store, &selector,
				  &(struct store_over_time){.function = "a",
							    .group_by = "release",
							    .step_s = 2 * HOUR},
				  add_item, &lines, &err),
		  &err);
	assert_string_equal(lines.text, "1.0| 2 11 0 0-7200\n2.0| 1 100 0 0-7200\n"
					"2.0| 1 1000 0 7200-14400\n");
}

static void lists_and_series_over_time_are_right(void **state)
{
	struct world *world = *state;
	struct store_series old = series_of("shop", "h1", "1.0");
	struct store_series new = series_of("shop", "h1", "2.0");

	new.labels = &(struct store_label){"zone", "east"};
	new.label_count = 1;
	append_one(world, &old, START, 0, 1);
	append_one(world, &old, START + 60, 0, 10);
	append_one(world, &new, START + HOUR, 1, 100);
	append_one(world, &new, START + 2 * HOUR, 2, 1000);
	check_lists(world);
	check_times(world);
	maintain(world, START + 3 * HOUR);
	check_lists(world);
	check_times(world);
	reopen_store(world);
	check_lists(world);
	check_times(world);
}

static void gaps_are_kept_with_their_reason(void **state)
{
	struct world *world = *state;
	struct store_gap gaps[] = {{"h1", START, START + 20, "breaker: the host's CPU was full"},
				   {"h2", START + 60, START + 70, "it's paused"}};
	struct store_batch batch = {.id = "gaps", .gaps = gaps, .gap_count = 2};
	struct store_selector selector = {.from_s = START, .to_s = START + 60};
	struct lines lines = {{0}};
	struct error err = {0};

	fail_with(store_append(world->store, &batch, &err), &err);
	fail_with(store_gaps(world->store, &selector, add_item, &lines, &err), &err);
	assert_string_equal(lines.text, "breaker: the host's CPU was full|h1 0 0 0 0-20\n");
}

static void too_many_series_lose_their_labels(void **state)
{
	struct world *world = *state;
	struct store_match match = {"other", "other", MATCH_EQUAL};
	struct store_selector selector = all();
	struct store_stats stats;
	char text[16];

	world->config.max_series = 5;
	reopen_store(world);
	for (unsigned int i = 0; i < 50; i++) {
		struct store_series series = series_of("shop", "h1", "");

		(void)snprintf(text, sizeof(text), "%u", i);
		series.labels = &(struct store_label){"user", text};
		series.label_count = 1;
		append_one(world, &series, START, 0, 1);
		/* What was known before stays as it is. */
		(void)snprintf(text, sizeof(text), "%u", i % 5);
		append_one(world, &series, START + 30, 0, 100);
	}
	assert_int_equal(total(world, all()), 5050);
	selector.matches = &match;
	selector.match_count = 1;
	assert_int_equal(total(world, selector), 45);
	store_stats(world->store, &stats);
	assert_int_equal(stats.series, 6);
	assert_int_equal(stats.overflowed_series, 45);
}

/* Takes the first address that has no name. */
static bool take_address(void *self, const struct store_address *address)
{
	*(struct store_address *)self = *address;
	return false;
}

static void add_unnamed(struct world *world)
{
	static const struct build_id build_id = {.size = 2, .bytes = {0xab, 0xcd}};
	struct profile_line line = {.line = 0};
	uint32_t location;

	line.function = profile_function(world->profile, "libx.so+0x42", "", "/lib/libx.so",
					 ORIGIN_UNKNOWN);
	location = profile_location(world->profile, "/lib/libx.so", 0x42, &line, 1);
	assert_int_equal(profile_module(world->profile, "/lib/libx.so", &build_id), 0);
	world->stacks[0] = stack_tree_child(&world->profile->stacks, world->stacks[0], location);
}

static void symbols_that_come_late_improve_old_profiles(void **state)
{
	static const struct store_name names[] = {{"outer", "x.c", 7}, {"inlined", "x.h", 9}};
	struct world *world = *state;
	struct store_series series = series_of("shop", "h1", "");
	struct store_selector selector = all();
	struct store_address address = {UINT32_MAX, 0};
	struct lines lines = {{0}};
	struct error err = {0};
	struct profile *profile;

	add_unnamed(world);
	append_one(world, &series, START, 0, 5);
	maintain(world, START + 9 * HOUR);
	profile = ask(world, &selector);
	assert_int_equal(value_of(profile, "main:1;a:10;libx.so+0x42:0"), 5);
	profile_free(profile);
	fail_with(store_unnamed_modules(world->store, add_item, &lines, &err), &err);
	assert_string_equal(lines.text, "abcd|/lib/libx.so 0 0 0 0-0\n");
	fail_with(store_unnamed(world->store, "abcd", take_address, &address, &err), &err);
	assert_int_equal(address.vaddr, 0x42);
	fail_with(store_set_names(world->store, &(struct store_naming){address.id, names, 2}, 1,
				  &err),
		  &err);
	for (unsigned int i = 0; i < 2; i++) {
		/* What comes later without a name has it, too. */
		append_one(world, &series, START + HOUR, 0, 10);
		profile = ask(world, &selector);
		assert_int_equal(value_of(profile, "main:1;a:10;outer:7;inlined:9"), 15 + 10 * i);
		profile_free(profile);
		lines.text[0] = '\0';
		fail_with(store_over_time(world->store, &selector,
					  &(struct store_over_time){.function = "inlined",
								    .step_s = 2 * HOUR},
					  add_item, &lines, &err),
			  &err);
		assert_string_equal(lines.text, i == 0 ? "| 2 15 0 0-7200\n" : "| 3 25 0 0-7200\n");
		reopen_store(world);
	}
}

static void hostile_texts_are_stored_as_text(void **state)
{
	struct world *world = *state;
	struct store_series series = series_of("x'); DROP TABLE series; --", "\xff\x1f\n", "'");
	struct store_match matches[] = {{"service", "x'); DROP TABLE series; --", MATCH_EQUAL},
					{"a'b", "\"'", MATCH_EQUAL}};
	struct store_selector selector = all();
	struct profile *profile = NULL;
	struct error err = {0};

	series.labels = &(struct store_label){"a'b", "\"'"};
	series.label_count = 1;
	append_one(world, &series, START, 0, 5);
	selector.matches = matches;
	selector.match_count = 2;
	assert_int_equal(total(world, selector), 5);
	maintain(world, START + 9 * HOUR);
	reopen_store(world);
	assert_int_equal(total(world, selector), 5);
	matches[0] = (struct store_match){"service", "(", MATCH_REGEX};
	assert_int_equal(store_profile(world->store, &selector, &profile, &err), -EINVAL);
	assert_non_null(strstr(err.text, "missing )"));
}

/* The path of the only file below a folder whose name ends so. */
static void find_file(struct world *world, const char *ending, char *ret, size_t size)
{
	char command[128];
	FILE *pipe;

	(void)snprintf(command, sizeof(command), "find %s -name '*%s' | head -n 1", world->folder,
		       ending);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_non_null(fgets(ret, (int)size, pipe));
	ret[strcspn(ret, "\n")] = '\0';
	(void)pclose(pipe);
}

static void overwrite(const char *path, off_t at)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "damage", 6, at), 6);
	(void)close(fd);
}

static void a_damaged_file_is_named_and_left_out(void **state)
{
	struct world *world = *state;
	struct store_series series = series_of("shop", "h1", "");
	struct store_selector selector = all();
	struct store_stats stats;
	struct lines lines = {{0}};
	struct error err = {0};
	struct profile *profile;
	char path[256];

	append_one(world, &series, START, 0, 5);
	maintain(world, START + 2 * HOUR);
	find_file(world, ".parquet", path, sizeof(path));
	append_one(world, &series, START + HOUR, 0, 7);
	append_one(world, &series, START + 30, 0, 70);
	maintain(world, START + 9 * HOUR);
	find_file(world, ".parquet", path, sizeof(path));
	overwrite(path, 60);
	reopen_store(world);
	profile = ask(world, &selector);
	assert_true(profile->quality.incomplete);
	assert_int_equal(profile->quality.damaged_chunks, 1);
	assert_true(sum_of(profile, 1) < 82);
	profile_free(profile);
	fail_with(store_damaged(world->store, add_item, &lines, &err), &err);
	assert_non_null(strstr(lines.text, strstr(path, "rows/")));
	store_stats(world->store, &stats);
	assert_int_equal(stats.damaged_files, 1);
	/* All the rest goes on. */
	append_one(world, &series, START + 60, 0, 1000);
	maintain(world, START + 20 * HOUR);
	maintain(world, START + 21 * HOUR);
	assert_true(total(world, all()) >= 1000);
}

/* Appends until it is killed, and says through a pipe what was acknowledged. */
static void write_until_killed(struct world *world, unsigned int first, int out)
{
	struct store_series series = series_of("shop", "h1", "");
	unsigned int i;

	open_store(world);
	for (i = first;; i++) {
		struct error err = {0};
		char id[32];
		char name[32];
		struct store_row row = {.time_s = START + i * 60, .samples = 1, .value = 1};
		struct store_batch batch = {.id = id,
					    .profile = world->profile,
					    .series = &series,
					    .series_count = 1,
					    .rows = &row,
					    .row_count = 1};

		(void)snprintf(id, sizeof(id), "kill %u", i);
		/* Names are new now and then. */
		(void)snprintf(name, sizeof(name), "f%u", i / 3);
		row.stack = stack_tree_child(&world->profile->stacks, world->stacks[1],
					     add_location(world->profile, name, 1));
		if (store_append(world->store, &batch, &err) < 0)
			_exit(1);
		if (write(out, &i, sizeof(i)) != sizeof(i))
			_exit(2);
		if (i % 7 == 0 && store_maintain(world->store, START + i * 60, &err) < 0)
			_exit(3);
	}
}

/* Starts a writer, kills it after a while. Returns the last acknowledged batch. */
static unsigned int kill_a_writer(struct world *world, unsigned int first)
{
	unsigned int last = first;
	unsigned int got;
	int pipes[2];
	int status = 0;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0)
		write_until_killed(world, first, pipes[1]);
	(void)close(pipes[1]);
	/* The first answer shows that it works; then at any moment. */
	assert_int_equal(read(pipes[0], &got, sizeof(got)), sizeof(got));
	(void)usleep(draw(world, 150) * 1000);
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	do
		last = got;
	while (read(pipes[0], &got, sizeof(got)) == sizeof(got));
	(void)close(pipes[0]);
	return last;
}

static void a_killed_writer_loses_nothing_acknowledged(void **state)
{
	struct world *world = *state;
	unsigned int next = 0;

	store_close(world->store);
	world->store = NULL;
	for (unsigned int round = 0; round < 12; round++) {
		unsigned int last = kill_a_writer(world, next);
		struct store_stats stats;
		int64_t sum;

		open_store(world);
		sum = total(world, all());
		/* The last one may be there although nobody was told. */
		assert_in_range(sum, last + 1, last + 2);
		store_stats(world->store, &stats);
		assert_int_equal(stats.rows, sum);
		assert_int_equal(stats.damaged_files, 0);
		store_close(world->store);
		world->store = NULL;
		next = (unsigned int)sum;
	}
	open_store(world);
}

/* A batch of 20,000 rows whose values add up to 20,000. */
static int append_large(struct world *world, unsigned int number, struct error *err)
{
	struct store_series series = series_of("shop", "h1", "");
	static struct store_row rows[20000];
	char id[32];
	struct store_batch batch = {.id = id,
				    .profile = world->profile,
				    .series = &series,
				    .series_count = 1,
				    .rows = rows,
				    .row_count = ARRAY_SIZE(rows)};

	(void)snprintf(id, sizeof(id), "large %u", number);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		rows[i] = (struct store_row){.time_s = START + draw(world, 3600),
					     .stack = world->stacks[draw(world, 8)],
					     .samples = 1 + draw(world, 60000),
					     .value = 1};
	return store_append(world->store, &batch, err);
}

static void set_file_limit(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A limit of the file size makes writes fail as a full disk does. */
static void a_full_disk_refuses_and_recovers(void **state)
{
	struct world *world = *state;
	unsigned int stored = 0;
	unsigned int refused = 0;
	struct error err = {0};
	unsigned int i;

	(void)signal(SIGXFSZ, SIG_IGN);
	set_file_limit(2 << 20);
	for (i = 0; i < 60 && refused < 5; i++) {
		int r = append_large(world, i, &err);

		stored += r == 0;
		refused += r < 0;
	}
	assert_true(stored > 0);
	assert_int_equal(refused, 5);
	assert_true(err.text[0] && err.remedy[0]);
	set_file_limit(RLIM_INFINITY);
	(void)sleep(1); /* it is not tried more often */
	for (i = 100; i < 103; i++)
		fail_with(append_large(world, i, &err), &err);
	assert_int_equal(total(world, all()), (stored + 3) * 20000);
	reopen_store(world);
	assert_int_equal(total(world, all()), (stored + 3) * 20000);
	maintain(world, START + 9 * HOUR);
	assert_int_equal(total(world, all()), (stored + 3) * 20000);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(what_is_appended_is_answered),
		TEST(answers_equal_a_sum_by_hand),
		TEST(a_restart_changes_no_answer),
		TEST(a_batch_that_comes_again_is_stored_once),
		TEST(sorting_closed_hours_changes_no_answer),
		TEST(rows_that_come_late_are_added_to_their_hour),
		TEST(a_clock_that_steps_loses_nothing),
		TEST(old_rows_are_merged_with_exact_sums),
		TEST(the_oldest_hours_go_when_the_disk_limit_is_reached),
		TEST(levels_are_averaged_over_time),
		TEST(lists_and_series_over_time_are_right),
		TEST(gaps_are_kept_with_their_reason),
		TEST(too_many_series_lose_their_labels),
		TEST(symbols_that_come_late_improve_old_profiles),
		TEST(hostile_texts_are_stored_as_text),
		TEST(a_damaged_file_is_named_and_left_out),
		TEST(a_killed_writer_loses_nothing_acknowledged),
		TEST(a_full_disk_refuses_and_recovers),
	};

	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
