/* SPDX-License-Identifier: BSD-2-Clause */

/* What only the store in ClickHouse does. What every store does is in test_store.c. */

#include "store/store.h"

#include <time.h>

#include "base/bytes.h"
#include "export/export.h"

#include "lossy_proxy.h"
#include "store_world.h"

static struct clickhouse_server servers;

/* Runs a statement through the client's own library, on one server. */
static void run_sql(unsigned int shard, const char *sql)
{
	char request[4096];
	char answer[4096];
	int fd = proxy_connect(servers.http[shard]);
	int n = snprintf(request, sizeof(request),
			 "POST / HTTP/1.1\r\nHost: x\r\nX-ClickHouse-User: wick\r\n"
			 "X-ClickHouse-Key: secret\r\nContent-Length: %zu\r\n\r\n%s",
			 strlen(sql), sql);
	ssize_t got;

	assert_true(n > 0 && (size_t)n < sizeof(request));
	assert_true(proxy_send(fd, request, (size_t)n));
	got = recv(fd, answer, sizeof(answer) - 1, 0);
	assert_true(got > 0);
	answer[got] = '\0';
	if (!strstr(answer, "HTTP/1.1 200"))
		fail_msg("%s: %s", sql, answer);
	(void)close(fd);
}

static const char *database_of(const struct world *world)
{
	return strrchr(world->url, '/') + 1;
}

static struct store_selector of_service(const struct store_match *match)
{
	struct store_selector selector = all();

	selector.matches = match;
	selector.match_count = 1;
	return selector;
}

/* One batch of two services and hosts, in random hours. */
static void append_random(struct world *world, struct store *other)
{
	static const char *const services[] = {"shop", "mail"};
	static const char *const hosts[] = {"h1", "h2"};
	struct store_series series[4];
	struct store_row rows[300];
	char id[32];
	struct store_batch batch = {.id = id,
				    .profile = world->profile,
				    .series = series,
				    .series_count = ARRAY_SIZE(series),
				    .rows = rows,
				    .row_count = ARRAY_SIZE(rows)};
	struct error err = {0};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(series); i++)
		series[i] = series_of(services[i / 2], hosts[i % 2], i % 2 ? "1.0" : "2.0");
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		rows[i] = (struct store_row){.series = draw(world, 4),
					     .time_s = START + draw(world, 30 * HOUR),
					     .stack = world->stacks[draw(world, 8)],
					     .samples = 1 + draw(world, 5),
					     .value = 10000000 * (int64_t)(1 + draw(world, 9))};
	(void)snprintf(id, sizeof(id), "random %u", world->next++);
	fail_with(store_append(world->store, &batch, &err), &err);
	fail_with(store_append(other, &batch, &err), &err);
}

struct long_lines {
	char text[1 << 20];
	size_t used;
};

/* As add_item(), for long lists. */
static bool add_long(void *self, const struct store_item *item)
{
	struct long_lines *lines = self;

	lines->used +=
		(size_t)snprintf(lines->text + lines->used, sizeof(lines->text) - lines->used,
				 "%s|%s %llu %lld %u-%u\n", item->name, item->detail,
				 (unsigned long long)item->samples, (long long)item->value,
				 item->from_s, item->to_s);
	return lines->used < sizeof(lines->text) - 200;
}

/* The answer to a question, as wick query prints it. The caller frees it. */
static char *folded(struct store *store, const struct store_selector *selector)
{
	struct export_config config = {.value = 1};
	struct profile *profile = NULL;
	struct bytes text = {0};
	struct error err = {0};

	fail_with(store_profile(store, selector, &profile, &err), &err);
	fail_with(exporter_write(exporter_find("folded"), profile, &config, &text, &err), &err);
	bytes_put_u8(&text, '\0');
	profile_free(profile);
	assert_false(text.failed);
	return (char *)text.data;
}

static void assert_alike(struct store *a, struct store *b, const struct store_selector *selector)
{
	char *first = folded(a, selector);
	char *second = folded(b, selector);

	assert_string_equal(first, second);
	free(first);
	free(second);
}

static void assert_lists_alike(struct store *a, struct store *b,
			       const struct store_selector *selector)
{
	static const char *const labels[] = {"service", "host", "release", "type"};
	static const struct store_over_time questions[] = {{.step_s = 60},
							   {.step_s = 3600, .group_by = "host"},
							   {.function = "b", .step_s = 300}};
	struct store *const stores[] = {a, b};
	struct error err = {0};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(labels) + ARRAY_SIZE(questions); i++) {
		static struct long_lines texts[2];

		for (unsigned int which = 0; which < 2; which++) {
			texts[which].used = 0;
			texts[which].text[0] = '\0';
			if (i < ARRAY_SIZE(labels))
				fail_with(store_values(stores[which], selector, labels[i], add_long,
						       &texts[which], &err),
					  &err);
			else
				fail_with(store_over_time(stores[which], selector,
							  &questions[i - ARRAY_SIZE(labels)],
							  add_long, &texts[which], &err),
					  &err);
		}
		assert_true(texts[0].used > 0);
		assert_string_equal(texts[0].text, texts[1].text);
	}
}

