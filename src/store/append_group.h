/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_APPEND_GROUP_H
#define WICK_STORE_APPEND_GROUP_H

/*
 * append_group: writes batches that wait at the same time in one transaction: one commit, which is
 * most of the cost of a small batch, makes all of them durable.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/batch_ids.h"
#include "store/names_lookup.h"

struct error;
struct embedded;
struct store_batch;

/* More would be a mistake of the sender, and a table for each. */
#define HOURS_MAX 48

/* A batch on its way into the store. It belongs to the thread that waits for it. */
struct appending {
	const struct store_batch *batch;
	struct names_lookup names;
	unsigned int generation; /* of the store in which these were found */
	uint32_t *series;        /* ids in the store by those in the batch */
	struct batch_id id;
	uint32_t hours[HOURS_MAX]; /* that its rows are in */
	size_t hour_count;
	struct error *err; /* NULL is fine */
	int result;        /* as store_append() returns it */
	bool is_done;
	struct appending *next; /* that waits */
};

/* Writes a list of batches and sets their results. With write_lock. */
void append_group(struct embedded *store, struct appending *first);

#endif
