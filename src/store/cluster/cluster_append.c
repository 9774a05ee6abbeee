/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Batches are written exactly once, although an acknowledgement may be lost.
 *
 * In each of the tables of rows, a batch leaves a mark in every partition that it has rows in: a
 * row of the kind 0 whose stack and series are the hash of the batch's id. One statement inserts
 * the rows whose mark is not there, and the mark. ClickHouse adds what a statement inserts into a
 * partition in one step, so a mark without its rows, or rows without their mark, never exist.
 *
 * Two such statements with the same batch must not run at the same time: both could look for the
 * mark before either has inserted it. So each has the name of a lane, and ClickHouse refuses a
 * second one with the same name. The name is held until the statement ends, even if its sender is
 * gone: a late one finds the mark, whoever sends it.
 *
 * A batch is acknowledged when it is in all tables. samples is the last.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/cluster/cluster_state.h"
#include "store/cluster/pending.h"
#include "store/cluster/schema.h"

/*
 * If there are several senders, a group begins this long after the one before, or when so many
 * batches wait: every insert makes files that ClickHouse has to merge.
 */
#define GATHER_NS (500 * NS_PER_MS)
#define ENOUGH 8
#define TOGETHER_MAX 64
#define ROWS_BYTES_MAX (64u << 20)
#define DAYS_MAX 96 /* a statement may insert into 100 partitions */
/* Another server inserts: that takes milliseconds. */
#define BUSY_WAIT_NS (15 * NS_PER_MS)
#define BUSY_TRIES 400

struct group {
	struct cluster *cluster;
	struct pending *items[TOGETHER_MAX];
	size_t count;
	size_t shard;
	size_t lane;
	struct bytes sql;
	struct error *err;
};

static const char *const name_tables[NAME_TABLES] = {
	[NAMES_SERIES] = "series", [NAMES_LOCATIONS] = "locations", [NAMES_FUNCTIONS] = "functions",
	[NAMES_STACKS] = "stacks", [NAMES_GAPS] = "gaps",
};

static int no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

static int run(struct group *group, struct clickhouse_statement *statement, struct bytes *ret)
{
	int r;

	statement->node = group->shard;
	statement->sql = &group->sql;
	r = cluster_run_at(group->cluster, statement, ret, group->err);
	bytes_clear(&group->sql);
	return r;
}

/* What rows refer to. It does no harm if it is there twice. */
static int write_names(struct group *group, enum name_table table)
{
	struct clickhouse_statement statement = {0};
	struct bytes rows = {0};
	size_t i;
	int r = 0;

	for (i = 0; i < group->count; i++)
		bytes_put(&rows, group->items[i]->names[table].data,
			  group->items[i]->names[table].size);
	if (rows.failed)
		r = no_memory(group->err);
	statement.data = &rows;
	bytes_printf(&group->sql, "INSERT INTO %s.%s FORMAT RowBinary", group->cluster->database,
		     name_tables[table]);
	if (r == 0 && rows.size > 0)
		r = run(group, &statement, NULL);
	bytes_clear(&group->sql);
	bytes_fini(&rows);
	return r;
}

/* The days of the batches, as times, each once is not needed. */
static void put_days(struct group *group)
{
	const char *between = "";
	size_t i;
	size_t j;

	bytes_printf(&group->sql, "kind = 0 AND time IN (");
	for (i = 0; i < group->count; i++)
		for (j = 0; j < group->items[i]->day_count; j++, between = ",")
			bytes_printf(&group->sql, "%s%" PRIu64, between,
				     (uint64_t)group->items[i]->days[j] * DAY_S);
	bytes_put_u8(&group->sql, ')');
}

static void note_mark(struct group *group, uint64_t high, uint64_t low, uint64_t time)
{
	size_t i;
	size_t j;

	for (i = 0; i < group->count; i++) {
		struct pending *item = group->items[i];

		for (j = 0; j < item->day_count; j++)
			item->marks_found += item->high == high && item->low == low &&
					     (uint64_t)item->days[j] * DAY_S == time;
	}
}

static int read_marks(struct group *group, const struct bytes *answer)
{
	struct cursor cursor = cursor_of(answer->data, answer->size);
	bool has_version = false;

	while (cursor_left(&cursor) > 0) {
		uint64_t version = cursor_u64(&cursor);
		uint64_t high = cursor_u64(&cursor);
		uint64_t low = cursor_u64(&cursor);
		uint64_t time = cursor_u64(&cursor);

		has_version |= version == SCHEMA_VERSION;
		if (version == 0)
			note_mark(group, high, low, time);
	}
	if (!cursor.failed && has_version)
		return 0;
	(void)error_set(group->err, -EPROTO,
			"the tables of %s were changed by another version of wick",
			group->cluster->database);
	error_remedy(group->err, "restart this server with that version");
	return -EPROTO;
}

