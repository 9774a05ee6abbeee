/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_BATCH_IDS_H
#define WICK_STORE_BATCH_IDS_H

/*
 * batch_ids: which batches were stored already, by a 128-bit hash of their ids.
 *
 * A sender that sends in order, and repeats a batch until it is acknowledged, can repeat only what
 * it sent last. So only the last BATCH_IDS_OF_SENDER of each sender are remembered, a few kilobytes
 * for an agent, and for longer than an agent may keep a window (--spool-age is at most 366 days).
 * Batches without a sender are remembered for a week.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"

struct database;
struct duckdb_connection;
struct error;

#define BATCH_IDS_OF_SENDER 16u
#define BATCH_ID_AGE_S (367u * 86400u)
#define BATCH_ID_STRANGE_AGE_S (7u * 86400u) /* without a sender */

struct batch_id {
	uint64_t high;
	uint64_t low;
	uint64_t sender; /* a hash; 0: unknown */
	uint32_t stored_s;
};

struct batch_ids {
	VEC(struct batch_id) items; /* in the order in which they came */
	struct id_index index;
	uint64_t pruned_s; /* when that was done */
};

extern const char batch_ids_sql[]; /* creates the table when missing */

/* sender may be NULL. */
struct batch_id batch_id_of(const char *text, const char *sender, uint64_t now_s);
bool batch_ids_has(const struct batch_ids *ids, const struct batch_id *id);
int batch_ids_add(struct batch_ids *ids, const struct batch_id *id); /* 0 or -ENOMEM */
void batch_ids_fini(struct batch_ids *ids);

int batch_ids_load(struct batch_ids *ids, struct database *database,
		   struct duckdb_connection *connection, struct error *err);
int batch_ids_save(const struct batch_id *ids, size_t count, struct database *database,
		   struct duckdb_connection *connection, struct error *err);

/* Forgets what cannot come again, on disk as well; now and then, not at each call. */
int batch_ids_prune(struct batch_ids *ids, uint64_t now_s, struct database *database,
		    struct duckdb_connection *connection, struct error *err);

#endif
