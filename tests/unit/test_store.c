/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/store.h"

#include <stdatomic.h>
#include <time.h>

#include "store/store_state.h"

#include "store_world.h"

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
	if (!world->url[0]) /* ClickHouse counts marks as well */
		assert_int_equal(stats.rows, 1);
}

/* Appends a batch of a sender, whose number is its id and its value 1. */
static int append_numbered(struct world *world, const char *sender, unsigned int number)
{
	struct store_series series = series_of("shop", "h1", "");
	struct store_row row = {.time_s = START, .stack = world->stacks[0], .value = 1};
	char id[64];
	struct store_batch batch = {.id = id,
				    .sender = sender,
				    .profile = world->profile,
				    .series = &series,
				    .series_count = 1,
				    .rows = &row,
				    .row_count = 1};
	struct error err = {0};
	int r;

	(void)snprintf(id, sizeof(id), "%s-%u", sender ? sender : "", number);
	r = store_append(world->store, &batch, &err);
	fail_with(r, &err);
	return r;
}

#define DAY 86400ull

/* What an agent sent last may come again after a year; what nobody numbers, within a week. */
static void ids_are_remembered_as_long_as_a_batch_may_come_again(void **state)
{
	struct world *world = *state;
	uint64_t now_s = (uint64_t)time(NULL); /* ids are stamped by the clock */

	for (unsigned int i = 0; i < 40; i++)
		assert_int_equal(append_numbered(world, "h1-run", i), 0);
	assert_int_equal(append_numbered(world, "h2-run", 0), 0);
	assert_int_equal(append_numbered(world, NULL, 0), 0);
	maintain(world, now_s + 6 * DAY);
	assert_int_equal(append_numbered(world, NULL, 0), 1);
	maintain(world, now_s + 366 * DAY);
	for (unsigned int round = 0; round < 2; round++) {
		assert_int_equal(append_numbered(world, "h1-run", 39), 1);
		assert_int_equal(append_numbered(world, "h1-run", 30), 1);
		assert_int_equal(append_numbered(world, "h2-run", 0), 1);
		reopen_store(world);
	}
	/* These can be forgotten. */
	assert_int_equal(append_numbered(world, "h1-run", 3), 0);
	assert_int_equal(append_numbered(world, NULL, 0), 0);
	maintain(world, now_s + 400 * DAY);
	assert_int_equal(append_numbered(world, "h2-run", 0), 0);
}

/* What several send shares transactions: each begins a while after the one before. */
static void transactions_of_several_senders_keep_a_distance(void **state)
{
	static const char *const senders[] = {"h1-run", "h2-run", "h3-run", "h4-run"};
	struct world *world = *state;
	uint64_t begin_ns = clock_monotonic_ns();
	uint64_t took_ns;

	for (unsigned int i = 0; i < ARRAY_SIZE(senders); i++)
		assert_int_equal(append_numbered(world, senders[i], 0), 0);
	took_ns = clock_monotonic_ns() - begin_ns;
	assert_true(took_ns >= (ARRAY_SIZE(senders) - 1) * APPEND_GATHER_NS);
	assert_int_equal(total(world, all()), ARRAY_SIZE(senders));
}

/* How many hours are in files: 1: some, 2: all. ClickHouse has no such difference. */
static void check_file_count(struct world *world, uint64_t count)
{
	struct store_stats stats;

	store_stats(world->store, &stats);
	if (!world->url[0])
		assert_int_equal(stats.rows > stats.hot_rows ? stats.hot_rows == 0 ? 2 : 1 : 0,
				 count);
}

