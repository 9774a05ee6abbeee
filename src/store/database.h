/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_DATABASE_H
#define WICK_STORE_DATABASE_H

/*
 * database: statements, answers and bulk inserts of a DuckDB file.
 *
 * A connection is used by one thread at a time; a database has as many as are wanted.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "store/duckdb_library.h"

struct error;

struct database {
	struct duckdb_library library;
	struct duckdb_database *handle;
	atomic_bool failed; /* it refuses everything until it is opened again */
};

/* Opens a file, created when missing. memory_bytes is the limit of DuckDB's own memory. */
int database_open(struct database *database, const char *path, uint64_t memory_bytes,
		  struct error *err);
void database_close(struct database *database);

int database_connect(struct database *database, struct duckdb_connection **ret, struct error *err);
void database_disconnect(struct database *database, struct duckdb_connection **connection);

/* Runs statements that have no answer. */
int database_run(struct database *database, struct duckdb_connection *connection, const char *sql,
		 struct error *err);
/* The same for text built in sql; fails if building it ran out of memory. Clears sql. */
int database_run_bytes(struct database *database, struct duckdb_connection *connection,
		       struct bytes *sql, struct error *err);

/* An answer, read in chunks of rows. Starts with database_query() and always ends with _end(). */
struct answer {
	struct database *database;
	struct duckdb_result result;
	struct duckdb_chunk *chunk;
	size_t count; /* rows of the chunk */
	bool is_open;
};

int database_query(struct database *database, struct duckdb_connection *connection,
		   struct bytes *sql, struct answer *ret, struct error *err);
bool answer_next(struct answer *answer); /* false: no more chunks */
void answer_end(struct answer *answer);

/* A column of the chunk: an array of the column's type. */
const void *answer_column(const struct answer *answer, unsigned int column);
/* A text of the chunk, which does not end with NUL. Returns its size. */
size_t answer_text(const struct answer *answer, unsigned int column, size_t row, const char **ret);

#define APPENDER_COLUMNS_MAX 8

/* A bulk insert into a table, column by column. Starts with appender_open(), ends with _close(). */
struct appender {
	struct database *database;
	struct duckdb_appender *handle;
	struct duckdb_chunk *chunk;
	size_t count; /* rows of the chunk */
	size_t capacity;
	size_t column_count;
	void *columns[APPENDER_COLUMNS_MAX];
	int result; /* of the first failure, whose text is in err */
	struct error *err;
};

/*
 * types has a letter for each column: b(oolean) u(int32) U(int64) I(nt64) t(ext) m(ap of texts).
 * Borrows err.
 */
int appender_open(struct appender *appender, struct database *database,
		  struct duckdb_connection *connection, const char *table, const char *types,
		  struct error *err);
/* The index of a new row in each of the columns. */
size_t appender_row(struct appender *appender);
void appender_put_text(struct appender *appender, unsigned int column, size_t row,
		       const char *text);
/* Makes the map of a new row, which is empty; then adds pairs to it. */
void appender_begin_map(struct appender *appender, unsigned int column, size_t row);
void appender_put_pair(struct appender *appender, unsigned int column, size_t row, const char *key,
		       const char *value);
int appender_close(struct appender *appender); /* 0, or the first failure */

static inline void appender_put_u32(struct appender *appender, unsigned int column, size_t row,
				    uint32_t value)
{
	((uint32_t *)appender->columns[column])[row] = value;
}

static inline void appender_put_u64(struct appender *appender, unsigned int column, size_t row,
				    uint64_t value)
{
	((uint64_t *)appender->columns[column])[row] = value;
}

static inline void appender_put_bool(struct appender *appender, unsigned int column, size_t row,
				     bool value)
{
	((bool *)appender->columns[column])[row] = value;
}

/* Appends a text as a literal of SQL, in quotes. */
void sql_put_text(struct bytes *sql, const char *text);

#endif
