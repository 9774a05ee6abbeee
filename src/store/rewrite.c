/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "store/aggregate.h"
#include "store/store_state.h"

#define PATH_SIZE 120
/* What each sample is worth, if that explains the value (ROW_FILES_READ). */
#define WEIGHT_SQL                                                                                 \
	"(CASE WHEN samples > 0 AND value %% samples = 0 THEN value // samples ELSE 0 END)"

struct rewriting {
	struct embedded *store;
	uint32_t hour_s;
	uint32_t step_s;
	unsigned int generation; /* of the database that it began with */
	VEC(struct hot_table) tables;
	VEC(char *) files; /* their paths */
	char folder[PATH_SIZE];
	char temporary[2 * PATH_SIZE];
	struct row_file *result;
	struct error *err;
};

static int no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

static int add_path(struct rewriting *rewriting, const char *path)
{
	char *copy = strdup(path);

	if (copy && vec_push(&rewriting->files, copy) == 0)
		return 0;
	free(copy);
	return -ENOMEM;
}

/* Collects where the rows of the hour are. Nothing is added to these tables from now on. */
static int collect(struct rewriting *rewriting)
{
	struct embedded *store = rewriting->store;
	size_t i;
	int r = 0;

	(void)pthread_mutex_lock(&store->write_lock); /* never fails: not held by us */
	rewriting->generation = store->generation;
	for (i = 0; i < store->files.hot.count && r == 0; i++) {
		struct hot_table *table = &store->files.hot.items[i];

		if (table->hour_s != rewriting->hour_s)
			continue;
		table->is_sealed = true;
		r = vec_push(&rewriting->tables, *table);
	}
	for (i = 0; i < store->files.files.count && r == 0; i++) {
		struct row_file *file = store->files.files.items[i];

		/* A damaged one stays as it is: perhaps somebody can repair it. */
		if (file->hour_s == rewriting->hour_s && row_file_check(&store->files, file))
			r = add_path(rewriting, file->path);
	}
	(void)pthread_mutex_unlock(&store->write_lock);
	return r < 0 ? no_memory(rewriting->err) : 0;
}

static int name_file(struct rewriting *rewriting)
{
	time_t start = (time_t)rewriting->hour_s;
	uint64_t unique = clock_realtime_ns();
	struct row_file *file = calloc(1, sizeof(*file));
	struct tm date;
	char hour[32];

	if (!file)
		return no_memory(rewriting->err);
	rewriting->result = file;
	file->hour_s = rewriting->hour_s;
	file->step_s = rewriting->step_s;
	(void)gmtime_r(&start, &date); /* 32 bits of seconds are a valid time */
	(void)strftime(hour, sizeof(hour), "%Y-%m-%dT%H", &date);
	(void)snprintf(rewriting->folder, PATH_SIZE, "rows/hour=%s", hour);
	(void)snprintf(rewriting->temporary, sizeof(rewriting->temporary),
		       "%s/rows-%" PRIx64 ".tmp", rewriting->folder, unique);
	if (asprintf(&file->path, "%s/rows-%" PRIx64 ".parquet", rewriting->folder, unique) < 0) {
		file->path = NULL;
		return no_memory(rewriting->err);
	}
	if (mkdirat(rewriting->store->files.folder_fd, rewriting->folder, 0700) < 0 &&
	    errno != EEXIST)
		return error_file(rewriting->err, -errno, "cannot create %s/%s",
				  rewriting->store->files.folder, rewriting->folder);
	return 0;
}

static void put_sources(const struct rewriting *rewriting, struct bytes *sql)
{
	static const char columns[] = "series, time, stack, samples, value";
	char name[HOT_NAME_MAX];
	const char *between = "";
	size_t i;

	for (i = 0; i < rewriting->tables.count; i++, between = " UNION ALL ") {
		hot_table_name(&rewriting->tables.items[i], name, sizeof(name));
		bytes_printf(sql, "%sSELECT %s FROM %s", between, columns, name);
	}
	for (i = 0; i < rewriting->files.count; i++, between = " UNION ALL ") {
		bytes_printf(sql, "%sSELECT %s FROM " ROW_FILES_READ, between, columns);
		row_files_put_path(&rewriting->store->files, sql, rewriting->files.items[i]);
		bytes_printf(sql, ROW_FILES_READ_END);
	}
}

