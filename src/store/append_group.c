/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/append_group.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/scope.h"
#include "store/names_tables.h"
#include "store/store_state.h"

/* The batches of one transaction. */
struct group {
	struct embedded *store;
	VEC(struct appending *) items;
	VEC(struct batch_id) ids;
	VEC(struct hot_table) tables; /* that they are written to */
	struct error *err;
};

static int no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

static void group_clear(struct group *group)
{
	group->items.count = group->ids.count = group->tables.count = 0;
}

static void group_fini(struct group *group)
{
	vec_fini(&group->items);
	vec_fini(&group->ids);
	vec_fini(&group->tables);
}

static bool group_has(const struct group *group, const struct batch_id *id)
{
	size_t i;

	for (i = 0; i < group->ids.count; i++)
		if (group->ids.items[i].high == id->high && group->ids.items[i].low == id->low)
			return true;
	return false;
}

static uint16_t last_day(const struct appending *item)
{
	uint32_t last_s = 0;
	size_t i;

	for (i = 0; i < item->hour_count; i++)
		last_s = item->hours[i] > last_s ? item->hours[i] : last_s;
	return names_day(last_s);
}

/* Finds or adds the names of a batch. Most have none that is new, and need no lock. */
static int settle_names(struct embedded *store, struct appending *item, struct error *err)
{
	const struct store_batch *batch = item->batch;
	uint16_t day = last_day(item);
	int r = 0;

	if (batch->row_count == 0)
		return 0;
	/* Opened again meanwhile: what was not on disk has other ids now. */
	if (item->generation != store->generation)
		r = names_lookup_init(&item->names, batch->profile, item->names.wanted);
	if (r == 0 && !names_has_all(&store->names, &item->names, day)) {
		(void)pthread_rwlock_wrlock(&store->names_lock); /* never fails: not held by us */
		r = names_add(&store->names, &item->names, day);
		(void)pthread_rwlock_unlock(&store->names_lock);
	}
	item->generation = store->generation;
	return r < 0 ? no_memory(err) : 0;
}

static int settle_series(struct embedded *store, struct appending *item, struct error *err)
{
	const struct store_batch *batch = item->batch;
	size_t i;
	int r = 0;

	for (i = 0; i < batch->series_count && r == 0; i++) {
		item->series[i] = series_table_find(&store->series, &batch->series[i]);
		if (item->series[i] != ID_NONE)
			continue;
		(void)pthread_rwlock_wrlock(&store->names_lock); /* never fails: not held by us */
		r = series_table_add(&store->series, &batch->series[i], &item->series[i], err);
		(void)pthread_rwlock_unlock(&store->names_lock);
	}
	return r;
}

/* The table that new rows of an hour go to; a new one is listed after the commit. */
static int find_table(struct group *group, uint32_t hour_s)
{
	const struct hot_table *known = row_files_hot(&group->store->files, hour_s);
	struct hot_table table = {.hour_s = hour_s, .number = UINT32_MAX};
	size_t i;

	for (i = 0; i < group->tables.count; i++)
		if (group->tables.items[i].hour_s == hour_s)
			return 0;
	return vec_push(&group->tables, known ? *known : table) < 0 ? no_memory(group->err) : 0;
}

/*
 * Adds a batch to the group. Returns 0, 1 if it is stored already, or a negative errno. -EALREADY:
 * the group has it, so its fate is not known yet.
 */
static int admit(struct group *group, struct appending *item)
{
	struct embedded *store = group->store;
	size_t i;
	int r;

	if (batch_ids_has(&store->batches, &item->id)) {
		atomic_fetch_add(&store->duplicates, 1);
		return 1;
	}
	if (group_has(group, &item->id))
		return -EALREADY;
	r = settle_names(store, item, group->err);
	if (r == 0)
		r = settle_series(store, item, group->err);
	for (i = 0; i < item->hour_count && r == 0; i++)
		r = find_table(group, item->hours[i]);
	if (r == 0 && (vec_push(&group->ids, item->id) < 0 || vec_push(&group->items, item) < 0))
		r = no_memory(group->err);
	return r;
}

