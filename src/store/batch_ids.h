/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_BATCH_IDS_H
#define WICK_STORE_BATCH_IDS_H

/*
 * batch_ids: which batches were stored already, by a 128-bit hash of their ids. They are forgotten
 * after a week, so a batch that is sent again later is stored twice. An agent keeps a window for a
 * day, unless --spool-age is longer.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"

struct database;
struct duckdb_connection;
struct error;

#define BATCH_ID_AGE_S (7u * 86400u)

struct batch_id {
	uint64_t high;
	uint64_t low;
	uint32_t stored_s;
};

struct batch_ids {
	VEC(struct batch_id) items;
	struct id_index index;
};

extern const char batch_ids_sql[]; /* creates the table when missing */

struct batch_id batch_id_of(const char *text, uint64_t now_s);
bool batch_ids_has(const struct batch_ids *ids, const struct batch_id *id);
int batch_ids_add(struct batch_ids *ids, const struct batch_id *id); /* 0 or -ENOMEM */
void batch_ids_fini(struct batch_ids *ids);

int batch_ids_load(struct batch_ids *ids, struct database *database,
		   struct duckdb_connection *connection, struct error *err);
int batch_ids_save(const struct batch_id *ids, size_t count, struct database *database,
		   struct duckdb_connection *connection, struct error *err);

/* Forgets what is old, on disk as well. */
int batch_ids_prune(struct batch_ids *ids, uint64_t now_s, struct database *database,
		    struct duckdb_connection *connection, struct error *err);

#endif