/* Rows of the same series, time and stack become one. Marks (aggregate.h) count once. */
static void put_merged(const struct rewriting *rewriting, struct bytes *sql)
{
	bytes_printf(sql,
		     "SELECT series, time, stack, least(CASE WHEN stack = %" PRIu32
		     " THEN max(samples) ELSE sum(samples) END, 4294967295)::UINTEGER AS "
		     "samples, " SQL_VALUE_SUM " AS value FROM (",
		     STACK_MARK);
	put_sources(rewriting, sql);
	bytes_printf(sql, ") GROUP BY series, time, stack");
}

static void put_copy(const struct rewriting *rewriting, struct bytes *sql)
{
	bytes_printf(sql, "COPY (SELECT service, type, stack, series, time, samples, " WEIGHT_SQL
			  " AS weight, "
			  "value - samples * " WEIGHT_SQL " AS rest FROM (");
	if (rewriting->step_s > 0) {
		bytes_printf(sql,
			     "SELECT series, stack, (time - time %% %" PRIu32
			     ")::UINTEGER AS time, "
			     "least(sum(samples), 4294967295)::UINTEGER AS samples, " SQL_VALUE_SUM
			     " AS value FROM (",
			     rewriting->step_s);
		put_merged(rewriting, sql);
		bytes_printf(sql, ") GROUP BY ALL");
	} else {
		put_merged(rewriting, sql);
	}
	bytes_printf(sql, ") JOIN (SELECT id AS series, service, type FROM series) USING (series) "
			  "ORDER BY service, type, stack, series, time) TO ");
	row_files_put_path(&rewriting->store->files, sql, rewriting->temporary);
	bytes_printf(sql, " (FORMAT parquet, COMPRESSION zstd)");
}

/* Runs on a connection of its own: questions and batches go on meanwhile. */
static int copy_rows(struct rewriting *rewriting)
{
	struct embedded *store = rewriting->store;
	struct duckdb_connection *connection = NULL;
	struct bytes sql = {0};
	int r;

	(void)pthread_rwlock_rdlock(&store->database_lock); /* never fails: not held by us */
	r = database_connect(&store->database, &connection, rewriting->err);
	if (r == 0) {
		put_copy(rewriting, &sql);
		r = database_run_bytes(&store->database, connection, &sql, rewriting->err);
	}
	database_disconnect(&store->database, &connection);
	(void)pthread_rwlock_unlock(&store->database_lock);
	bytes_fini(&sql);
	return r;
}

