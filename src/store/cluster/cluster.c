/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/cluster/cluster_state.h"
#include "store/cluster/schema.h"

#define DEFAULT_FULL_S (30ull * DAY_S)
#define DEFAULT_MERGED_S (365ull * DAY_S)
#define DEFAULT_MAX_SERIES 2000
#define PARTIAL_TRIES 3u

uint64_t cluster_series_id(const char *key)
{
	uint64_t id = XXH3_64bits(key, strlen(key));

	return id ? id : 1;
}

uint64_t cluster_kind_id(const char *service, const char *type)
{
	uint64_t id =
		XXH3_64bits_withSeed(service, strlen(service), XXH3_64bits(type, strlen(type)));

	return id ? id : 1; /* 0: a mark */
}

/* A shard that was down when the store was opened is checked when it is back. */
static int check_shard(struct cluster *cluster, size_t node, struct error *err)
{
	struct shard *shard = &cluster->shards[node];
	int r = 0;

	(void)pthread_mutex_lock(&shard->lock); /* never fails: not held by us */
	if (!shard->is_checked)
		r = schema_check(cluster, node, err);
	shard->is_checked = r == 0;
	(void)pthread_mutex_unlock(&shard->lock);
	return r;
}

int cluster_run_at(struct cluster *cluster, const struct clickhouse_statement *statement,
		   struct bytes *ret, struct error *err)
{
	int r = check_shard(cluster, statement->node, err);

	return r < 0 ? r : clickhouse_run(cluster->clickhouse, statement, ret, err);
}

/* Asks the first node that answers. */
static int ask_any(struct cluster *cluster, struct clickhouse_statement *statement,
		   struct bytes *ret, struct error *err)
{
	size_t i;
	int r = -EHOSTUNREACH;

	for (i = 0; i < cluster->shard_count && r == -EHOSTUNREACH; i++) {
		statement->node = i;
		if (statement->skips_shards && !clickhouse_answers(cluster->clickhouse, i))
			continue;
		bytes_clear(ret);
		r = cluster_run_at(cluster, statement, ret, err);
	}
	return r;
}

/* Which shards do not answer, or have no tables yet. */
static uint64_t find_missing(struct cluster *cluster)
{
	uint64_t missing = 0;
	size_t i;

	for (i = 0; i < cluster->shard_count; i++) {
		if (clickhouse_answers(cluster->clickhouse, i) &&
		    check_shard(cluster, i, NULL) == 0)
			continue;
		missing |= 1ull << i;
		atomic_store(&cluster->shards[i].missed_ns, clock_monotonic_ns());
	}
	return missing;
}

/*
 * What ClickHouse leaves out it does not say. So it is only allowed to leave out shards when the
 * same ones do not answer us before and after the question.
 */
static int ask_some(struct cluster *cluster, struct clickhouse_statement *statement,
		    struct bytes *ret, uint64_t *missing, struct error *err)
{
	uint64_t before = find_missing(cluster);
	unsigned int tries;

	statement->skips_shards = true;
	for (tries = 0; before != 0 && tries < PARTIAL_TRIES; tries++) {
		uint64_t after;
		int r = ask_any(cluster, statement, ret, err);

		if (r < 0)
			return r;
		after = find_missing(cluster);
		if (after == before) {
			*missing |= before;
			return 0;
		}
		before = after;
	}
	return before == 0 ? 1 : -EHOSTUNREACH;
}

int cluster_ask(struct cluster *cluster, const struct bytes *sql,
		const struct clickhouse_table *table, struct bytes *ret, uint64_t *missing,
		struct error *err)
{
	struct clickhouse_statement statement = {.sql = sql, .table = table};
	int r;

	bytes_clear(ret);
	r = cluster_run_at(cluster, &statement, ret, err);
	if (r != -EHOSTUNREACH || cluster->shard_count == 1)
		return r;
	r = ask_some(cluster, &statement, ret, missing, err);
	if (r != 1)
		return r;
	/* All answer again. */
	statement.skips_shards = false;
	return ask_any(cluster, &statement, ret, err);
}

static void init_shard(struct shard *shard)
{
	pthread_condattr_t condition;
	size_t i;

	/* None of these can fail with these arguments. The clock is one that nobody sets. */
	(void)pthread_mutex_init(&shard->lock, NULL);
	(void)pthread_condattr_init(&condition);
	(void)pthread_condattr_setclock(&condition, CLOCK_MONOTONIC);
	for (i = 0; i < LANES; i++) {
		(void)pthread_mutex_init(&shard->lanes[i].lock, NULL);
		(void)pthread_cond_init(&shard->lanes[i].changed, &condition);
		shard->lanes[i].last = &shard->lanes[i].first;
	}
	(void)pthread_condattr_destroy(&condition);
}

static void fini_shard(struct shard *shard)
{
	size_t i;

	for (i = 0; i < LANES; i++) {
		(void)pthread_cond_destroy(&shard->lanes[i].changed); /* nobody waits any more */
		(void)pthread_mutex_destroy(&shard->lanes[i].lock);
	}
	(void)pthread_mutex_destroy(&shard->lock);
}