/* Any range and service: one answer, byte for byte, although ClickHouse reads it from roll-ups. */
static void it_answers_as_the_embedded_store_does(void **state)
{
	struct world *world = *state;
	struct store_match match = {"service", "shop", MATCH_EQUAL};
	struct store_match release = {"release", "2.*", MATCH_REGEX};
	struct store_config config = {.folder = world->folder, .library = DUCKDB_LIBRARY};
	struct store_selector selectors[] = {all(), of_service(&match), of_service(&release)};
	struct store *embedded = NULL;
	struct error err = {0};
	unsigned int i;

	fail_with(store_open(&config, &embedded, &err), &err);
	for (i = 0; i < 6; i++)
		append_random(world, embedded);
	for (i = 0; i < ARRAY_SIZE(selectors); i++) {
		assert_alike(world->store, embedded, &selectors[i]);
		assert_lists_alike(world->store, embedded, &selectors[i]);
	}
	for (i = 0; i < 30; i++) {
		struct store_selector selector = selectors[i % 3];

		selector.from_s = START + draw(world, 30 * HOUR);
		selector.to_s = selector.from_s + draw(world, 30 * HOUR);
		assert_alike(world->store, embedded, &selector);
	}
	store_close(embedded);
}

/* What one server acknowledged the other answers, and a batch that was sent to both counts once. */
static void two_servers_answer_alike(void **state)
{
	struct world *world = *state;
	struct store_series series = series_of("shop", "h1", "");
	struct store_row row = {.time_s = START, .stack = world->stacks[3], .value = 5};
	struct store *first = world->store;
	struct store *second = NULL;
	struct store_selector selector = all();
	struct error err = {0};

	fail_with(store_open(&world->config, &second, &err), &err);
	for (unsigned int i = 0; i < 10; i++) {
		world->store = i % 2 ? second : first;
		append_one(world, &series, START + i, i % 8, 1);
	}
	assert_int_equal(append_as(world, "same", &series, 1, &row, 1), 0);
	world->store = first;
	assert_int_equal(append_as(world, "same", &series, 1, &row, 1), 1);
	assert_int_equal(total(world, all()), 15);
	assert_alike(first, second, &selector);
	store_close(second);
}

#define STATEMENTS_MAX 12

/* The same batch until it is acknowledged. Returns how often it failed. */
static unsigned int append_until_done(struct world *world, struct lossy_proxy *proxy,
				      const char *id, uint32_t time_s)
{
	struct store_series series = series_of("shop", "h1", "");
	struct store_row rows[] = {
		{.time_s = time_s, .stack = world->stacks[0], .samples = 1, .value = 3},
		{.time_s = time_s + 86400, .stack = world->stacks[1], .samples = 1, .value = 4}};
	struct store_batch batch = {.id = id,
				    .profile = world->profile,
				    .series = &series,
				    .series_count = 1,
				    .rows = rows,
				    .row_count = 2};
	unsigned int failures = 0;
	struct error err = {0};

	while (store_append(world->store, &batch, &err) < 0) {
		assert_true(++failures < 5);
		assert_int_equal(err.code, -EHOSTUNREACH);
		atomic_store(&proxy->is_broken, false);
	}
	return failures;
}

static void through_proxy(struct world *world, struct lossy_proxy *proxy)
{
	char database[64];

	(void)snprintf(database, sizeof(database), "%s", database_of(world));
	proxy_begin(proxy, servers.http[0]);
	(void)snprintf(world->url, sizeof(world->url), "clickhouse://127.0.0.1:%u/%s", proxy->port,
		       database);
	reopen_store(world);
}

/* Each of the statements of a batch in turn runs, and its answer is lost. */
static void a_lost_answer_loses_and_doubles_nothing(void **state)
{
	struct world *world = *state;
	struct lossy_proxy proxy;
	unsigned int failures = 0;
	char id[32];

	through_proxy(world, &proxy);
	for (unsigned int i = 1; i <= STATEMENTS_MAX; i++) {
		atomic_store(&proxy.countdown, (int)i);
		(void)snprintf(id, sizeof(id), "batch %u", i);
		failures += append_until_done(world, &proxy, id, START + i * HOUR);
		atomic_store(&proxy.countdown, 0);
		assert_int_equal(total(world, all()), 7 * i);
	}
	assert_true(failures >= 5); /* the search for marks and four tables */
	assert_int_equal(failures, atomic_load(&proxy.met));
	proxy_end(&proxy);
}

