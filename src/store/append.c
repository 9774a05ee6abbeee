/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "store/names_tables.h"
#include "store/store_state.h"

/* More would be a mistake of the sender, and a table for each. */
#define HOURS_MAX 48

/* A batch on its way into the store. */
struct appending {
	struct store *store;
	const struct store_batch *batch;
	uint32_t *stacks; /* ids in the store by those in the batch */
	uint32_t *series;
	struct batch_id id;
	uint32_t hours[HOURS_MAX];
	uint64_t added[HOURS_MAX]; /* rows of each hour */
	size_t hour_count;
	bool has_gauges;
	struct error *err;
};

static int no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

static int refuse(struct error *err, const char *what)
{
	(void)error_set(err, -EINVAL, "the batch is invalid: %s", what);
	error_remedy(err, "update the program that sent it");
	return -EINVAL;
}

static int find_hour(struct appending *appending, uint32_t hour_s)
{
	size_t i;

	for (i = 0; i < appending->hour_count; i++)
		if (appending->hours[i] == hour_s)
			return 0;
	if (appending->hour_count == HOURS_MAX)
		return refuse(appending->err, "its times span more than 48 hours");
	appending->hours[appending->hour_count++] = hour_s;
	return 0;
}

/* Checks the rows, and marks the stacks and hours that they have. */
static int check_rows(struct appending *appending)
{
	const struct store_batch *batch = appending->batch;
	uint32_t hour_s = UINT32_MAX;
	size_t i;
	int r = 0;

	for (i = 0; i < batch->row_count && r == 0; i++) {
		const struct store_row *row = &batch->rows[i];
		uint32_t its_hour_s = row->time_s - row->time_s % HOUR_S;

		if (row->series >= batch->series_count)
			return refuse(appending->err, "a row has no series");
		if (row->stack >= batch->profile->stacks.nodes.count)
			return refuse(appending->err, "a row has no stack");
		appending->stacks[row->stack] = 1;
		if (its_hour_s != hour_s)
			r = find_hour(appending, its_hour_s);
		hour_s = its_hour_s;
	}
	return r;
}

static int add_names(struct appending *appending)
{
	const struct store_batch *batch = appending->batch;
	struct store *store = appending->store;
	size_t i;
	int r = 0;

	(void)pthread_rwlock_wrlock(&store->names_lock); /* never fails: not held by us */
	if (batch->row_count > 0)
		r = names_add(&store->names, batch->profile, appending->stacks);
	if (r < 0)
		r = no_memory(appending->err);
	for (i = 0; i < batch->series_count && r == 0; i++) {
		r = series_table_add(&store->series, &batch->series[i], &appending->series[i],
				     appending->err);
		appending->has_gauges |= batch->series[i].is_gauge;
	}
	(void)pthread_rwlock_unlock(&store->names_lock);
	return r;
}

static int create_hot(struct store *store, uint32_t hour_s, struct hot_table *ret,
		      struct error *err)
{
	struct hot_table table = {.hour_s = hour_s};
	char name[HOT_NAME_MAX];
	struct bytes sql = {0};
	size_t i;
	int r;

	for (i = 0; i < store->files.hot.count; i++)
		if (store->files.hot.items[i].hour_s == hour_s &&
		    store->files.hot.items[i].number >= table.number)
			table.number = store->files.hot.items[i].number + 1;
	hot_table_name(&table, name, sizeof(name));
	bytes_printf(&sql,
		     "CREATE TABLE %s (series UINTEGER, time UINTEGER, stack UINTEGER, "
		     "samples UINTEGER, value BIGINT)",
		     name);
	r = database_run_bytes(&store->database, store->writer, &sql, err);
	bytes_fini(&sql);
	*ret = table;
	return r;
}

static void put_row(struct appender *to, uint32_t series, uint32_t time_s, uint32_t stack,
		    uint64_t samples, int64_t value)
{
	size_t row = appender_row(to);

	appender_put_u32(to, 0, row, series);
	appender_put_u32(to, 1, row, time_s);
	appender_put_u32(to, 2, row, stack);
	appender_put_u32(to, 3, row, samples < UINT32_MAX ? (uint32_t)samples : UINT32_MAX);
	appender_put_u64(to, 4, row, (uint64_t)value);
}

/* The rows of one hour. Levels also get a mark for each time at which there are some. */
static void put_rows(struct appending *appending, size_t hour, struct appender *to)
{
	const struct store_batch *batch = appending->batch;
	SCOPED(mem) uint32_t *marked = calloc(batch->series_count + 1, sizeof(*marked));
	size_t i;

	if (!marked) {
		to->result = no_memory(appending->err);
		return;
	}
	for (i = 0; i < batch->row_count; i++) {
		const struct store_row *row = &batch->rows[i];
		uint32_t series = appending->series[row->series];

		if (row->time_s - row->time_s % HOUR_S != appending->hours[hour])
			continue;
		put_row(to, series, row->time_s, appending->stacks[row->stack], row->samples,
			row->value);
		appending->added[hour]++;
		/* Marks that are there twice count once when they are read. */
		if (batch->series[row->series].is_gauge && marked[row->series] != row->time_s) {
			put_row(to, series, row->time_s, STACK_MARK, 1, 0);
			marked[row->series] = row->time_s;
			appending->added[hour]++;
		}
	}
}

