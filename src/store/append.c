/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "store/append_group.h"
#include "store/store_state.h"

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
static int check_rows(struct appending *appending, uint8_t *wanted)
{
	const struct store_batch *batch = appending->batch;
	uint32_t hour_s = UINT32_MAX;
	size_t i;
	int r = 0;

	for (i = 0; i < batch->row_count && r == 0; i++) {
		const struct store_row *row = &batch->rows[i];

		if (row->series >= batch->series_count)
			return refuse(appending->err, "a row has no series");
		if (row->stack >= batch->profile->stacks.nodes.count)
			return refuse(appending->err, "a row has no stack");
		wanted[row->stack] = 1;
		if (row->time_s - hour_s < HOUR_S)
			continue;
		hour_s = row->time_s - row->time_s % HOUR_S;
		r = find_hour(appending, hour_s);
	}
	return r;
}

/* Looks for the names that are known, beside other batches. */
static int find_names(struct embedded *store, struct appending *appending, const uint8_t *wanted)
{
	int r = names_lookup_init(&appending->names, appending->batch->profile, wanted);

	(void)pthread_rwlock_rdlock(&store->names_lock); /* never fails: not held by us */
	appending->generation = store->generation;
	if (r == 0 && store->names.profile)
		r = names_find(&store->names, &appending->names);
	(void)pthread_rwlock_unlock(&store->names_lock);
	return r < 0 ? no_memory(appending->err) : 0;
}

/*
 * Lets more batches come, if the last transaction began a moment ago. A sender that is alone would
 * wait in vain: it sends nothing until it has its answer. Called with the lock, which is released
 * meanwhile.
 */
static void gather(struct append_queue *queue)
{
	uint64_t until_ns = queue->started_ns + APPEND_GATHER_NS;
	struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_SEC),
				 .tv_nsec = (long)(until_ns % NS_PER_SEC)};
	bool alone = queue->count == 1 && queue->first->id.sender == queue->sender;
	bool late = false;

	while (!alone && !late && queue->count < APPEND_ENOUGH)
		late = pthread_cond_timedwait(&queue->changed, &queue->lock, &until) != 0;
	queue->started_ns = clock_monotonic_ns();
}

/* Writes what waits at the queue. Called with its lock, which is released meanwhile. */
static void write_waiting(struct embedded *store, struct append_queue *queue)
{
	struct appending *taken[APPEND_TOGETHER_MAX];
	struct appending *first;
	struct appending *item;
	size_t count = 0;

	queue->is_busy = true;
	gather(queue);
	first = queue->first;
	for (item = first; item && count < APPEND_TOGETHER_MAX; item = item->next)
		taken[count++] = item;
	taken[count - 1]->next = NULL;
	queue->sender = taken[count - 1]->id.sender;
	queue->first = item;
	queue->count -= count;
	if (!item)
		queue->last = &queue->first;
	(void)pthread_mutex_unlock(&queue->lock);
	(void)pthread_mutex_lock(&store->write_lock); /* never fails: not held by us */
	append_group(store, first);
	(void)pthread_mutex_unlock(&store->write_lock);
	(void)pthread_mutex_lock(&queue->lock); /* likewise */
	while (count > 0)
		taken[--count]->is_done = true;
	queue->is_busy = false;
	(void)pthread_cond_broadcast(&queue->changed); /* cannot fail */
}

/* Waits until the batch is written. Who finds nobody writing writes for all. */
static void write_in_turn(struct embedded *store, struct appending *appending)
{
	struct append_queue *queue = &store->queue;

	(void)pthread_mutex_lock(&queue->lock); /* never fails: not held by us */
	*queue->last = appending;
	queue->last = &appending->next;
	if (++queue->count >= APPEND_ENOUGH)
		(void)pthread_cond_broadcast(&queue->changed); /* cannot fail */
	while (!appending->is_done) {
		if (queue->is_busy)
			(void)pthread_cond_wait(&queue->changed, &queue->lock); /* cannot fail */
		else
			write_waiting(store, queue);
	}
	(void)pthread_mutex_unlock(&queue->lock);
}

/* What can be done beside other batches, then the rest in turn. */
static int append(struct embedded *store, struct appending *appending)
{
	const struct store_batch *batch = appending->batch;
	size_t nodes = batch->profile ? batch->profile->stacks.nodes.count : 0;
	SCOPED(mem) uint8_t *wanted = calloc(nodes + 1, 1);
	SCOPED(mem) uint32_t *series = calloc(batch->series_count + 1, sizeof(*series));
	int r = 0;

	if (!wanted || !series)
		return no_memory(appending->err);
	appending->series = series;
	if (batch->row_count > 0)
		r = check_rows(appending, wanted);
	if (r == 0 && batch->row_count > 0)
		r = find_names(store, appending, wanted);
	if (r == 0) {
		write_in_turn(store, appending);
		r = appending->result;
	}
	names_lookup_fini(&appending->names);
	return r;
}

int embedded_append(struct store *base, const struct store_batch *batch, struct error *err)
{
	struct embedded *store = embedded_of(base);
	struct appending appending = {
		.batch = batch,
		.id = batch_id_of(batch->id, batch->sender, clock_realtime_ns() / NS_PER_SEC),
		.err = err,
	};

	if (batch->row_count > 0 && !batch->profile)
		return refuse(err, "its rows have no profile");
	return append(store, &appending);
}