/* Finds the batches that are written already. */
static int find_done(struct group *group)
{
	const char *database = group->cluster->database;
	struct clickhouse_statement statement = {0};
	struct bytes answer = {0};
	size_t i;
	int r;

	bytes_printf(&group->sql,
		     "SELECT toUInt64(max(version)), toUInt64(0), toUInt64(0), toUInt64(0) "
		     "FROM %s.schema UNION ALL "
		     "SELECT toUInt64(0), stack, series, toUInt64(time) FROM %s.%s WHERE ",
		     database, database, row_tables[ROWS_FULL].name);
	put_days(group);
	bytes_printf(&group->sql, " AND stack IN (");
	for (i = 0; i < group->count; i++)
		bytes_printf(&group->sql, "%s%" PRIu64, i > 0 ? "," : "", group->items[i]->high);
	bytes_printf(&group->sql, ") GROUP BY stack, series, time FORMAT RowBinary");
	r = run(group, &statement, &answer);
	if (r == 0)
		r = read_marks(group, &answer);
	bytes_fini(&answer);
	return r;
}

static void put_insert(struct group *group, const struct row_table *table)
{
	const char *database = group->cluster->database;

	bytes_printf(&group->sql,
		     "INSERT INTO %s.%s SELECT kind, %s, %s, %s, sum(samples), sum(value) "
		     "FROM batch WHERE (hi, lo, intDiv(time, 86400)) NOT IN "
		     "(SELECT stack, series, intDiv(time, 86400) FROM %s.%s WHERE ",
		     database, table->name, table->series, table->time, table->stack, database,
		     table->name);
	put_days(group);
	bytes_printf(&group->sql,
		     " AND stack IN (SELECT hi FROM batch WHERE kind = 0) "
		     "AND series IN (SELECT lo FROM batch WHERE kind = 0)) "
		     "GROUP BY kind, %s, %s, %s",
		     table->series, table->time, table->stack);
}

/* Inserts what is not there yet. */
static int write_table(struct group *group, const struct row_table *table,
		       const struct clickhouse_table *batch)
{
	const struct timespec wait = {.tv_nsec = BUSY_WAIT_NS};
	char lock[160];
	struct clickhouse_statement statement = {.table = batch, .lock = lock};
	unsigned int tries;
	int r = -EBUSY;

	(void)snprintf(lock, sizeof(lock), "wick-%s-%s-%zu", group->cluster->database, table->name,
		       group->lane);
	for (tries = 0; r == -EBUSY && tries < BUSY_TRIES; tries++) {
		if (tries > 0)
			(void)nanosleep(&wait, NULL); /* a shorter wait is fine */
		put_insert(group, table);
		r = run(group, &statement, NULL);
	}
	return r;
}

/* Drops those that are done from the group. */
static void drop_done(struct group *group)
{
	size_t kept = 0;
	size_t i;

	for (i = 0; i < group->count; i++) {
		struct pending *item = group->items[i];

		if (item->day_count > 0 && item->marks_found >= item->day_count) {
			item->result = 1;
			atomic_fetch_add(&group->cluster->duplicates, 1);
		} else {
			group->items[kept++] = item;
		}
	}
	group->count = kept;
}

static int write_rows(struct group *group)
{
	struct bytes rows = {0};
	struct clickhouse_table batch = {
		.name = "batch", .columns = PENDING_COLUMNS, .rows = &rows};
	size_t i;
	int r = 0;

	for (i = 0; i < group->count; i++)
		bytes_put(&rows, group->items[i]->rows.data, group->items[i]->rows.size);
	if (rows.failed)
		r = no_memory(group->err);
	for (i = 0; i < ROW_TABLES && r == 0 && rows.size > 0; i++)
		r = write_table(group, &row_tables[i], &batch);
	bytes_fini(&rows);
	return r;
}

static int write_group(struct group *group)
{
	bool has_days = false;
	unsigned int table;
	size_t i;
	int r = 0;

	for (i = 0; i < group->count; i++)
		has_days |= group->items[i]->day_count > 0;
	if (has_days)
		r = find_done(group);
	if (r == 0)
		drop_done(group);
	for (table = 0; table < NAME_TABLES && r == 0; table++)
		r = write_names(group, (enum name_table)table);
	return r < 0 ? r : write_rows(group);
}

/* What fails here is no fault of the batch: its sender has to send it again. */
static int keep_trying(int r)
{
	return r == -EBUSY ? -EAGAIN : r == 0 || r == -EHOSTUNREACH || r == -ENOMEM ? r : -EIO;
}

