/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_CLUSTER_CHOICE_H
#define WICK_STORE_CLUSTER_CHOICE_H

/*
 * choice: what a selector chooses, and the SQL that sums its rows.
 *
 * Sums are read from the coarsest tables that have them exactly: whole hours of whole services from
 * samples_1h, whole steps of 5 minutes from samples_5m, the rest from samples, as long as they are
 * kept.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "store/cluster/schema.h"

struct cluster;
struct error;
struct store_selector;

/* Rows of a table and time. */
struct choice_part {
	enum row_table_kind table;
	uint32_t from_s;
	uint32_t to_s; /* not included */
};

struct choice {
	struct cluster *cluster;
	const struct store_selector *selector;
	struct bytes condition; /* for rows of the table series, in SQL; ends with NUL */
	VEC(uint64_t) kinds;
	bool is_part;       /* not all series of these kinds are chosen */
	bool has_gauges;    /* levels: averaged over time */
	uint32_t full_from; /* before this, samples has been removed */
	uint32_t from_s;    /* the selector's, but not before what is kept */
	uint32_t to_s;
	char type[64]; /* of the first series */
	char unit[32];
	uint64_t missing; /* shards that did not answer, by number */
	VEC(struct choice_part) parts;
};

/* The caller releases it with choice_fini(), in any case. */
int choice_init(struct choice *choice, struct cluster *cluster,
		const struct store_selector *selector, struct error *err);
void choice_fini(struct choice *choice);

/* Whether there is nothing to ask for. */
bool choice_is_empty(const struct choice *choice);

/* Which sums are wanted. */
struct choice_sums {
	const char *columns;   /* "stack" or "step, series" …: what is summed by; "": nothing */
	uint32_t step_s;       /* of the column step; 0: not by time */
	bool by_stack;         /* stacks matter, also for the condition */
	const char *condition; /* one more for rows, in SQL; NULL: none */
};

/* Appends "SELECT columns, s, v FROM …": the sums of samples and values. */
int choice_put_sums(struct choice *choice, struct bytes *sql, const struct choice_sums *sums,
		    struct error *err);

/*
 * Appends the time of a row of totals. Rows that are merged begin at a multiple of 5 minutes;
 * totals are not merged, but shall not say more.
 */
void choice_put_time(const struct choice *choice, struct bytes *sql);
/* Appends "… AS step": that time, in steps. */
void choice_put_step(const struct choice *choice, struct bytes *sql, uint32_t step_s);

/* Appends "FROM totals WHERE …" for the chosen rows of that table. */
void choice_put_totals(const struct choice *choice, struct bytes *sql);

/* Appends "SELECT DISTINCT series, label, gauge FROM …" for the chosen series. NULL: no label. */
void choice_put_series(const struct choice *choice, struct bytes *sql, const char *label);

/* Appends the expression for a label of the table series. */
void choice_put_label(struct bytes *sql, const char *name);

/* Appends an expression, rounded as the embedded store does it. */
void choice_put_rounded(struct bytes *sql, const char *expression);

/* Asks all shards; ret is emptied first. */
int choice_ask(struct choice *choice, const struct bytes *sql, struct bytes *ret,
	       struct error *err);

#endif