/* Which series there are, so that a service does not get more of them than it may. */
static int load_series(struct cluster *cluster, struct error *err)
{
	struct bytes sql = {0};
	struct bytes answer = {0};
	struct bytes key = {0};
	uint64_t missing = 0;
	struct cursor cursor;
	int r;

	bytes_printf(&sql, "SELECT DISTINCT key FROM %s.series%s FORMAT RowBinary",
		     cluster->database, cluster->all);
	r = cluster_ask(cluster, &sql, NULL, &answer, &missing, err);
	cursor = cursor_of(answer.data, answer.size);
	while (r == 0 && cursor_left(&cursor) > 0 && !cursor.failed) {
		size_t size;
		const char *text = clickhouse_take_string(&cursor, &size);

		bytes_clear(&key);
		bytes_put(&key, text, size);
		bytes_put_u8(&key, '\0');
		if (key.failed ||
		    series_table_add_key(&cluster->series, (const char *)key.data) < 0)
			r = error_set(err, -ENOMEM, "out of memory");
	}
	bytes_fini(&key);
	bytes_fini(&answer);
	bytes_fini(&sql);
	return r;
}

static void set_config(struct cluster *cluster, const struct store_config *config)
{
	cluster->config = *config;
	cluster->config.url = cluster->config.user = cluster->config.password = NULL;
	cluster->config.folder = cluster->config.library = NULL;
	if (config->keep_full_s == 0)
		cluster->config.keep_full_s = DEFAULT_FULL_S;
	if (config->keep_merged_s == 0)
		cluster->config.keep_merged_s = DEFAULT_MERGED_S;
	if (config->max_series == 0)
		cluster->config.max_series = DEFAULT_MAX_SERIES;
}

static int connect_shards(struct cluster *cluster, const struct store_config *config,
			  struct error *err)
{
	struct clickhouse_config clickhouse = {
		.nodes = cluster->url.nodes,
		.count = cluster->url.count,
		.user = cluster->url.user ? cluster->url.user : config->user,
		.password = config->password,
	};
	size_t reached = 0;
	size_t i;
	int r = clickhouse_new(&clickhouse, &cluster->clickhouse, err);

	for (i = 0; i < cluster->shard_count && (r == 0 || r == -EHOSTUNREACH); i++) {
		r = check_shard(cluster, i, err);
		reached += r == 0;
	}
	/* One that is down is checked later. */
	if (r == -EHOSTUNREACH && reached > 0)
		r = 0;
	return r;
}

static int open_url(struct cluster *cluster, const struct store_config *config, struct error *err)
{
	int r = cluster_url_parse(config->url, &cluster->url, err);

	if (r < 0)
		return r;
	cluster->database = cluster->url.database;
	cluster->shard_count = cluster->url.count;
	cluster->all = cluster->shard_count > 1 ? "_all" : "";
	if (series_table_init(&cluster->series, cluster->config.max_series) < 0 ||
	    strings_init(&cluster->unnamed_texts) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	r = connect_shards(cluster, config, err);
	return r < 0 ? r : load_series(cluster, err);
}

static void close_cluster(struct store *base)
{
	struct cluster *cluster = cluster_of(base);
	size_t i;

	clickhouse_free(cluster->clickhouse);
	cluster_url_fini(&cluster->url);
	series_table_fini(&cluster->series);
	strings_fini(&cluster->unnamed_texts);
	id_map_fini(&cluster->known);
	id_map_fini(&cluster->unnamed_ids);
	vec_fini(&cluster->unnamed);
	for (i = 0; i < CLUSTER_SHARDS_MAX; i++)
		fini_shard(&cluster->shards[i]);
	(void)pthread_mutex_destroy(&cluster->series_lock); /* nobody holds them any more */
	(void)pthread_mutex_destroy(&cluster->known_lock);
	(void)pthread_mutex_destroy(&cluster->unnamed_lock);
	free(cluster);
}

static int open_cluster(const struct store_config *config, struct store **ret, struct error *err)
{
	struct cluster *cluster = calloc(1, sizeof(*cluster));
	size_t i;
	int r;

	if (!cluster)
		return error_set(err, -ENOMEM, "out of memory");
	cluster->base.ops = &cluster_store_ops;
	set_config(cluster, config);
	for (i = 0; i < CLUSTER_SHARDS_MAX; i++)
		init_shard(&cluster->shards[i]);
	(void)pthread_mutex_init(&cluster->series_lock, NULL); /* never fail without attributes */
	(void)pthread_mutex_init(&cluster->known_lock, NULL);
	(void)pthread_mutex_init(&cluster->unnamed_lock, NULL);
	r = open_url(cluster, config, err);
	if (r < 0) {
		close_cluster(&cluster->base);
		return r;
	}
	*ret = &cluster->base;
	return 0;
}

static bool takes(const struct store_config *config)
{
	return config->url && strncmp(config->url, "clickhouse", strlen("clickhouse")) == 0;
}

const struct store_ops cluster_store_ops = {
	.name = "clickhouse",
	.takes = takes,
	.open = open_cluster,
	.close = close_cluster,
	.append = cluster_append,
	.maintain = cluster_maintain,
	.profile = cluster_profile,
	.values = cluster_values,
	.label_names = cluster_label_names,
	.over_time = cluster_over_time,
	.gaps = cluster_gaps,
	.damaged = cluster_damaged,
	.unnamed = cluster_unnamed,
	.unnamed_modules = cluster_unnamed_modules,
	.set_names = cluster_set_names,
	.stats = cluster_stats,
};
