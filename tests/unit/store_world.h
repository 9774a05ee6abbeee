/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_STORE_WORLD_H
#define WICK_TESTS_STORE_WORLD_H

/* store_world: a store in a folder of its own, and a profile whose stacks its batches have. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/vec.h"
#include "model/profile.h"
#include "store/store.h"

#include "clickhouse_server.h"

#define HOUR 3600u
#define START (490000u * HOUR) /* in 2025 */

struct world {
	char folder[64];
	char url[128]; /* of the store; "": embedded */
	struct store *store;
	struct store_config config;
	struct profile *profile; /* of the batches */
	uint32_t stacks[8];
	unsigned int next; /* number of the next batch */
	unsigned int random;
};

/* Where the stores of the tests that run now are. No shards: embedded. */
static const struct clickhouse_server *world_shards;
static unsigned int world_shard_count;

static const struct value_type types[] = {{"samples", "count"}};

static inline void fail_with(int r, const struct error *err)
{
	if (r < 0)
		fail_msg("%s", err->text);
}

static inline void open_store(struct world *world)
{
	struct error err = {0};

	world->config.folder = world->folder;
	world->config.library = DUCKDB_LIBRARY;
	world->config.url = world->url[0] ? world->url : NULL;
	world->config.user = "wick";
	world->config.password = "secret";
	fail_with(store_open(&world->config, &world->store, &err), &err);
}

static inline void reopen_store(struct world *world)
{
	store_close(world->store);
	open_store(world);
}

static inline uint32_t add_location(struct profile *profile, const char *name, uint32_t line)
{
	struct profile_line lines = {.line = line};

	lines.function = profile_function(profile, name, "prog.c", "/bin/prog", ORIGIN_PROGRAM);
	return profile_location(profile, "/bin/prog", 0x1000 + line, &lines, 1);
}

/* Stacks main;a, main;a;b, main;a;b;c … and their siblings. */
static inline void make_profile(struct world *world)
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

/* A database of its own. */
static inline void choose_url(struct world *world)
{
	static unsigned int count;

	if (world_shard_count > 0)
		clickhouse_url(world_shards, world_shard_count, ++count, world->url,
			       sizeof(world->url));
}

static inline int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	(void)snprintf(world->folder, sizeof(world->folder), "/tmp/wick-store-XXXXXX");
	assert_non_null(mkdtemp(world->folder));
	world->random = 1;
	make_profile(world);
	choose_url(world);
	open_store(world);
	*state = world;
	return 0;
}

static inline int tear_down(void **state)
{
	struct world *world = *state;

	store_close(world->store);
	profile_free(world->profile);
	remove_folder(world->folder);
	free(world);
	return 0;
}

static inline unsigned int draw(struct world *world, unsigned int below)
{
	world->random = world->random * 1103515245u + 12345u;
	return (world->random >> 16) % below;
}

static inline struct store_series series_of(const char *service, const char *host,
					    const char *release)
{
	return (struct store_series){.service = service,
				     .type = "cpu",
				     .unit = "nanoseconds",
				     .host = host,
				     .release = release};
}

static inline int append_as(struct world *world, const char *id, const struct store_series *series,
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

static inline int append(struct world *world, const struct store_series *series,
			 size_t series_count, const struct store_row *rows, size_t row_count)
{
	char id[32];

	(void)snprintf(id, sizeof(id), "batch %u", world->next++);
	return append_as(world, id, series, series_count, rows, row_count);
}

static inline void append_one(struct world *world, const struct store_series *series,
			      uint32_t time_s, uint32_t stack, int64_t value)
{
	struct store_row row = {
		.time_s = time_s, .stack = world->stacks[stack], .samples = 1, .value = value};

	assert_int_equal(append(world, series, 1, &row, 1), 0);
}

static inline struct store_selector all(void)
{
	return (struct store_selector){.from_s = 0, .to_s = UINT32_MAX};
}

static inline struct profile *ask(struct world *world, const struct store_selector *selector)
{
	struct profile *profile = NULL;
	struct error err = {0};

	fail_with(store_profile(world->store, selector, &profile, &err), &err);
	return profile;
}

/* The sums of samples (0) or values (1) of a profile. */
static inline int64_t sum_of(const struct profile *profile, unsigned int value)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < profile->entries.count; i++)
		sum += profile_entry_values(profile, i)[value];
	return sum;
}

static inline int64_t total(struct world *world, struct store_selector selector)
{
	struct profile *profile = ask(world, &selector);
	int64_t sum = sum_of(profile, 1);

	profile_free(profile);
	return sum;
}

static inline void maintain(struct world *world, uint64_t now_s)
{
	struct error err = {0};

	fail_with(store_maintain(world->store, now_s, &err), &err);
}

/* Items as text, one in a line. */
struct lines {
	char text[4096];
};

static inline bool add_item(void *self, const struct store_item *item)
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

/* Stands for all tests where the library is missing. */
static inline void the_store_needs_duckdb(void **state)
{
	print_message("skipped: fetch DuckDB with scripts/fetch-duckdb\n");
	skip();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
