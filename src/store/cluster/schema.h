/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_CLUSTER_SCHEMA_H
#define WICK_STORE_CLUSTER_SCHEMA_H

/*
 * schema: the tables in ClickHouse, and how older ones become those of this version.
 *
 * Four tables have rows; they differ in what is summed. Every batch is written to each of them.
 *
 *	samples     as they were received, for as long as everything is kept
 *	samples_5m  sums over 5 minutes
 *	samples_1h  sums over an hour and all series of a service and type
 *	totals      sums over all stacks
 */

#include <stddef.h>
#include <stdint.h>

struct cluster;
struct error;

#define SCHEMA_VERSION 2u

/* Tables of rows, in the order in which a batch is written: who finds it in the last is done. */
struct row_table {
	const char *name;
	const char *series; /* columns in SQL, from those of a batch */
	const char *time;
	const char *stack;
};

enum row_table_kind { ROWS_TOTALS, ROWS_1H, ROWS_5M, ROWS_FULL, ROW_TABLES };

extern const struct row_table row_tables[ROW_TABLES];

/* Makes or upgrades the tables of a shard. -EPROTO if they are of a newer version. */
int schema_check(struct cluster *cluster, size_t shard, struct error *err);

#endif