static void write_or_fail(struct group *group)
{
	struct pending *items[TOGETHER_MAX];
	size_t count = group->count;
	size_t i;
	int r;

	for (i = 0; i < count; i++)
		items[i] = group->items[i];
	r = keep_trying(write_group(group));
	group->err->code = r;
	for (i = 0; i < count; i++) {
		if (items[i]->result == 1)
			continue;
		items[i]->result = r;
		if (r < 0 && items[i]->err)
			*items[i]->err = *group->err;
		if (r == 0) {
			pending_note_known(items[i], group->cluster);
			atomic_fetch_add(&group->cluster->batch_count, 1);
		}
	}
	if (r == 0)
		atomic_fetch_add(&group->cluster->commits, 1);
	bytes_fini(&group->sql);
}

/*
 * Lets more batches come, if the last group began a moment ago. A sender that is alone would wait
 * in vain: it sends nothing until it has its answer. Called with the lock, which is released
 * meanwhile.
 */
static void gather(struct lane *lane)
{
	uint64_t until_ns = lane->started_ns + GATHER_NS;
	struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_SEC),
				 .tv_nsec = (long)(until_ns % NS_PER_SEC)};
	bool alone = lane->count == 1 && lane->first->sender == lane->sender;
	bool late = false;

	while (!alone && !late && lane->count < ENOUGH)
		late = pthread_cond_timedwait(&lane->changed, &lane->lock, &until) != 0;
	lane->started_ns = clock_monotonic_ns();
}

/* Whether a batch may be written together with those of the group. */
static bool may_join(const struct group *group, const struct pending *item, size_t size,
		     size_t days)
{
	size_t i;

	/* The same batch, sent twice: the second must find the mark of the first. */
	for (i = 0; i < group->count; i++)
		if (group->items[i]->high == item->high && group->items[i]->low == item->low)
			return false;
	return group->count == 0 ||
	       (group->count < TOGETHER_MAX && size + item->rows.size <= ROWS_BYTES_MAX &&
		days + item->day_count <= DAYS_MAX);
}

/* Takes what waits, up to a size. */
static void take_group(struct lane *lane, struct group *group)
{
	size_t size = 0;
	size_t days = 0;

	while (lane->first && may_join(group, lane->first, size, days)) {
		struct pending *item = lane->first;

		size += item->rows.size;
		days += item->day_count;
		lane->sender = item->sender;
		lane->first = item->next;
		lane->count--;
		group->items[group->count++] = item;
	}
	if (!lane->first)
		lane->last = &lane->first;
}

/* Writes what waits at the lane. Called with its lock, which is released meanwhile. */
static void write_waiting(struct cluster *cluster, struct lane *lane, const struct pending *one)
{
	struct error err = {0};
	struct group group = {
		.cluster = cluster, .shard = one->shard, .lane = one->lane, .err = &err};
	struct pending *items[TOGETHER_MAX];
	size_t count;
	size_t i;

	lane->is_busy = true;
	gather(lane);
	take_group(lane, &group);
	count = group.count;
	for (i = 0; i < count; i++)
		items[i] = group.items[i];
	(void)pthread_mutex_unlock(&lane->lock);
	write_or_fail(&group);
	(void)pthread_mutex_lock(&lane->lock); /* never fails: not held by us */
	for (i = 0; i < count; i++)
		items[i]->is_done = true;
	lane->is_busy = false;
	(void)pthread_cond_broadcast(&lane->changed); /* cannot fail */
}

/* Waits until the batch is written. Who finds nobody writing writes for all. */
static void write_in_turn(struct cluster *cluster, struct pending *pending)
{
	struct lane *lane = &cluster->shards[pending->shard].lanes[pending->lane];

	(void)pthread_mutex_lock(&lane->lock); /* never fails: not held by us */
	*lane->last = pending;
	lane->last = &pending->next;
	if (++lane->count >= ENOUGH)
		(void)pthread_cond_broadcast(&lane->changed); /* cannot fail */
	while (!pending->is_done) {
		if (lane->is_busy)
			(void)pthread_cond_wait(&lane->changed, &lane->lock); /* cannot fail */
		else
			write_waiting(cluster, lane, pending);
	}
	(void)pthread_mutex_unlock(&lane->lock);
}

int cluster_append(struct store *base, const struct store_batch *batch, struct error *err)
{
	struct cluster *cluster = cluster_of(base);
	struct pending pending;
	int r = pending_init(&pending, cluster, batch, err);

	if (r == 0) {
		write_in_turn(cluster, &pending);
		r = pending.result;
	}
	pending_fini(&pending);
	return r;
}
