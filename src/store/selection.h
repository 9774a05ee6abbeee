/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_SELECTION_H
#define WICK_STORE_SELECTION_H

/*
 * selection: a query of the store while it runs: the series that a selector chooses, and the SQL
 * that reads their rows.
 *
 * It holds the locks of the store from begin to end: files stay where they are.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/vec.h"

struct duckdb_connection;
struct error;
struct embedded;
struct store_selector;

struct selection {
	struct embedded *store;
	const struct store_selector *selector;
	struct duckdb_connection *connection;
	VEC(uint32_t) series;
	VEC(uint32_t) left_out; /* other series of the same services and type */
	struct bytes services;  /* as a list in SQL */
	struct bytes types;
	bool is_part;     /* some series of these services are not chosen */
	bool has_types;   /* the store has more than one type */
	bool has_gauges;  /* levels: averaged over time */
	char unit[32];    /* of the first series */
	char type[64];    /* likewise */
	uint32_t damaged; /* files that were left out */
};

/* After success always call selection_end(). */
int selection_begin(struct selection *selection, struct embedded *store,
		    const struct store_selector *selector, struct error *err);
void selection_end(struct selection *selection);

/* Which rows: those of tables and files, or only those that are in no summary of an hour. */
enum selection_rows { ROWS_ALL, ROWS_NOT_SUMMED };

/*
 * Appends "SELECT columns FROM …" for all chosen rows, whose columns are series, time, stack,
 * samples and value. condition is one more condition for rows, or NULL.
 */
void selection_put_rows(struct selection *selection, struct bytes *sql, const char *columns,
			const char *condition, enum selection_rows which);

/* Appends the condition for series, "series IN (…)". */
void selection_put_series(const struct selection *selection, struct bytes *sql);

/* Whether the whole hour is asked for. */
bool selection_has_hour(const struct selection *selection, uint32_t hour_s);

/* Appends the expression for a label of the table of series. */
void selection_put_label(struct bytes *sql, const char *name);

#endif
