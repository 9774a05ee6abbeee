/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>

#include "base/error.h"
#include "store/rewrite.h"
#include "store/store_state.h"
#include "store/unused_stacks.h"

/* An hour is closed this long after its end: by then all agents have sent it. */
#define GRACE_S 600u
#define MERGED_STEP_S 300u

static bool is_past(uint64_t now_s, uint32_t hour_s, uint64_t age_s)
{
	return now_s >= hour_s + HOUR_S + age_s;
}

/* Rows of an hour that has a file already are added to it only when no more come. */
static bool is_closed(const struct embedded *store, const struct hot_table *table, uint64_t now_s)
{
	/* An hour in the future is the mistake of a clock; it must not stay hot for years. */
	if (!is_past(now_s, table->hour_s, GRACE_S) && table->hour_s <= now_s + HOUR_S)
		return false;
	return !row_files_find(&store->files, table->hour_s) || now_s >= table->quiet_s + GRACE_S;
}

/* Notes since when tables have not grown. A clock that was set back begins again. */
static void note_growth(struct embedded *store, uint64_t now_s)
{
	size_t i;

	for (i = 0; i < store->files.hot.count; i++) {
		struct hot_table *table = &store->files.hot.items[i];

		if (table->rows != table->seen_rows || table->quiet_s > now_s)
			table->quiet_s = now_s;
		table->seen_rows = table->rows;
	}
}

static bool find_closed(struct embedded *store, uint64_t now_s, uint64_t after_s, uint32_t *ret)
{
	bool found = false;
	size_t i;

	(void)pthread_mutex_lock(&store->write_lock); /* never fails: not held by us */
	for (i = 0; i < store->files.hot.count; i++) {
		const struct hot_table *table = &store->files.hot.items[i];

		if (table->hour_s < after_s || (found && table->hour_s >= *ret) ||
		    !is_closed(store, table, now_s))
			continue;
		*ret = table->hour_s;
		found = true;
	}
	(void)pthread_mutex_unlock(&store->write_lock);
	return found;
}

/* How rows of an hour are kept at this age. */
static uint32_t step_of(const struct embedded *store, uint32_t hour_s, uint64_t now_s)
{
	return is_past(now_s, hour_s, store->config.keep_full_s) ? MERGED_STEP_S : 0;
}

static int sort_closed(struct embedded *store, uint64_t now_s, struct error *err)
{
	uint64_t after_s = 0;
	uint32_t hour_s = 0;
	int r = 0;

	/* One that fails does not stop the next. */
	for (; find_closed(store, now_s, after_s, &hour_s); after_s = (uint64_t)hour_s + 1) {
		int result = rewrite_hour(store, hour_s, step_of(store, hour_s, now_s),
					  r < 0 ? NULL : err);

		if (r == 0)
			r = result;
	}
	return r;
}

static bool find_mergeable(struct embedded *store, uint64_t now_s, uint64_t after_s, uint32_t *ret)
{
	bool found = false;
	size_t i;

	(void)pthread_mutex_lock(&store->write_lock); /* never fails: not held by us */
	for (i = 0; i < store->files.files.count && !found; i++) {
		struct row_file *file = store->files.files.items[i];

		found = file->hour_s >= after_s && file->step_s == 0 &&
			step_of(store, file->hour_s, now_s) > 0 &&
			row_file_check(&store->files, file);
		*ret = file->hour_s;
	}
	(void)pthread_mutex_unlock(&store->write_lock);
	return found;
}

static int merge_old(struct embedded *store, uint64_t now_s, struct error *err)
{
	uint64_t after_s = 0;
	uint32_t hour_s = 0;
	int r = 0;

	for (; find_mergeable(store, now_s, after_s, &hour_s); after_s = (uint64_t)hour_s + 1) {
		int result = rewrite_hour(store, hour_s, MERGED_STEP_S, r < 0 ? NULL : err);

		if (r == 0)
			r = result;
	}
	return r;
}

/* Unlists the file, then removes it: the other order could leave a list without files. */
static int remove_listed(struct embedded *store, const struct row_file *file, struct error *err)
{
	struct bytes sql = {0};
	int r;

	bytes_printf(&sql,
		     "BEGIN; DELETE FROM files WHERE path = '%s'; "
		     "DELETE FROM hours WHERE hour_s = %" PRIu32 "; COMMIT;",
		     file->path, file->hour_s);
	(void)pthread_rwlock_wrlock(&store->files_lock); /* never fails: not held by us */
	r = database_run_bytes(&store->database, store->writer, &sql, err);
	if (r < 0)
		(void)database_run(&store->database, store->writer, "ROLLBACK", NULL);
	else
		row_files_remove(&store->files, file->path);
	(void)pthread_rwlock_unlock(&store->files_lock);
	bytes_fini(&sql);
	return r;
}

/* Whether the oldest file has to go. The newest stays, even if the database fills the limit. */
static bool is_oldest_due(struct embedded *store, uint64_t now_s)
{
	struct store_stats stats;

	if (store->files.files.count == 0)
		return false;
	if (is_past(now_s, store->files.files.items[0]->hour_s, store->config.keep_merged_s))
		return true;
	if (store->config.keep_bytes == 0 || store->files.files.count == 1)
		return false;
	embedded_stats(&store->base, &stats);
	return stats.bytes > store->config.keep_bytes;
}

static int remove_old(struct embedded *store, uint64_t now_s, struct error *err)
{
	int r = 0;

	(void)pthread_mutex_lock(&store->write_lock); /* never fails: not held by us */
	while (r == 0 && is_oldest_due(store, now_s))
		r = remove_listed(store, store->files.files.items[0], err);
	(void)pthread_mutex_unlock(&store->write_lock);
	return r;
}

static int prune(struct embedded *store, uint64_t now_s, struct error *err)
{
	struct bytes sql = {0};
	int r;

	(void)pthread_mutex_lock(&store->write_lock); /* never fails: not held by us */
	r = batch_ids_prune(&store->batches, now_s, &store->database, store->writer, err);
	if (r == 0 && now_s > store->config.keep_merged_s) {
		bytes_printf(&sql, "DELETE FROM gaps WHERE to_s < %" PRIu64,
			     now_s - store->config.keep_merged_s);
		r = database_run_bytes(&store->database, store->writer, &sql, err);
	}
	(void)pthread_mutex_unlock(&store->write_lock);
	bytes_fini(&sql);
	return r;
}

int embedded_maintain(struct store *base, uint64_t now_s, struct error *err)
{
	struct embedded *store = embedded_of(base);
	int r;

	(void)pthread_mutex_lock(&store->maintain_lock); /* never fails: not held by us */
	(void)pthread_mutex_lock(&store->write_lock);    /* likewise */
	r = embedded_recover(store, err);
	if (r == 0)
		note_growth(store, now_s);
	(void)pthread_mutex_unlock(&store->write_lock);
	/* First what makes room. */
	if (r == 0)
		r = remove_old(store, now_s, err);
	if (r == 0)
		r = merge_old(store, now_s, err);
	if (r == 0)
		r = sort_closed(store, now_s, err);
	if (r == 0)
		r = prune(store, now_s, err);
	if (r == 0)
		r = unused_stacks_remove(store, now_s, err);
	(void)pthread_mutex_unlock(&store->maintain_lock);
	return r;
}
