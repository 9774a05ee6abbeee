/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_CLUSTER_PENDING_H
#define WICK_STORE_CLUSTER_PENDING_H

/* pending: a batch on its way to its shard: the rows of all tables that it is written to. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/vec.h"

struct cluster;
struct error;
struct store_batch;

/* More would be a mistake of the sender. */
#define PENDING_HOURS_MAX 48
#define PENDING_DAYS_MAX PENDING_HOURS_MAX

/* Tables of names. A row refers to those before. */
enum name_table {
	NAMES_SERIES,
	NAMES_LOCATIONS,
	NAMES_FUNCTIONS,
	NAMES_STACKS,
	NAMES_GAPS,
	NAME_TABLES
};

struct pending {
	const struct store_batch *batch;
	uint64_t high; /* of the hash of its id */
	uint64_t low;
	uint64_t sender; /* a hash; 0: unknown */
	size_t shard;
	size_t lane;
	uint32_t days[PENDING_DAYS_MAX]; /* that its rows are in */
	size_t day_count;
	size_t marks_found;
	struct bytes names[NAME_TABLES]; /* what the shard was not sent yet */
	VEC(uint64_t) known;             /* what it has when these are written */
	struct bytes rows;
	struct error *err; /* NULL is fine */
	int result;
	bool is_done;
	struct pending *next; /* that waits */
};

/* Prepares what is written. 0 or a negative errno; then too, pending_fini(). */
int pending_init(struct pending *pending, struct cluster *cluster, const struct store_batch *batch,
		 struct error *err);
void pending_fini(struct pending *pending);

/* Remembers what the shard has now. */
void pending_note_known(const struct pending *pending, struct cluster *cluster);

/* The columns of pending.rows. */
#define PENDING_COLUMNS                                                                            \
	"hi UInt64, lo UInt64, kind UInt64, series UInt64, time UInt32, stack UInt64, "            \
	"samples UInt64, value Int64"

#endif
