/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_CLUSTER_CLUSTER_STATE_H
#define WICK_STORE_CLUSTER_CLUSTER_STATE_H

/*
 * cluster_state: what an open store in ClickHouse consists of. All history is there; what is here
 * is a memory of what does not need to be sent again, so several servers can use one database.
 */

#include <pthread.h>
#include <stdatomic.h>

#include "model/strings.h"
#include "store/cluster/clickhouse.h"
#include "store/cluster/cluster_url.h"
#include "store/cluster/id_map.h"
#include "store/series.h"
#include "store/store_ops.h"

#define DAY_S 86400u
#define WEEK_S 604800u

/*
 * Statements that insert into a shard take turns in each lane. A sender always has the same lane,
 * so a batch that is repeated never meets itself (cluster_append.c).
 */
#define LANES 2u

struct lane {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct pending *first; /* batches that wait */
	struct pending **last;
	size_t count;
	bool is_busy;
	uint64_t started_ns; /* when the last group began */
	uint64_t sender;     /* of its last batch */
};

struct shard {
	struct lane lanes[LANES];
	pthread_mutex_t lock;
	bool is_checked;                /* its schema is ours */
	atomic_uint_fast64_t missed_ns; /* when it last did not answer a question; 0: never */
};

/* An address without a name. Texts are ids of unnamed_texts. */
struct unnamed_address {
	uint32_t build_id;
	uint32_t module;
	uint64_t vaddr;
	bool is_named; /* meanwhile */
};

struct cluster {
	struct store base; /* first */
	struct store_config config;
	struct cluster_url url;
	struct clickhouse *clickhouse;
	const char *database;
	const char *all; /* what tables that have the rows of all shards end with; "" with one */
	size_t shard_count;
	struct shard shards[CLUSTER_SHARDS_MAX];

	pthread_mutex_t series_lock;
	struct series_table series;

	pthread_mutex_t known_lock;
	struct id_map known; /* hashes of what a shard was sent already */

	pthread_mutex_t unnamed_lock;
	struct strings unnamed_texts;
	struct id_map unnamed_ids;
	VEC(struct unnamed_address) unnamed; /* by number in unnamed_ids */

	atomic_uint_fast64_t batch_count;
	atomic_uint_fast64_t duplicates;
	atomic_uint_fast64_t commits;
};

static inline struct cluster *cluster_of(struct store *store)
{
	/* It is the first member. */
	return (struct cluster *)(void *)store;
}

/* The id of a series or of a service and type, in all servers the same. Never 0. */
uint64_t cluster_series_id(const char *key);
uint64_t cluster_kind_id(const char *service, const char *type);

/*
 * Asks all shards at once. Shards that do not answer are left out and marked in *missing, so that
 * the answer can say so. ret is emptied first.
 */
int cluster_ask(struct cluster *cluster, const struct bytes *sql,
		const struct clickhouse_table *table, struct bytes *ret, uint64_t *missing,
		struct error *err);

/* Runs a statement at one shard, whose schema is checked first. */
int cluster_run_at(struct cluster *cluster, const struct clickhouse_statement *statement,
		   struct bytes *ret, struct error *err);

int cluster_append(struct store *base, const struct store_batch *batch, struct error *err);
int cluster_maintain(struct store *base, uint64_t now_s, struct error *err);
int cluster_profile(struct store *base, const struct store_selector *selector, struct profile **ret,
		    struct error *err);
int cluster_values(struct store *base, const struct store_selector *selector, const char *label,
		   store_item_fn each, void *self, struct error *err);
int cluster_label_names(struct store *base, const struct store_selector *selector,
			store_item_fn each, void *self, struct error *err);
int cluster_over_time(struct store *base, const struct store_selector *selector,
		      const struct store_over_time *what, store_item_fn each, void *self,
		      struct error *err);
int cluster_gaps(struct store *base, const struct store_selector *selector, store_item_fn each,
		 void *self, struct error *err);
int cluster_damaged(struct store *base, store_item_fn each, void *self, struct error *err);
int cluster_unnamed(struct store *base, const char *build_id, uint32_t from_id,
		    store_address_fn each, void *self, struct error *err);
int cluster_unnamed_modules(struct store *base, store_unnamed_fn each, void *self,
			    struct error *err);
int cluster_set_names(struct store *base, const struct store_naming *namings, size_t count,
		      struct error *err);
void cluster_stats(struct store *base, struct store_stats *ret);

#endif
