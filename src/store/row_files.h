/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_ROW_FILES_H
#define WICK_STORE_ROW_FILES_H

/*
 * row_files: where the rows are: a table for each hour that is still being written (hot), and a
 * Parquet file for each hour that is closed.
 *
 * The table "files" lists the files that count. A file that is not in it is left over from a crash
 * and is removed. A file whose bytes are not those that were written is damaged: it is reported
 * and left out of answers, which come from the others.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/vec.h"

struct database;
struct duckdb_connection;
struct error;

#define HOUR_S 3600u

struct hot_table {
	uint32_t hour_s; /* its start */
	uint32_t number; /* several of one hour: one is written, the others are being sorted */
	uint64_t rows;
	bool is_sealed;     /* nothing more is added to it */
	uint64_t seen_rows; /* at the last maintenance */
	uint64_t quiet_s;   /* it has not grown since then */
};

enum row_file_state { FILE_UNCHECKED, FILE_GOOD, FILE_DAMAGED };

struct row_file {
	char *path; /* below the store's folder */
	uint32_t hour_s;
	uint32_t step_s; /* length of the buckets that rows were merged into; 0: none */
	uint64_t rows;
	uint64_t bytes;
	uint64_t checksum;
	atomic_int state; /* enum row_file_state */
};

struct row_files {
	int folder_fd;
	const char *folder; /* borrowed */
	VEC(struct hot_table) hot;
	VEC(struct row_file *) files; /* by hour */
};

extern const char row_files_sql[]; /* creates the tables when missing */

void row_files_fini(struct row_files *files);

/* Reads the lists and removes what is left over from a crash. */
int row_files_load(struct row_files *files, struct database *database,
		   struct duckdb_connection *connection, struct error *err);

/* The table that new rows of an hour go to, or NULL. */
struct hot_table *row_files_hot(struct row_files *files, uint32_t hour_s);
/* Its name in the database. */
void hot_table_name(const struct hot_table *table, char *ret, size_t size);
#define HOT_NAME_MAX 40

/* The file of an hour, or NULL. */
struct row_file *row_files_find(const struct row_files *files, uint32_t hour_s);
/* Adds a file, for which there must be room, and keeps the order. Takes it over. */
void row_files_insert(struct row_files *files, struct row_file *file);
/* Takes a file from the list and deletes it. */
void row_files_remove(struct row_files *files, const char *path);
void row_file_free(struct row_file *file); /* NULL is fine */

/* Whether a file can be read; its bytes are compared once. */
bool row_file_check(const struct row_files *files, struct row_file *file);
/* Makes the next check compare them again. */
void row_files_recheck(struct row_files *files);

/* Appends the whole path of a file as a literal of SQL. */
void row_files_put_path(const struct row_files *files, struct bytes *sql, const char *path);

/*
 * SQL that reads files as a table with the columns of a hot one, and service and type: the parts
 * before and after the list of paths. In most types each sample has the same value. So a file has
 * the samples, that value (weight), and what it does not explain (rest): half the size of samples
 * and values.
 */
#define ROW_FILES_READ                                                                             \
	"(SELECT service, type, stack, series, time, samples, samples * weight + rest AS value "   \
	"FROM read_parquet(["
#define ROW_FILES_READ_END "], hive_partitioning = false))"

/* Reads size and checksum of a file. 0 or -errno. */
int row_file_measure(int folder_fd, const char *path, uint64_t *ret_bytes, uint64_t *ret_checksum);

#endif