static int create_table(struct embedded *store, struct hot_table *table, struct error *err)
{
	char name[HOT_NAME_MAX];
	struct bytes sql = {0};
	size_t i;
	int r;

	table->number = 0;
	for (i = 0; i < store->files.hot.count; i++)
		if (store->files.hot.items[i].hour_s == table->hour_s &&
		    store->files.hot.items[i].number >= table->number)
			table->number = store->files.hot.items[i].number + 1;
	hot_table_name(table, name, sizeof(name));
	bytes_printf(&sql,
		     "CREATE TABLE %s (series UINTEGER, time UINTEGER, stack UINTEGER, "
		     "samples UINTEGER, value BIGINT)",
		     name);
	r = database_run_bytes(&store->database, store->writer, &sql, err);
	bytes_fini(&sql);
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
static int put_rows(const struct appending *item, struct hot_table *table, struct appender *to)
{
	const struct store_batch *batch = item->batch;
	SCOPED(mem) uint32_t *marked = calloc(batch->series_count + 1, sizeof(*marked));
	size_t i;

	if (!marked)
		return no_memory(to->err);
	for (i = 0; i < batch->row_count; i++) {
		const struct store_row *row = &batch->rows[i];
		uint32_t series = item->series[row->series];

		if (row->time_s - table->hour_s >= HOUR_S) /* also of what is before: it wraps */
			continue;
		put_row(to, series, row->time_s, item->names.stacks.items[row->stack], row->samples,
			row->value);
		table->rows++;
		/* Marks that are there twice count once when they are read. */
		if (batch->series[row->series].is_gauge && marked[row->series] != row->time_s) {
			put_row(to, series, row->time_s, STACK_MARK, 1, 0);
			marked[row->series] = row->time_s;
			table->rows++;
		}
	}
	return 0;
}

static int write_hour(struct group *group, struct hot_table *table)
{
	struct embedded *store = group->store;
	const struct hot_table *known = row_files_hot(&store->files, table->hour_s);
	char name[HOT_NAME_MAX];
	struct appender to;
	size_t i;
	int r = 0;

	if (known)
		*table = *known;
	else
		r = create_table(store, table, group->err);
	if (r < 0)
		return r;
	hot_table_name(table, name, sizeof(name));
	r = appender_open(&to, &store->database, store->writer, name, "uuuuI", group->err);
	if (r < 0)
		return r;
	for (i = 0; i < group->items.count && to.result == 0; i++) {
		r = put_rows(group->items.items[i], table, &to);
		if (r < 0)
			to.result = r;
	}
	return appender_close(&to);
}

static void put_gaps(struct appender *to, const struct store_batch *batch, struct bytes *text)
{
	size_t i;

	for (i = 0; i < batch->gap_count; i++) {
		size_t row = appender_row(to);

		appender_put_text(to, 0, row, names_clean(text, batch->gaps[i].host));
		appender_put_u32(to, 1, row, batch->gaps[i].from_s);
		appender_put_u32(to, 2, row, batch->gaps[i].to_s);
		appender_put_text(to, 3, row, names_clean(text, batch->gaps[i].reason));
	}
}

static int write_gaps(struct group *group)
{
	struct embedded *store = group->store;
	struct bytes text = {0};
	struct appender to;
	size_t count = 0;
	size_t i;
	int r;

	for (i = 0; i < group->items.count; i++)
		count += group->items.items[i]->batch->gap_count;
	if (count == 0)
		return 0;
	r = appender_open(&to, &store->database, store->writer, "gaps", "tuut", group->err);
	if (r < 0)
		return r;
	for (i = 0; i < group->items.count; i++)
		put_gaps(&to, group->items.items[i]->batch, &text);
	bytes_fini(&text);
	return appender_close(&to);
}

/* Everything that belongs to the transaction. */
static int write_all(struct group *group)
{
	struct embedded *store = group->store;
	size_t i;
	int r = names_save(&store->names, &store->database, store->writer, group->err);

	if (r == 0)
		r = series_table_save(&store->series, &store->database, store->writer, group->err);
	for (i = 0; i < group->tables.count && r == 0; i++)
		r = write_hour(group, &group->tables.items[i]);
	if (r == 0)
		r = write_gaps(group);
	if (r == 0)
		r = batch_ids_save(group->ids.items, group->ids.count, &store->database,
				   store->writer, group->err);
	return r;
}

/* Makes room for what note_written() adds: after the commit it is too late to fail. */
static int reserve(struct group *group)
{
	struct embedded *store = group->store;
	size_t most = store->files.hot.count + group->tables.count;
	int r;

	if (most <= store->files.hot.capacity)
		return 0;
	(void)pthread_rwlock_wrlock(&store->files_lock); /* never fails: not held by us */
	r = vec_reserve(&store->files.hot, most);
	(void)pthread_rwlock_unlock(&store->files_lock);
	return r < 0 ? no_memory(group->err) : 0;
}

static void note_written(struct group *group)
{
	struct embedded *store = group->store;
	size_t i;

	for (i = 0; i < group->items.count; i++) {
		/* Without memory it would be stored again if it came again: better than to say it
		 * failed. */
		(void)batch_ids_add(&store->batches, &group->ids.items[i]);
		group->items.items[i]->result = 0;
	}
	for (i = 0; i < group->tables.count; i++) {
		const struct hot_table *table = &group->tables.items[i];
		struct hot_table *known = row_files_hot(&store->files, table->hour_s);

		if (known) {
			__atomic_store_n(&known->rows, table->rows, __ATOMIC_RELAXED);
			continue;
		}
		(void)pthread_rwlock_wrlock(&store->files_lock); /* never fails: not held by us */
		store->files.hot.items[store->files.hot.count++] = *table;
		(void)pthread_rwlock_unlock(&store->files_lock);
	}
	names_saved(&store->names);
	series_table_saved(&store->series);
	atomic_fetch_add(&store->batch_count, group->items.count);
	atomic_fetch_add(&store->commits, 1);
}

/* One transaction. *ret_tried: its commit was tried, so nobody knows whether it failed. */
static int write_group(struct group *group, bool *ret_tried)
{
	struct embedded *store = group->store;
	int r = reserve(group);

	*ret_tried = false;
	if (r == 0)
		r = database_run(&store->database, store->writer, "BEGIN", group->err);
	if (r < 0)
		return r;
	r = write_all(group);
	*ret_tried = r == 0;
	if (r == 0)
		r = database_run(&store->database, store->writer, "COMMIT", group->err);
	if (r < 0)
		/* A commit that failed has ended the transaction already. */
		(void)database_run(&store->database, store->writer, "ROLLBACK", NULL);
	else
		note_written(group);
	return r;
}

static void fail(struct appending *item, int r, const struct error *err)
{
	item->result = r;
	if (item->err)
		*item->err = *err;
}

/* Something in the group cannot be written: the others shall not suffer. */
static void write_each(struct group *group)
{
	struct embedded *store = group->store;
	struct error *err = group->err;
	struct group one = {.store = store, .err = err};
	size_t i;

	for (i = 0; i < group->items.count; i++) {
		struct appending *item = group->items.items[i];
		bool tried;
		int r;

		group_clear(&one);
		r = admit(&one, item);
		if (r == 0)
			r = write_group(&one, &tried);
		if (r < 0)
			fail(item, r, err);
	}
	group_fini(&one);
}

static void write_or_fail(struct group *group)
{
	bool tried = false;
	int r = write_group(group, &tried);
	size_t i;

	if (r == 0)
		return;
	if (group->items.count > 1 && !tried && !atomic_load(&group->store->database.failed)) {
		write_each(group);
		return;
	}
	for (i = 0; i < group->items.count; i++)
		fail(group->items.items[i], r, group->err);
}

void append_group(struct embedded *store, struct appending *first)
{
	struct error err = {0};
	struct group group = {.store = store, .err = &err};

	while (first) {
		struct appending *rest = NULL;
		struct appending *item;
		struct appending *next;
		int r = embedded_recover(store, &err);

		group_clear(&group);
		for (item = first; item; item = next) {
			next = item->next;
			item->next = NULL;
			item->result = r < 0 ? r : admit(&group, item);
			if (item->result == -EALREADY) {
				item->next = rest;
				rest = item;
			} else if (item->result < 0) {
				fail(item, item->result, &err);
			}
		}
		if (group.items.count > 0)
			write_or_fail(&group);
		first = rest;
	}
	group_fini(&group);
}
