/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_SERIES_H
#define WICK_STORE_SERIES_H

/*
 * series: which labels a number stands for.
 *
 * A series is known by its labels, put together as one text. Ids begin with 1 and never change.
 * When a service has too many, new ones have the single label other="other" instead of their own,
 * and when that does not help, host and release are "other" too: one service cannot fill the store
 * with names.
 *
 * What is new is saved like the names are (names.h). One thread changes it at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "model/entity.h"
#include "model/strings.h"
#include "store/store.h"

struct database;
struct duckdb_connection;
struct error;

struct series_table {
	struct strings keys;     /* the id of a key is that of the series */
	struct strings services; /* those that have series */
	VEC(uint32_t) counts;    /* by service: how many */
	uint32_t max;            /* for each service */
	uint64_t overflowed;     /* how often labels were lost */
	size_t saved;            /* number of keys on disk */
	struct bytes key;
};

extern const char series_table_sql[]; /* creates the table when missing */

int series_table_init(struct series_table *table, uint32_t max); /* 0 or -ENOMEM */
void series_table_fini(struct series_table *table);

/* The id of a series; ID_NONE if it is not there, or not under its own labels. */
uint32_t series_table_find(struct series_table *table, const struct store_series *series);

/* Finds or adds a series. -ENOMEM, or -E2BIG if merging labels does not help. */
int series_table_add(struct series_table *table, const struct store_series *series, uint32_t *ret,
		     struct error *err);

/* Adds what another server has made. 0 or -ENOMEM. */
int series_table_add_key(struct series_table *table, const char *key);

/* What a key says. Texts are parts of it. */
struct series_parts {
	const char *service;
	const char *type;
	const char *unit;
	bool is_gauge;
	const char *host;
	const char *release;
	struct store_label labels[LABELS_MAX]; /* sorted by name */
	size_t label_count;
};

/* Divides a key, which is changed. -EINVAL if it is no key. */
int series_split_key(char *key, struct series_parts *ret);

int series_table_load(struct series_table *table, struct database *database,
		      struct duckdb_connection *connection, struct error *err);

/* Writes what is new. The caller commits, then calls series_table_saved(). */
int series_table_save(struct series_table *table, struct database *database,
		      struct duckdb_connection *connection, struct error *err);
void series_table_saved(struct series_table *table);

#endif