/* The sender gives up, sends the batch again, and then the first statement arrives after all. */
static void a_late_statement_doubles_nothing(void **state)
{
	struct world *world = *state;
	struct lossy_proxy proxy;
	unsigned int held = 0;
	char id[32];

	through_proxy(world, &proxy);
	proxy.fault = PROXY_HOLD_REQUEST;
	for (unsigned int i = 1; i <= STATEMENTS_MAX; i++) {
		atomic_store(&proxy.countdown, (int)i);
		(void)snprintf(id, sizeof(id), "batch %u", i);
		(void)append_until_done(world, &proxy, id, START + i * HOUR);
		atomic_store(&proxy.countdown, 0);
		if (proxy.held) {
			proxy_release(&proxy);
			held++;
		}
		assert_int_equal(total(world, all()), 7 * i);
	}
	assert_true(held >= 5);
	proxy_end(&proxy);
}

static void an_older_schema_is_upgraded_with_its_rows(void **state)
{
	struct world *world = *state;
	struct store_series series = series_of("shop", "h1", "");
	struct store_selector selector = all();
	struct store *store = NULL;
	struct error err = {0};
	char sql[256];
	char *before;
	char *after;

	for (unsigned int i = 0; i < 20; i++)
		append_one(world, &series, START + i * 600, i % 8, 1 + i);
	before = folded(world->store, &selector);
	store_close(world->store);
	(void)snprintf(sql, sizeof(sql), "DROP TABLE %s.samples_1h", database_of(world));
	run_sql(0, sql);
	(void)snprintf(sql, sizeof(sql), "DROP TABLE %s.schema", database_of(world));
	run_sql(0, sql);
	(void)snprintf(sql, sizeof(sql),
		       "CREATE TABLE %s.schema (version UInt32, shard UInt32, shards UInt32) "
		       "ENGINE = MergeTree ORDER BY version",
		       database_of(world));
	run_sql(0, sql);
	(void)snprintf(sql, sizeof(sql), "INSERT INTO %s.schema VALUES (1, 0, 1)",
		       database_of(world));
	run_sql(0, sql);
	open_store(world);
	after = folded(world->store, &selector);
	assert_string_equal(before, after);
	/* The marks were taken along. */
	world->next = 0;
	for (unsigned int i = 0; i < 20; i++) {
		struct store_row row = {.time_s = START + i * 600,
					.stack = world->stacks[i % 8],
					.samples = 1,
					.value = 1 + i};

		assert_int_equal(append(world, &series, 1, &row, 1), 1);
	}
	(void)snprintf(sql, sizeof(sql), "INSERT INTO %s.schema VALUES (99, 0, 1)",
		       database_of(world));
	run_sql(0, sql);
	assert_int_equal(store_open(&world->config, &store, &err), -EPROTO);
	assert_non_null(strstr(err.text, "have version 99"));
	free(before);
	free(after);
}

/* Batches of many senders. Those that fail are marked. Returns how many. */
static unsigned int append_many(struct world *world, uint32_t time_s, bool *ret_failed)
{
	struct store_series series = series_of("shop", "h1", "");
	struct store_row row = {
		.time_s = time_s, .stack = world->stacks[1], .samples = 1, .value = 1};
	unsigned int failed = 0;

	for (unsigned int i = 0; i < 16; i++) {
		char id[32];
		struct store_batch batch = {.id = id,
					    .profile = world->profile,
					    .series = &series,
					    .series_count = 1,
					    .rows = &row,
					    .row_count = 1};
		struct error err = {0};
		int r;

		(void)snprintf(id, sizeof(id), "many %u at %u", i, time_s);
		r = store_append(world->store, &batch, &err);
		ret_failed[i] = r < 0;
		failed += r < 0;
		assert_true(r >= 0 || r == -EHOSTUNREACH);
	}
	return failed;
}

static void check_partial(struct world *world, unsigned int down, int64_t some)
{
	struct store_selector selector = all();
	struct profile *profile = ask(world, &selector);
	struct lines lines = {{0}};
	struct error err = {0};
	char expected[128];

	assert_int_equal(sum_of(profile, 1), some);
	assert_true(profile->quality.incomplete);
	assert_int_equal(profile->quality.damaged_chunks, 1);
	profile_free(profile);
	fail_with(store_gaps(world->store, &selector, add_item, &lines, &err), &err);
	(void)snprintf(expected, sizeof(expected), "shard %u of 2 (127.0.0.1:%u) did not answer|",
		       down + 1, servers.http[down]);
	assert_non_null(strstr(lines.text, expected));
}

