/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/unused_stacks.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/scope.h"
#include "store/names_tables.h"
#include "store/store_state.h"

/* This many at a time: batches wait meanwhile. */
#define AT_ONCE 50000u

/* The day of the oldest rows. A damaged file counts: somebody may repair it. */
static uint16_t oldest_day(const struct embedded *store, uint64_t now_s)
{
	uint64_t oldest_s = now_s;
	size_t i;

	for (i = 0; i < store->files.files.count; i++)
		if (store->files.files.items[i]->hour_s < oldest_s)
			oldest_s = store->files.files.items[i]->hour_s;
	for (i = 0; i < store->files.hot.count; i++)
		if (store->files.hot.items[i].hour_s < oldest_s)
			oldest_s = store->files.hot.items[i].hour_s;
	return names_day(oldest_s);
}

/* One transaction. What is new goes with it: after that, everything that is removed was on disk. */
static int save(struct embedded *store, const bool *is_gone, uint16_t day, struct error *err)
{
	struct database *database = &store->database;
	int r = database_run(database, store->writer, "BEGIN", err);

	if (r < 0)
		return r;
	r = names_save(&store->names, database, store->writer, err);
	if (r == 0)
		r = names_save_removed(is_gone, store->names.used_days.count, day, database,
				       store->writer, err);
	if (r == 0)
		r = database_run(database, store->writer, "COMMIT", err);
	if (r < 0)
		/* A commit that failed has ended the transaction already. */
		(void)database_run(database, store->writer, "ROLLBACK", NULL);
	return r;
}

/* Questions have ids of stacks while they hold files_lock, batches know them by the generation. */
static void forget(struct embedded *store, const bool *is_gone)
{
	(void)pthread_rwlock_wrlock(&store->files_lock); /* never fails: not held by us */
	(void)pthread_rwlock_wrlock(&store->names_lock); /* likewise */
	names_saved(&store->names);
	names_remove_stacks(&store->names, is_gone);
	store->generation++;
	(void)pthread_rwlock_unlock(&store->names_lock);
	(void)pthread_rwlock_unlock(&store->files_lock);
}

/* With write_lock. */
static int remove_some(struct embedded *store, uint16_t day, struct error *err)
{
	SCOPED(mem) bool *is_gone = NULL;
	int64_t count = names_find_unused(&store->names, day, AT_ONCE, &is_gone);
	int r = 0;

	if (count < 0)
		return error_set(err, (int)count, "out of memory");
	/* Without any there are old days to remove all the same, but they can wait. */
	if (count > 0)
		r = save(store, is_gone, count < AT_ONCE ? day : 0, err);
	if (r == 0 && count > 0)
		forget(store, is_gone);
	if (r == 0 && count < AT_ONCE)
		store->unused_day = day;
	return r;
}

int unused_stacks_remove(struct embedded *store, uint64_t now_s, struct error *err)
{
	uint16_t day;
	int r = 0;

	(void)pthread_mutex_lock(&store->write_lock); /* never fails: not held by us */
	day = oldest_day(store, now_s);
	if (day != store->unused_day && !atomic_load(&store->database.failed))
		r = remove_some(store, day, err);
	(void)pthread_mutex_unlock(&store->write_lock);
	return r;
}
