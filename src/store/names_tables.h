/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_NAMES_TABLES_H
#define WICK_STORE_NAMES_TABLES_H

/*
 * names_tables: the names in the database: the tables functions, locations, lines and stacks, and
 * calls, which leads from a function to the stacks that it is in.
 */

#include "store/names.h"

extern const char names_tables_sql[]; /* creates them when missing */

/* Fills empty names from the tables. */
int names_load(struct names *names, struct database *database, struct duckdb_connection *connection,
	       struct error *err);

/* Writes what is new. The caller commits, then calls names_saved(). */
int names_save(const struct names *names, struct database *database,
	       struct duckdb_connection *connection, struct error *err);
void names_saved(struct names *names);

/*
 * Removes the stacks that are marked, of count, from the tables, and of the others the days before
 * this one, which later days have replaced. The caller commits.
 */
int names_save_removed(const bool *is_gone, size_t count, uint16_t day, struct database *database,
		       struct duckdb_connection *connection, struct error *err);

/* Writes the new names of locations, and of the stacks that they are in. The caller commits. */
int names_save_renamed(const struct names *names, const names_ids *locations,
		       struct database *database, struct duckdb_connection *connection,
		       struct error *err);

#endif