/* Batches for the others are stored, those for it are not acknowledged, and answers name it. */
static void a_shard_that_is_down_is_named_and_nothing_is_lost(void **state)
{
	struct world *world = *state;
	struct store_selector selector = all();
	bool failed[16];
	int64_t whole = 0;

	for (unsigned int down = 0; down < 2; down++) {
		unsigned int failures;
		struct profile *profile;

		assert_int_equal(append_many(world, START + down, failed), 0);
		whole += 16;
		assert_int_equal(total(world, all()), whole);
		clickhouse_stop(&servers, down, SIGKILL);
		failures = append_many(world, START + 100 + down, failed);
		assert_in_range(failures, 1, 15);
		profile = ask(world, &selector);
		assert_in_range(sum_of(profile, 1), 1, whole + 16 - failures - 1);
		check_partial(world, down, sum_of(profile, 1));
		profile_free(profile);
		/* A server can be started meanwhile. */
		reopen_store(world);
		check_partial(world, down, total(world, all()));
		clickhouse_start(&servers, down);
		assert_int_equal(append_many(world, START + 100 + down, failed), 0);
		whole += 16;
		profile = ask(world, &selector);
		assert_int_equal(sum_of(profile, 1), whole);
		assert_false(profile->quality.incomplete);
		profile_free(profile);
	}
}

/* A batch would not be found where it was stored. */
static void shards_in_another_order_are_refused(void **state)
{
	struct world *world = *state;
	struct store_config config = world->config;
	struct store *store = NULL;
	struct error err = {0};
	char url[128];

	(void)snprintf(url, sizeof(url), "clickhouse://127.0.0.1:%u,127.0.0.1:%u/%s",
		       servers.http[1], servers.http[0], database_of(world));
	config.url = url;
	assert_int_equal(store_open(&config, &store, &err), -EPROTO);
	assert_non_null(strstr(err.text, "was shard 2 of 2, and is shard 1 of 2 now"));
}

static void days_that_are_too_old_are_dropped(void **state)
{
	struct world *world = *state;
	struct store_series series = series_of("shop", "h1", "");
	struct store_stats before;
	struct store_stats after;

	for (unsigned int day = 0; day < 5; day++)
		append_one(world, &series, START + day * 86400, day, 1 + (int64_t)day);
	store_stats(world->store, &before);
	world->config.keep_full_s = 86400;
	world->config.keep_merged_s = 2 * 86400;
	reopen_store(world);
	maintain(world, START + 4 * 86400);
	assert_int_equal(total(world, all()), 3 + 4 + 5);
	store_stats(world->store, &after);
	assert_true(after.bytes < before.bytes);
	assert_true(after.rows < before.rows);
	/* By size: the last day stays. */
	world->config.keep_bytes = 1;
	reopen_store(world);
	maintain(world, START + 4 * 86400);
	assert_int_equal(total(world, all()), 5);
}

static void a_wrong_password_and_a_password_in_the_url_are_refused(void **state)
{
	struct world *world = *state;
	struct store_config config = world->config;
	struct store *store = NULL;
	struct error err = {0};

	config.password = "wrong";
	assert_int_equal(store_open(&config, &store, &err), -EACCES);
	assert_non_null(strstr(err.remedy, "WICK_CLICKHOUSE_PASSWORD"));
	config.url = "clickhouse://wick:secret@127.0.0.1:1/x";
	assert_int_equal(store_open(&config, &store, &err), -EINVAL);
	assert_non_null(strstr(err.text, "has a password"));
}

static int run_group(const char *name, const struct CMUnitTest *tests, size_t count,
		     unsigned int shards)
{
	world_shard_count = shards;
	return _cmocka_run_group_tests(name, tests, count, NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest one[] = {
		TEST(it_answers_as_the_embedded_store_does),
		TEST(two_servers_answer_alike),
		TEST(a_lost_answer_loses_and_doubles_nothing),
		TEST(a_late_statement_doubles_nothing),
		TEST(an_older_schema_is_upgraded_with_its_rows),
		TEST(days_that_are_too_old_are_dropped),
		TEST(a_wrong_password_and_a_password_in_the_url_are_refused),
	};
	const struct CMUnitTest two[] = {
		TEST(it_answers_as_the_embedded_store_does),
		TEST(two_servers_answer_alike),
		TEST(shards_in_another_order_are_refused),
		TEST(a_shard_that_is_down_is_named_and_nothing_is_lost),
	};
	int failed;

	if (access(DUCKDB_LIBRARY, R_OK) < 0 || !clickhouse_begin_or_skip(&servers))
		return 0;
	world_shards = &servers;
	failed = run_group("ClickHouse", one, ARRAY_SIZE(one), 1);
	failed += run_group("ClickHouse, two shards", two, ARRAY_SIZE(two), 2);
	clickhouse_end(&servers);
	if (failed == 0)
		remove_folder(servers.folder);
	return failed;
}