static int write_hour(struct appending *appending, size_t hour, struct hot_table *ret)
{
	struct store *store = appending->store;
	struct hot_table *known = row_files_hot(&store->files, appending->hours[hour]);
	char name[HOT_NAME_MAX];
	struct appender to;
	int r = 0;

	if (known)
		*ret = *known;
	else
		r = create_hot(store, appending->hours[hour], ret, appending->err);
	if (r < 0)
		return r;
	hot_table_name(ret, name, sizeof(name));
	r = appender_open(&to, &store->database, store->writer, name, "uuuuI", appending->err);
	if (r < 0)
		return r;
	put_rows(appending, hour, &to);
	ret->rows += appending->added[hour];
	return appender_close(&to);
}

static int write_gaps(struct appending *appending)
{
	const struct store_batch *batch = appending->batch;
	struct store *store = appending->store;
	struct appender to;
	size_t i;
	int r;

	if (batch->gap_count == 0)
		return 0;
	r = appender_open(&to, &store->database, store->writer, "gaps", "tuut", appending->err);
	if (r < 0)
		return r;
	for (i = 0; i < batch->gap_count; i++) {
		size_t row = appender_row(&to);

		appender_put_text(&to, 0, row, names_clean(&store->names, batch->gaps[i].host));
		appender_put_u32(&to, 1, row, batch->gaps[i].from_s);
		appender_put_u32(&to, 2, row, batch->gaps[i].to_s);
		appender_put_text(&to, 3, row, names_clean(&store->names, batch->gaps[i].reason));
	}
	return appender_close(&to);
}

/* Everything that belongs to the transaction. */
static int write_batch(struct appending *appending, struct hot_table *tables)
{
	struct store *store = appending->store;
	size_t i;
	int r = names_save(&store->names, &store->database, store->writer, appending->err);

	if (r == 0)
		r = series_table_save(&store->series, &store->database, store->writer,
				      appending->err);
	for (i = 0; i < appending->hour_count && r == 0; i++)
		r = write_hour(appending, i, &tables[i]);
	if (r == 0)
		r = write_gaps(appending);
	if (r == 0)
		r = batch_ids_save(&appending->id, &store->database, store->writer, appending->err);
	return r;
}

/* Makes room for what note_written() adds: after the commit it is too late to fail. */
static int reserve(struct appending *appending)
{
	struct store *store = appending->store;
	int r;

	if (store->files.hot.count + appending->hour_count <= store->files.hot.capacity)
		return 0;
	(void)pthread_rwlock_wrlock(&store->files_lock); /* never fails: not held by us */
	r = vec_reserve(&store->files.hot, store->files.hot.count + appending->hour_count);
	(void)pthread_rwlock_unlock(&store->files_lock);
	return r < 0 ? no_memory(appending->err) : 0;
}

static void note_written(struct appending *appending, const struct hot_table *tables)
{
	struct store *store = appending->store;
	size_t i;

	/* Without memory it would be stored again if it came again: better than to say it failed.
	 */
	(void)batch_ids_add(&store->batches, &appending->id);
	for (i = 0; i < appending->hour_count; i++) {
		struct hot_table *known = row_files_hot(&store->files, appending->hours[i]);

		if (known) {
			__atomic_store_n(&known->rows, tables[i].rows, __ATOMIC_RELAXED);
			continue;
		}
		(void)pthread_rwlock_wrlock(&store->files_lock); /* never fails: not held by us */
		store->files.hot.items[store->files.hot.count++] = tables[i];
		(void)pthread_rwlock_unlock(&store->files_lock);
	}
	names_saved(&store->names);
	series_table_saved(&store->series);
}

static int append_locked(struct appending *appending)
{
	struct store *store = appending->store;
	struct hot_table tables[HOURS_MAX];
	int r = store_recover(store, appending->err);

	if (r < 0)
		return r;
	if (batch_ids_has(&store->batches, &appending->id)) {
		atomic_fetch_add(&store->duplicates, 1);
		return 1;
	}
	r = check_rows(appending);
	if (r == 0)
		r = add_names(appending);
	if (r == 0)
		r = reserve(appending);
	if (r == 0)
		r = database_run(&store->database, store->writer, "BEGIN", appending->err);
	if (r < 0)
		return r;
	r = write_batch(appending, tables);
	if (r == 0)
		r = database_run(&store->database, store->writer, "COMMIT", appending->err);
	if (r < 0) {
		/* A commit that failed has ended the transaction already. */
		(void)database_run(&store->database, store->writer, "ROLLBACK", NULL);
		return r;
	}
	atomic_fetch_add(&store->batch_count, 1);
	note_written(appending, tables);
	return 0;
}

int store_append(struct store *store, const struct store_batch *batch, struct error *err)
{
	size_t nodes = batch->profile ? batch->profile->stacks.nodes.count : 0;
	SCOPED(mem) uint32_t *stacks = calloc(nodes + 1, sizeof(*stacks));
	SCOPED(mem) uint32_t *series = calloc(batch->series_count + 1, sizeof(*series));
	struct appending appending = {
		.store = store,
		.batch = batch,
		.stacks = stacks,
		.series = series,
		.id = batch_id_of(batch->id, clock_realtime_ns() / NS_PER_SEC),
		.err = err,
	};
	int r;

	if (!stacks || !series)
		return no_memory(err);
	if (batch->row_count > 0 && !batch->profile)
		return refuse(err, "its rows have no profile");
	(void)pthread_mutex_lock(&store->write_lock); /* never fails: not held by us */
	r = append_locked(&appending);
	(void)pthread_mutex_unlock(&store->write_lock);
	return r;
}