static int sync_path(int folder_fd, const char *path, int flags)
{
	SCOPED(fd) int fd = openat(folder_fd, path, O_RDONLY | O_CLOEXEC | flags);

	return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

/* Makes the file last, then gives it its name. */
static int settle(struct rewriting *rewriting)
{
	struct row_file *file = rewriting->result;
	int folder_fd = rewriting->store->files.folder_fd;
	int r = sync_path(folder_fd, rewriting->temporary, 0);

	if (r == 0)
		r = row_file_measure(folder_fd, rewriting->temporary, &file->bytes,
				     &file->checksum);
	if (r == 0 && renameat(folder_fd, rewriting->temporary, folder_fd, file->path) < 0)
		r = -errno;
	if (r == 0)
		r = sync_path(folder_fd, rewriting->folder, O_DIRECTORY);
	if (r == 0)
		r = sync_path(folder_fd, "rows", O_DIRECTORY);
	atomic_store(&file->state, FILE_GOOD);
	return r < 0 ? error_file(rewriting->err, r, "cannot write %s/%s",
				  rewriting->store->files.folder, file->path)
		     : 0;
}

static int count_rows(struct rewriting *rewriting)
{
	struct embedded *store = rewriting->store;
	struct bytes sql = {0};
	struct answer answer;
	int r;

	bytes_printf(&sql, "SELECT count(*) FROM read_parquet(");
	row_files_put_path(&store->files, &sql, rewriting->result->path);
	bytes_printf(&sql, ")");
	r = database_query(&store->database, store->writer, &sql, &answer, rewriting->err);
	bytes_fini(&sql);
	if (r < 0)
		return r;
	if (answer_next(&answer))
		rewriting->result->rows = (uint64_t)((const int64_t *)answer_column(&answer, 0))[0];
	answer_end(&answer);
	return 0;
}

/* The statements of the exchange. */
static void put_exchange(const struct rewriting *rewriting, struct bytes *sql)
{
	const struct row_file *file = rewriting->result;
	char name[HOT_NAME_MAX];
	size_t i;

	bytes_printf(sql, "BEGIN;");
	for (i = 0; i < rewriting->tables.count; i++) {
		hot_table_name(&rewriting->tables.items[i], name, sizeof(name));
		bytes_printf(sql, "DROP TABLE %s;", name);
	}
	for (i = 0; i < rewriting->files.count; i++)
		bytes_printf(sql, "DELETE FROM files WHERE path = '%s';",
			     rewriting->files.items[i]);
	bytes_printf(sql,
		     "INSERT INTO files VALUES ('%s', %" PRIu32 ", %" PRIu32 ", %" PRIu64
		     ", %" PRIu64 ", %" PRIu64 ");",
		     file->path, file->hour_s, file->step_s, file->rows, file->bytes,
		     file->checksum);
	bytes_printf(sql,
		     "DELETE FROM hours WHERE hour_s = %" PRIu32 ";"
		     "INSERT INTO hours SELECT %" PRIu32 ", * FROM (" HOUR_SUMS_SQL
		     " FROM (" HOUR_TIMES_SQL " FROM " ROW_FILES_READ,
		     file->hour_s, file->hour_s);
	row_files_put_path(&rewriting->store->files, sql, file->path);
	bytes_printf(sql, ROW_FILES_READ_END " GROUP BY series, time) GROUP BY series); COMMIT;");
}

static void forget_replaced(struct rewriting *rewriting)
{
	struct row_files *files = &rewriting->store->files;
	size_t kept = 0;
	size_t i;

	for (i = 0; i < files->hot.count; i++)
		if (files->hot.items[i].hour_s != rewriting->hour_s ||
		    !files->hot.items[i].is_sealed)
			files->hot.items[kept++] = files->hot.items[i];
	files->hot.count = kept;
	for (i = 0; i < rewriting->files.count; i++)
		row_files_remove(files, rewriting->files.items[i]);
	row_files_insert(files, scope_take(&rewriting->result));
}

/* With write_lock. */
static int exchange(struct rewriting *rewriting)
{
	struct embedded *store = rewriting->store;
	struct bytes sql = {0};
	int r;

	if (store->generation != rewriting->generation || atomic_load(&store->database.failed)) {
		(void)error_set(rewriting->err, -EAGAIN, "%s was reopened during the rewrite",
				store->path);
		error_remedy(rewriting->err, "do nothing: wick tries again later");
		return -EAGAIN;
	}
	r = count_rows(rewriting);
	if (r == 0 && vec_reserve(&store->files.files, store->files.files.count + 1) < 0)
		r = no_memory(rewriting->err);
	if (r < 0)
		return r;
	put_exchange(rewriting, &sql);
	(void)pthread_rwlock_wrlock(&store->files_lock); /* never fails: not held by us */
	r = database_run_bytes(&store->database, store->writer, &sql, rewriting->err);
	if (r < 0)
		/* If it was the commit that failed, there is no transaction any more. */
		(void)database_run(&store->database, store->writer, "ROLLBACK", NULL);
	else
		forget_replaced(rewriting);
	(void)pthread_rwlock_unlock(&store->files_lock);
	bytes_fini(&sql);
	return r;
}

int rewrite_hour(struct embedded *store, uint32_t hour_s, uint32_t step_s, struct error *err)
{
	struct rewriting rewriting = {
		.store = store, .hour_s = hour_s, .step_s = step_s, .err = err};
	int r = collect(&rewriting);

	if (r == 0 && rewriting.tables.count + rewriting.files.count > 0) {
		r = name_file(&rewriting);
		if (r == 0)
			r = copy_rows(&rewriting);
		if (r == 0)
			r = settle(&rewriting);
		if (r == 0) {
			(void)pthread_mutex_lock(&store->write_lock); /* not held by us */
			r = exchange(&rewriting);
			(void)pthread_mutex_unlock(&store->write_lock);
		}
	}
	if (r < 0 && rewriting.result) {
		/* A commit may have succeeded although it reported a failure: then it is listed. */
		(void)unlinkat(store->files.folder_fd, rewriting.temporary, 0);
		if (!atomic_load(&store->database.failed) && rewriting.result->path)
			(void)unlinkat(store->files.folder_fd, rewriting.result->path, 0);
	}
	row_file_free(rewriting.result);
	vec_fini(&rewriting.tables);
	for (size_t i = 0; i < rewriting.files.count; i++)
		free(rewriting.files.items[i]);
	vec_fini(&rewriting.files);
	return r;
}
