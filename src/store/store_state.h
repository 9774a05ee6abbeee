/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_STORE_STATE_H
#define WICK_STORE_STORE_STATE_H

/*
 * store_state: what an open store consists of. Locks are taken in the order in which they are here.
 *
 * A query holds files_lock for reading until it has its answer, so that no file is removed under
 * it. What is sorted or merged is prepared without a lock; only the exchange takes them all.
 */

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "store/append_group.h"
#include "store/batch_ids.h"
#include "store/database.h"
#include "store/embedded.h"
#include "store/names.h"
#include "store/row_files.h"
#include "store/series.h"

/* The stack of a row that only says: at this time there were levels (see aggregate.h). */
#define STACK_MARK UINT32_MAX

/* Batches that wait to be written, in the order in which they came. */
struct append_queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct appending *first;
	struct appending **last; /* where the next one goes */
	bool is_busy;            /* a thread gathers them, or writes those that it took */
	size_t count;
	uint64_t started_ns; /* when the last transaction began */
	uint64_t sender;     /* of its last batch */
};

/* At most this many batches share a transaction. */
#define APPEND_TOGETHER_MAX 64

/*
 * If there are several senders, a transaction begins this long after the one before, or when this
 * many batches wait, which is what the server handles at once. A transaction costs about as much as
 * reading a window, however many batches it has.
 */
#define APPEND_GATHER_NS (50 * NS_PER_MS)
#define APPEND_ENOUGH 8

struct embedded {
	struct store base;          /* first */
	struct store_config config; /* with defaults filled in; texts are copies */
	char *path;                 /* of the database */

	struct append_queue queue;

	pthread_mutex_t maintain_lock;
	pthread_mutex_t write_lock; /* all that changes the database */
	struct duckdb_connection *writer;
	struct batch_ids batches;
	uint64_t reopened_ns;    /* when it was last tried, after a failure */
	unsigned int generation; /* how often it was; changes with names_lock as well */

	pthread_rwlock_t database_lock; /* held for writing while it is closed and opened again */
	struct database database;

	pthread_rwlock_t files_lock;
	struct row_files files;

	pthread_rwlock_t names_lock;
	struct names names;
	uint16_t unused_day; /* stacks that were used last before this day are removed */
	struct series_table series;

	atomic_uint_fast64_t batch_count;
	atomic_uint_fast64_t duplicates;
	atomic_uint_fast64_t commits;
};

static inline struct embedded *embedded_of(struct store *store)
{
	/* It is the first member. */
	return (struct embedded *)(void *)store;
}

/* Makes a store usable again whose database failed. With write_lock. */
int embedded_recover(struct embedded *store, struct error *err);

#endif
