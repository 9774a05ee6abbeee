/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/cluster/schema.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "store/cluster/cluster_state.h"

/* The mark of a batch (cluster_append.c) has the kind 0; it keeps its series and stack. */
const struct row_table row_tables[ROW_TABLES] = {
	[ROWS_TOTALS] = {"totals", "series", "time", "CASE WHEN kind = 0 THEN stack ELSE 0 END"},
	[ROWS_1H] = {"samples_1h", "CASE WHEN kind = 0 THEN series ELSE 0 END",
		     "time - time % 3600", "stack"},
	[ROWS_5M] = {"samples_5m", "series", "time - time % 300", "stack"},
	[ROWS_FULL] = {"samples", "series", "time", "stack"},
};

#define ROW_COLUMNS                                                                                \
	"(kind UInt64, series UInt64, time UInt32, stack UInt64, samples UInt64, value Int64)"
#define BY_STACK                                                                                   \
	"SummingMergeTree((samples, value)) PARTITION BY intDiv(time, 86400) "                     \
	"ORDER BY (kind, intDiv(time, 3600), stack, series, time)"
#define BY_TIME                                                                                    \
	"SummingMergeTree((samples, value)) PARTITION BY intDiv(time, 86400) "                     \
	"ORDER BY (kind, series, time, stack)"
#define SMALL " SETTINGS index_granularity = 1024"

/* A table, and whether it has rows that belong to one shard only. */
struct table {
	unsigned int version; /* from which on it is there */
	const char *name;
	const char *columns;
	const char *engine;
	const char *fill; /* a statement after %s, the database; NULL: starts empty */
};

static const struct table tables[] = {
	{1, "samples", ROW_COLUMNS, BY_STACK, NULL},
	{1, "samples_5m", ROW_COLUMNS, BY_STACK, NULL},
	{1, "totals", ROW_COLUMNS, BY_TIME, NULL},
	{1, "series",
	 "(id UInt64, key String, kind UInt64, service String, type String, unit String, "
	 "gauge UInt8, host String, release String, names Array(String), texts Array(String))",
	 "ReplacingMergeTree ORDER BY id" SMALL, NULL},
	{1, "stacks", "(week UInt32, id UInt64, frames Array(UInt64))",
	 "ReplacingMergeTree PARTITION BY week ORDER BY id" SMALL, NULL},
	{1, "locations",
	 "(id UInt64, version UInt64, module String, build_id String, vaddr UInt64, "
	 "functions Array(String), files Array(String), modules Array(String), "
	 "origins Array(UInt8), lines Array(UInt32), line_files Array(String))",
	 "ReplacingMergeTree(version) ORDER BY id" SMALL, NULL},
	{1, "functions", "(name String, location UInt64)",
	 "ReplacingMergeTree ORDER BY (name, location)", NULL},
	{1, "gaps", "(host String, from_s UInt32, to_s UInt32, reason String)",
	 "ReplacingMergeTree PARTITION BY intDiv(to_s, 604800) "
	 "ORDER BY (from_s, to_s, host, reason)",
	 NULL},
	{2, "samples_1h", ROW_COLUMNS, BY_STACK,
	 "SELECT kind, CASE WHEN kind = 0 THEN series ELSE 0 END, time - time %% 3600, stack, "
	 "sum(samples), sum(value) FROM %s.samples_5m "
	 "GROUP BY kind, CASE WHEN kind = 0 THEN series ELSE 0 END, time - time %% 3600, stack"},
};

/* Of this shard alone. */
#define LOCAL_SQL                                                                                  \
	"CREATE TABLE IF NOT EXISTS %s.limits (full_from UInt32, merged_from UInt32) "             \
	"ENGINE = MergeTree ORDER BY full_from"
#define VERSION_SQL                                                                                \
	"CREATE TABLE IF NOT EXISTS %s.schema (version UInt32, shard UInt32, shards UInt32) "      \
	"ENGINE = MergeTree ORDER BY version"

struct checking {
	struct cluster *cluster;
	size_t shard;
	struct bytes sql;
	struct error *err;
};

static int run(struct checking *checking, struct bytes *ret)
{
	struct clickhouse_statement statement = {
		.node = checking->shard, .sql = &checking->sql, .is_long = true};
	int r = clickhouse_run(checking->cluster->clickhouse, &statement, ret, checking->err);

	bytes_clear(&checking->sql);
	return r;
}

/* What is written down about a shard; version 0: nothing yet. */
static int read_version(struct checking *checking, uint32_t ret[3])
{
	const char *database = checking->cluster->database;
	struct bytes answer = {0};
	struct cursor cursor;
	int r;

	bytes_printf(&checking->sql, "CREATE DATABASE IF NOT EXISTS %s", database);
	r = run(checking, NULL);
	if (r < 0 && r != -EACCES) /* somebody else may have created it */
		return r;
	bytes_printf(&checking->sql, VERSION_SQL, database);
	r = run(checking, NULL);
	if (r < 0)
		return r;
	bytes_printf(&checking->sql,
		     "SELECT max(version), max(shard), max(shards) FROM %s.schema "
		     "FORMAT RowBinary",
		     database);
	r = run(checking, &answer);
	cursor = cursor_of(answer.data, answer.size);
	ret[0] = cursor_u32(&cursor);
	ret[1] = cursor_u32(&cursor);
	ret[2] = cursor_u32(&cursor);
	bytes_fini(&answer);
	if (r == 0 && cursor.failed)
		r = error_advise(checking->err,
				 error_set(checking->err, -EPROTO, "%s did not answer in RowBinary",
					   clickhouse_node_name(checking->cluster->clickhouse,
								checking->shard)),
				 "check that the URL is that of its HTTP interface");
	return r;
}