static void sorting_closed_hours_changes_no_answer(void **state)
{
	struct world *world = *state;
	struct truth truth = {0};

	fill(world, &truth, 4);
	/* Two of the four hours are over. */
	maintain(world, START + 2 * HOUR + 700);
	check_file_count(world, 1);
	check_stacks(world, &truth);
	check_ranges(world, &truth);
	maintain(world, START + 9 * HOUR);
	check_file_count(world, 2);
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
	check_file_count(world, 1);
	maintain(world, START + 10 * HOUR);
	check_file_count(world, 2);
	check_stacks(world, &truth);
	check_ranges(world, &truth);
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
	struct lines lines = {{0}};
	struct error err = {0};

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
	fail_with(store_values(world->store, &selector, "host", add_item, &lines, &err), &err);
	assert_string_equal(lines.text, "h1| 3 225 0 0-0\nh2| 1 100 0 0-0\n");
	lines.text[0] = '\0';
	fail_with(store_over_time(world->store, &selector,
				  &(struct store_over_time){.group_by = "host", .step_s = HOUR},
				  add_item, &lines, &err),
		  &err);
	assert_string_equal(lines.text, "h1| 2 225 0 0-3600\nh2| 1 100 0 0-3600\n");
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
	/* Hours of which only a part is asked for, and whole ones. */
	lines.text[0] = '\0';
	selector.from_s = START + 60;
	fail_with(store_over_time(
			  world->store, &selector,
			  &(struct store_over_time){.group_by = "release", .step_s = 2 * HOUR},
			  add_item, &lines, &err),
		  &err);
	assert_string_equal(lines.text, "1.0| 1 10 0 0-7200\n2.0| 1 100 0 0-7200\n"
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

static void all_types_are_asked_for_without_mixing_services(void **state)
{
	struct world *world = *state;
	struct store_series series[] = {series_of("shop", "h1", ""), series_of("shop", "h2", ""),
					series_of("mail", "h1", "")};
	struct store_match match = {"host", "h1", MATCH_EQUAL};
	struct store_selector selector = all();

	series[1].type = series[2].type = "offcpu";
	for (unsigned int i = 0; i < 3; i++)
		append_one(world, &series[i], START, 0, i == 0 ? 1 : i * 10);
	selector.type = "";
	assert_int_equal(total(world, selector), 31);
	selector.matches = &match;
	selector.match_count = 1;
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(total(world, selector), 21);
		maintain(world, START + 9 * HOUR);
	}
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

static bool take_unnamed(void *self, const struct store_unnamed_module *module)
{
	struct lines *lines = self;
	size_t used = strlen(lines->text);

	(void)snprintf(lines->text + used, sizeof(lines->text) - used, "%s %s %d\n",
		       module->build_id, module->path, (int)module->addresses);
	return true;
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
	struct store_address address = {UINT32_MAX, 0, 0};
	struct lines lines = {{0}};
	struct error err = {0};
	struct profile *profile;
	uint32_t first;

	add_unnamed(world);
	append_one(world, &series, START, 0, 5);
	maintain(world, START + 9 * HOUR);
	profile = ask(world, &selector);
	assert_int_equal(value_of(profile, "main:1;a:10;libx.so+0x42:0"), 5);
	profile_free(profile);
	fail_with(store_unnamed_modules(world->store, take_unnamed, &lines, &err), &err);
	assert_string_equal(lines.text, "abcd /lib/libx.so 1\n");
	fail_with(store_unnamed(world->store, "abcd", 0, take_address, &address, &err), &err);
	assert_int_equal(address.vaddr, 0x42);
	first = address.id;
	address.id = UINT32_MAX;
	fail_with(store_unnamed(world->store, "abcd", first + 1, take_address, &address, &err),
		  &err);
	assert_int_equal(address.id, UINT32_MAX); /* only those from then on */
	address.id = first;
	fail_with(store_set_names(world->store,
				  &(struct store_naming){address.id, address.generation, names, 2},
				  1, &err),
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

/* A store that failed and was opened again may have given the id to another address. */
static void names_of_ids_from_before_a_failure_are_refused(void **state)
{
	static const struct store_name name = {"wrong", "", 0};
	struct world *world = *state;
	struct store_series series = series_of("shop", "h1", "");
	struct store_address before = {UINT32_MAX, 0, 0};
	struct store_address after = {UINT32_MAX, 0, 0};
	struct store_naming naming = {.names = &name, .name_count = 1};
	struct error err = {0};

	add_unnamed(world);
	append_one(world, &series, START, 0, 5);
	fail_with(store_unnamed(world->store, "abcd", 0, take_address, &before, &err), &err);
	atomic_store(&embedded_of(world->store)->database.failed, true);
	naming.id = before.id;
	naming.generation = before.generation;
	assert_int_equal(store_set_names(world->store, &naming, 1, &err), -ESTALE);
	fail_with(store_unnamed(world->store, "abcd", 0, take_address, &after, &err), &err);
	assert_int_equal(after.vaddr, 0x42); /* it has no name still */
	assert_int_not_equal(after.generation, before.generation);
	naming.generation = after.generation;
	fail_with(store_set_names(world->store, &naming, 1, &err), &err);
}

static bool refuse_module(void *self, const struct store_unnamed_module *module)
{
	(void)self;
	fail_msg("%s has no name", module->build_id);
	return false;
}

static bool refuse_address(void *self, const struct store_address *address)
{
	(void)self;
	fail_msg("%u has no name", address->id);
	return false;
}

/* As after memory was too short to open it again. */
static void a_store_without_names_has_none_to_look_up(void **state)
{
	struct world *world = *state;
	struct names kept = embedded_of(world->store)->names;
	struct error err = {0};

	embedded_of(world->store)->names = (struct names){0};
	fail_with(store_unnamed_modules(world->store, refuse_module, NULL, &err), &err);
	fail_with(store_unnamed(world->store, "0102", 0, refuse_address, NULL, &err), &err);
	embedded_of(world->store)->names = kept;
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

int main(void)
{
	/* What every store does. */
	const struct CMUnitTest contract[] = {
		TEST(what_is_appended_is_answered),
		TEST(answers_equal_a_sum_by_hand),
		TEST(a_restart_changes_no_answer),
		TEST(a_batch_that_comes_again_is_stored_once),
		TEST(sorting_closed_hours_changes_no_answer),
		TEST(rows_that_come_late_are_added_to_their_hour),
		TEST(old_rows_are_merged_with_exact_sums),
		TEST(levels_are_averaged_over_time),
		TEST(lists_and_series_over_time_are_right),
		TEST(all_types_are_asked_for_without_mixing_services),
		TEST(gaps_are_kept_with_their_reason),
		TEST(too_many_series_lose_their_labels),
		TEST(symbols_that_come_late_improve_old_profiles),
		TEST(hostile_texts_are_stored_as_text),
	};
	const struct CMUnitTest embedded[] = {
		TEST(ids_are_remembered_as_long_as_a_batch_may_come_again),
		TEST(transactions_of_several_senders_keep_a_distance),
		TEST(the_oldest_hours_go_when_the_disk_limit_is_reached),
		TEST(names_of_ids_from_before_a_failure_are_refused),
		TEST(a_store_without_names_has_none_to_look_up),
	};
	const struct CMUnitTest none[] = {cmocka_unit_test(the_store_needs_duckdb)};
	static struct clickhouse_server shards;
	int failed = 0;

	if (access(DUCKDB_LIBRARY, R_OK) < 0) {
		failed += cmocka_run_group_tests_name("store", none, NULL, NULL);
	} else {
		failed += cmocka_run_group_tests_name("embedded store", contract, NULL, NULL);
		failed += cmocka_run_group_tests_name("embedded store alone", embedded, NULL, NULL);
	}
	if (!clickhouse_begin_or_skip(&shards))
		return failed;
	world_shards = &shards;
	for (world_shard_count = 1; world_shard_count <= CLICKHOUSE_SHARDS; world_shard_count++)
		failed += cmocka_run_group_tests_name(
			world_shard_count == 1 ? "ClickHouse" : "ClickHouse, two shards", contract,
			NULL, NULL);
	clickhouse_end(&shards);
	if (failed == 0)
		remove_folder(shards.folder);
	return failed;
}
