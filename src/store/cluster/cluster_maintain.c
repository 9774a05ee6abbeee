/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "store/cluster/cluster_state.h"
#include "store/cluster/schema.h"

#define HOUR_S 3600u

/* Tables that have partitions, and what one of them spans. */
static const struct {
	const char *table;
	uint32_t seconds;
	bool is_full; /* goes with the rows as they were received */
} partitioned[] = {
	{"samples", DAY_S, true}, {"samples_5m", DAY_S, false}, {"samples_1h", DAY_S, false},
	{"totals", DAY_S, false}, {"stacks", WEEK_S, false},    {"gaps", WEEK_S, false},
};

/* Since when there are rows as they were received, and rows at all. */
struct limits {
	uint64_t full_from;
	uint64_t merged_from;
};

static int run(struct cluster *cluster, size_t shard, struct bytes *sql, struct bytes *ret,
	       struct error *err)
{
	struct clickhouse_statement statement = {.node = shard, .sql = sql, .is_long = true};
	int r = cluster_run_at(cluster, &statement, ret, err);

	bytes_clear(sql);
	return r;
}

/*
 * Written before anything is removed: from then on no question reads what will go. It never goes
 * back, even if a clock does.
 */
static int write_limits(struct cluster *cluster, size_t shard, struct limits *limits,
			struct error *err)
{
	struct bytes sql = {0};
	struct bytes answer = {0};
	struct cursor cursor;
	uint64_t full;
	uint64_t merged;
	int r;

	bytes_printf(&sql,
		     "SELECT max(full_from), max(merged_from) FROM %s.limits FORMAT RowBinary",
		     cluster->database);
	r = run(cluster, shard, &sql, &answer, err);
	cursor = cursor_of(answer.data, answer.size);
	full = cursor_u32(&cursor);
	merged = cursor_u32(&cursor);
	bytes_fini(&answer);
	if (r == 0 && (limits->full_from > full || limits->merged_from > merged)) {
		bytes_printf(&sql, "INSERT INTO %s.limits VALUES (%" PRIu64 ", %" PRIu64 ")",
			     cluster->database, limits->full_from, limits->merged_from);
		r = run(cluster, shard, &sql, NULL, err);
	}
	limits->full_from = limits->full_from > full ? limits->full_from : full;
	limits->merged_from = limits->merged_from > merged ? limits->merged_from : merged;
	bytes_fini(&sql);
	return r;
}

/* Whether all that a partition spans is before the limit. */
static bool is_over(const struct limits *limits, const char *table, uint64_t number)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(partitioned); i++)
		if (strcmp(partitioned[i].table, table) == 0)
			return (number + 1) * partitioned[i].seconds <=
			       (partitioned[i].is_full && limits->full_from > limits->merged_from
					? limits->full_from
					: limits->merged_from);
	return false;
}

/* A table and a partition, one pair in a line. */
static int drop_listed(struct cluster *cluster, size_t shard, const struct limits *limits,
		       char *lines, struct error *err)
{
	struct bytes sql = {0};
	char *rest = lines;
	char *line;
	int r = 0;

	while (r == 0 && (line = strsep(&rest, "\n"))) {
		char *tab = strchr(line, '\t');
		uint64_t number;

		if (!tab)
			continue;
		*tab = '\0';
		if (number_parse_u64(tab + 1, &number) < 0 || number > UINT32_MAX ||
		    !is_over(limits, line, number))
			continue;
		bytes_printf(&sql, "ALTER TABLE %s.%s DROP PARTITION %" PRIu64, cluster->database,
			     line, number);
		r = run(cluster, shard, &sql, NULL, err);
	}
	bytes_fini(&sql);
	return r;
}

static int drop_old(struct cluster *cluster, size_t shard, const struct limits *limits,
		    struct error *err)
{
	struct bytes sql = {0};
	struct bytes answer = {0};
	int r;

	bytes_printf(&sql,
		     "SELECT DISTINCT table, partition FROM system.parts WHERE active AND "
		     "database = '%s' ORDER BY table, partition FORMAT TSV",
		     cluster->database);
	r = run(cluster, shard, &sql, &answer, err);
	bytes_put_u8(&answer, '\0');
	if (r == 0 && answer.failed)
		r = error_set(err, -ENOMEM, "out of memory");
	if (r == 0)
		r = drop_listed(cluster, shard, limits, (char *)answer.data, err);
	bytes_fini(&sql);
	bytes_fini(&answer);
	return r;
}