static int create(struct checking *checking, const struct table *table)
{
	const struct cluster *cluster = checking->cluster;
	int r;

	bytes_printf(&checking->sql, "CREATE TABLE IF NOT EXISTS %s.%s %s ENGINE = %s",
		     cluster->database, table->name, table->columns, table->engine);
	r = run(checking, NULL);
	if (r < 0 || !cluster->all[0])
		return r;
	bytes_printf(&checking->sql,
		     "CREATE TABLE IF NOT EXISTS %s.%s%s AS %s.%s ENGINE = Distributed(%s, %s, %s)",
		     cluster->database, table->name, cluster->all, cluster->database, table->name,
		     cluster->url.cluster, cluster->database, table->name);
	return run(checking, NULL);
}

/* A table that this version adds is filled from others. If that was interrupted, it begins anew. */
static int add(struct checking *checking, const struct table *table, uint32_t version)
{
	const char *database = checking->cluster->database;
	int r;

	if (version == 0 || !table->fill)
		return create(checking, table);
	bytes_printf(&checking->sql, "DROP TABLE IF EXISTS %s.%s", database, table->name);
	r = run(checking, NULL);
	if (r == 0)
		r = create(checking, table);
	if (r < 0)
		return r;
	bytes_printf(&checking->sql, "INSERT INTO %s.%s ", database, table->name);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	bytes_printf(&checking->sql, table->fill, database); /* from the table above */
#pragma GCC diagnostic pop
	return run(checking, NULL);
}

static int write_version(struct checking *checking)
{
	bytes_printf(&checking->sql, "INSERT INTO %s.schema VALUES (%u, %zu, %zu)",
		     checking->cluster->database, SCHEMA_VERSION, checking->shard,
		     checking->cluster->shard_count);
	return run(checking, NULL);
}

/* One server at a time: the name of a table is the lock. */
static int lock_upgrade(struct checking *checking)
{
	const char *database = checking->cluster->database;
	int r;

	bytes_printf(&checking->sql, "CREATE TABLE %s.upgrade (x UInt8) ENGINE = Memory", database);
	r = run(checking, NULL);
	if (r == -EEXIST) {
		(void)error_set(checking->err, -EEXIST,
				"another server is upgrading the tables of %s", database);
		error_remedy(checking->err, "wait for it; if it was killed: DROP TABLE %s.upgrade",
			     database);
	}
	return r;
}

static void unlock_upgrade(struct checking *checking)
{
	struct error *err = checking->err;

	checking->err = NULL; /* that of the upgrade is the one to read */
	bytes_clear(&checking->sql);
	bytes_printf(&checking->sql, "DROP TABLE %s.upgrade", checking->cluster->database);
	(void)run(checking, NULL); /* what remains is named by the next upgrade */
	checking->err = err;
}

static int upgrade(struct checking *checking, uint32_t version)
{
	size_t i;
	int r = version > 0 ? lock_upgrade(checking) : 0;

	if (r < 0)
		return r;
	for (i = 0; i < ARRAY_SIZE(tables) && r == 0; i++)
		if (tables[i].version > version)
			r = add(checking, &tables[i], version);
	if (r == 0) {
		bytes_printf(&checking->sql, LOCAL_SQL, checking->cluster->database);
		r = run(checking, NULL);
	}
	if (r == 0)
		r = write_version(checking);
	if (version > 0)
		unlock_upgrade(checking);
	return r;
}

static int refuse_version(struct checking *checking, uint32_t version)
{
	(void)error_set(checking->err, -EPROTO,
			"the tables of %s have version %" PRIu32 ", this wick knows up to %u",
			checking->cluster->database, version, SCHEMA_VERSION);
	error_remedy(checking->err, "use the newer wick, or another database");
	return -EPROTO;
}

/* Rows are found by their shard, so each must stay where it is in the list. */
static int refuse_place(struct checking *checking, const uint32_t known[3])
{
	(void)error_set(checking->err, -EPROTO,
			"%s was shard %" PRIu32 " of %" PRIu32 ", and is shard %zu of %zu now",
			clickhouse_node_name(checking->cluster->clickhouse, checking->shard),
			known[1] + 1, known[2], checking->shard + 1,
			checking->cluster->shard_count);
	error_remedy(checking->err, "list the same shards in the same order");
	return -EPROTO;
}

int schema_check(struct cluster *cluster, size_t shard, struct error *err)
{
	struct checking checking = {.cluster = cluster, .shard = shard, .err = err};
	uint32_t known[3];
	int r = read_version(&checking, known);

	if (r == 0 && known[0] > SCHEMA_VERSION)
		r = refuse_version(&checking, known[0]);
	if (r == 0 && known[0] > 0 && (known[1] != shard || known[2] != cluster->shard_count))
		r = refuse_place(&checking, known);
	if (r == 0 && known[0] < SCHEMA_VERSION)
		r = upgrade(&checking, known[0]);
	bytes_fini(&checking.sql);
	return r;
}