/* What all shards have, and the first and last day with rows. */
static int measure(struct cluster *cluster, uint64_t *ret_bytes, uint64_t *ret_first,
		   uint64_t *ret_last, struct error *err)
{
	size_t shard;
	int r = 0;

	*ret_bytes = *ret_last = 0;
	*ret_first = UINT64_MAX;
	for (shard = 0; shard < cluster->shard_count && r == 0; shard++) {
		struct bytes sql = {0};
		struct bytes answer = {0};
		struct cursor cursor;
		uint64_t first;
		uint64_t last;

		bytes_printf(&sql,
			     "SELECT toUInt64(sum(bytes_on_disk)), "
			     "toUInt64(min(CASE WHEN table = 'totals' THEN "
			     "toUInt32OrZero(partition) ELSE 4294967295 END)), "
			     "toUInt64(max(CASE WHEN table = 'totals' THEN "
			     "toUInt32OrZero(partition) ELSE 0 END)) FROM system.parts "
			     "WHERE active AND database = '%s' FORMAT RowBinary",
			     cluster->database);
		r = run(cluster, shard, &sql, &answer, err);
		cursor = cursor_of(answer.data, answer.size);
		*ret_bytes += cursor_u64(&cursor);
		first = cursor_u64(&cursor);
		last = cursor_u64(&cursor);
		*ret_first = first < *ret_first ? first : *ret_first;
		*ret_last = last > *ret_last ? last : *ret_last;
		bytes_fini(&sql);
		bytes_fini(&answer);
	}
	return r;
}

static int apply(struct cluster *cluster, struct limits limits, struct error *err)
{
	size_t shard;
	int r = 0;

	for (shard = 0; shard < cluster->shard_count; shard++) {
		struct limits its = limits;
		int result = write_limits(cluster, shard, &its, r < 0 ? NULL : err);

		if (result == 0)
			result = drop_old(cluster, shard, &its, r < 0 ? NULL : err);
		if (r == 0)
			r = result;
	}
	return r;
}

/* Removes days while there is too much. The last stays, even if it fills the limit. */
static int remove_above_size(struct cluster *cluster, struct limits *limits, struct error *err)
{
	uint64_t bytes;
	uint64_t first;
	uint64_t last;
	int r = 0;

	while (r == 0 && cluster->config.keep_bytes > 0) {
		r = measure(cluster, &bytes, &first, &last, err);
		if (r < 0 || bytes <= cluster->config.keep_bytes || first >= last)
			break;
		limits->merged_from = (first + 1) * DAY_S;
		r = apply(cluster, *limits, err);
	}
	return r;
}

int cluster_maintain(struct store *base, uint64_t now_s, struct error *err)
{
	struct cluster *cluster = cluster_of(base);
	const struct store_config *config = &cluster->config;
	struct limits limits = {0};
	int r;

	if (now_s > config->keep_full_s)
		limits.full_from = (now_s - config->keep_full_s) / DAY_S * DAY_S;
	if (now_s > config->keep_merged_s)
		limits.merged_from = (now_s - config->keep_merged_s) / HOUR_S * HOUR_S;
	r = apply(cluster, limits, err);
	return r < 0 ? r : remove_above_size(cluster, &limits, err);
}

/* Numbers of one shard, added to those of others. */
static void add_stats(struct cluster *cluster, size_t shard, struct store_stats *ret)
{
	struct bytes sql = {0};
	struct bytes answer = {0};
	struct cursor cursor;

	bytes_printf(&sql,
		     "SELECT toUInt64(sum(CASE WHEN table = 'samples' THEN rows ELSE 0 END)), "
		     "toUInt64(sum(CASE WHEN table = 'stacks' THEN rows ELSE 0 END)), "
		     "toUInt64(sum(CASE WHEN table = 'functions' THEN rows ELSE 0 END)), "
		     "toUInt64(sum(bytes_on_disk)), toUInt64(sum(CASE WHEN table IN ('samples', "
		     "'samples_5m', 'samples_1h', 'totals') THEN bytes_on_disk ELSE 0 END)) "
		     "FROM system.parts WHERE active AND database = '%s' FORMAT RowBinary",
		     cluster->database);
	if (run(cluster, shard, &sql, &answer, NULL) < 0)
		ret->damaged_files++;
	cursor = cursor_of(answer.data, answer.size);
	ret->rows += cursor_u64(&cursor);
	ret->stacks += cursor_u64(&cursor);
	ret->functions += cursor_u64(&cursor);
	ret->bytes += cursor_u64(&cursor);
	ret->file_bytes += cursor_u64(&cursor);
	bytes_fini(&sql);
	bytes_fini(&answer);
}

void cluster_stats(struct store *base, struct store_stats *ret)
{
	struct cluster *cluster = cluster_of(base);
	size_t i;

	*ret = (struct store_stats){.batches = atomic_load(&cluster->batch_count),
				    .duplicates = atomic_load(&cluster->duplicates),
				    .commits = atomic_load(&cluster->commits)};
	for (i = 0; i < cluster->shard_count; i++)
		add_stats(cluster, i, ret);
	(void)pthread_mutex_lock(&cluster->series_lock); /* never fails: not held by us */
	ret->series = cluster->series.keys.entries.count - 1;
	ret->overflowed_series = cluster->series.overflowed;
	(void)pthread_mutex_unlock(&cluster->series_lock);
}
