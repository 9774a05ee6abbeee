/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "store/names_tables.h"
#include "store/store_state.h"

#define DEFAULT_MEMORY_BYTES (1ull << 30)
#define DEFAULT_FULL_S (30ull * 86400)
#define DEFAULT_MERGED_S (365ull * 86400)
#define DEFAULT_MAX_SERIES 2000
#define RECOVER_EVERY_NS (1 * NS_PER_SEC)
#define FORMAT_VERSION "1"
#define LOG_NAME "store.duckdb.wal"

static const char gaps_sql[] = "CREATE TABLE IF NOT EXISTS gaps (host VARCHAR, from_s UINTEGER, "
			       "to_s UINTEGER, reason VARCHAR);";
static const char format_sql[] =
	"CREATE TABLE IF NOT EXISTS format AS SELECT " FORMAT_VERSION " AS version;";

static int create_tables(struct embedded *store, struct error *err)
{
	const char *const tables[] = {format_sql,    names_tables_sql, series_table_sql,
				      batch_ids_sql, row_files_sql,    gaps_sql};
	size_t i;
	int r = 0;

	for (i = 0; i < ARRAY_SIZE(tables) && r == 0; i++)
		r = database_run(&store->database, store->writer, tables[i], err);
	return r;
}

static int check_format(struct embedded *store, struct error *err)
{
	struct bytes sql = {0};
	struct answer answer;
	bool is_ours = false;
	int r;

	bytes_printf(&sql, "SELECT version = " FORMAT_VERSION " FROM format");
	r = database_query(&store->database, store->writer, &sql, &answer, err);
	bytes_fini(&sql);
	if (r < 0)
		return r;
	if (answer_next(&answer))
		is_ours = ((const bool *)answer_column(&answer, 0))[0];
	answer_end(&answer);
	if (is_ours)
		return 0;
	(void)error_set(err, -EPROTO, "%s was written by another version of wick", store->path);
	error_remedy(err, "use that version, or another folder");
	return -EPROTO;
}

/* Empties what is in memory. */
static void forget(struct embedded *store)
{
	store_names_fini(&store->names);
	series_table_fini(&store->series);
	batch_ids_fini(&store->batches);
	row_files_fini(&store->files);
	database_disconnect(&store->database, &store->writer);
	database_close(&store->database);
}

static int load_tables(struct embedded *store, struct error *err)
{
	struct database *database = &store->database;
	int r = names_load(&store->names, database, store->writer, err);

	if (r == 0)
		r = series_table_load(&store->series, database, store->writer, err);
	if (r == 0)
		r = batch_ids_load(&store->batches, database, store->writer, err);
	if (r == 0)
		r = row_files_load(&store->files, database, store->writer, err);
	return r;
}

/* Opens the database and reads everything that is kept in memory. */
static int load(struct embedded *store, struct error *err)
{
	int r;

	if (store_names_init(&store->names) < 0 ||
	    series_table_init(&store->series, store->config.max_series) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	r = database_open(&store->database, store->path, store->config.memory_bytes, err);
	if (r == 0)
		r = database_connect(&store->database, &store->writer, err);
	if (r == 0)
		/* The footers of the files are most of the cost of a short question. */
		r = database_run(&store->database, store->writer,
				 "SET GLOBAL parquet_metadata_cache = true;"
				 "SET GLOBAL preserve_insertion_order = false;",
				 err);
	if (r == 0)
		r = create_tables(store, err);
	if (r == 0)
		r = check_format(store, err);
	return r < 0 ? r : load_tables(store, err);
}

int embedded_recover(struct embedded *store, struct error *err)
{
	uint64_t now_ns = clock_monotonic_ns();
	int r;

	if (!atomic_load(&store->database.failed))
		return 0;
	if (now_ns - store->reopened_ns < RECOVER_EVERY_NS) {
		(void)error_set(err, -EIO, "%s failed and has not been reopened yet", store->path);
		error_remedy(err, "try again in a second; check that the disk has room");
		return -EIO;
	}
	store->reopened_ns = now_ns;
	(void)pthread_rwlock_wrlock(&store->database_lock); /* never fails: not held by us */
	(void)pthread_rwlock_wrlock(&store->files_lock);    /* likewise */
	(void)pthread_rwlock_wrlock(&store->names_lock);    /* likewise */
	store->generation++;
	forget(store);
	r = load(store, err);
	if (r < 0)
		atomic_store(&store->database.failed, true);
	(void)pthread_rwlock_unlock(&store->names_lock);
	(void)pthread_rwlock_unlock(&store->files_lock);
	(void)pthread_rwlock_unlock(&store->database_lock);
	log_info("store: opened again after a failure: %s", r < 0 ? "failed" : "done");
	return r;
}

static int open_folder(struct embedded *store, const char *folder, struct error *err)
{
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return error_file(err, -errno, "cannot create %s", folder);
	store->files.folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (store->files.folder_fd < 0)
		return error_file(err, -errno, "cannot open %s", folder);
	if (mkdirat(store->files.folder_fd, "rows", 0700) < 0 && errno != EEXIST)
		return error_file(err, -errno, "cannot create %s/rows", folder);
	store->config.folder = strdup(folder);
	store->files.folder = store->config.folder;
	if (!store->config.folder || asprintf(&store->path, "%s/store.duckdb", folder) < 0) {
		store->path = NULL;
		return error_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

static void set_defaults(struct store_config *config)
{
	if (config->memory_bytes == 0)
		config->memory_bytes = DEFAULT_MEMORY_BYTES;
	if (config->keep_full_s == 0)
		config->keep_full_s = DEFAULT_FULL_S;
	if (config->keep_merged_s == 0)
		config->keep_merged_s = DEFAULT_MERGED_S;
	if (config->max_series == 0)
		config->max_series = DEFAULT_MAX_SERIES;
}

static void init_locks(struct embedded *store)
{
	pthread_rwlockattr_t attributes;
	pthread_condattr_t condition;

	/* None of these can fail with these arguments. The clock is one that nobody sets. */
	(void)pthread_mutex_init(&store->queue.lock, NULL);
	(void)pthread_condattr_init(&condition);
	(void)pthread_condattr_setclock(&condition, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&store->queue.changed, &condition);
	(void)pthread_condattr_destroy(&condition);
	store->queue.last = &store->queue.first;
	(void)pthread_mutex_init(&store->maintain_lock, NULL);
	(void)pthread_mutex_init(&store->write_lock, NULL);
	(void)pthread_rwlockattr_init(&attributes);
	/* Otherwise a row of queries would keep a writer out for ever. */
	(void)pthread_rwlockattr_setkind_np(&attributes,
					    PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	(void)pthread_rwlock_init(&store->database_lock, &attributes);
	(void)pthread_rwlock_init(&store->files_lock, &attributes);
	(void)pthread_rwlock_init(&store->names_lock, &attributes);
	(void)pthread_rwlockattr_destroy(&attributes);
}

static uint64_t file_bytes(const struct embedded *store, const char *name)
{
	struct stat info;

	return fstatat(store->files.folder_fd, name, &info, 0) == 0 ? (uint64_t)info.st_size : 0;
}

/*
 * Reads the store, and writes what a crash left in the log of the database to where it belongs.
 * Otherwise the log would be read again at each start until it is large, which takes a second of
 * CPU for 4 MB.
 */
static int load_first(struct embedded *store, struct error *err)
{
	bool has_crashed = file_bytes(store, LOG_NAME) > 0;
	int r = load(store, err);

	if (r < 0 || !has_crashed ||
	    database_run(&store->database, store->writer, "CHECKPOINT", NULL) == 0)
		return r;
	log_info("store: the log of the database stays until there is room to write it");
	if (!atomic_load(&store->database.failed))
		return 0;
	forget(store);
	return load(store, err);
}

static void close_embedded(struct store *base)
{
	struct embedded *store = embedded_of(base);

	forget(store);
	if (store->files.folder_fd >= 0)
		(void)close(store->files.folder_fd); /* only read from */
	free((void *)(uintptr_t)store->config.folder);
	free(store->path);
	(void)pthread_rwlock_destroy(&store->names_lock); /* nobody holds them any more */
	(void)pthread_rwlock_destroy(&store->files_lock);
	(void)pthread_rwlock_destroy(&store->database_lock);
	(void)pthread_mutex_destroy(&store->write_lock);
	(void)pthread_mutex_destroy(&store->maintain_lock);
	(void)pthread_cond_destroy(&store->queue.changed);
	(void)pthread_mutex_destroy(&store->queue.lock);
	free(store);
}

static int open_embedded(const struct store_config *config, struct store **ret, struct error *err)
{
	struct embedded *store = calloc(1, sizeof(*store));
	int r;

	if (!store)
		return error_set(err, -ENOMEM, "out of memory");
	store->base.ops = &embedded_store_ops;
	store->config = *config;
	store->config.folder = store->config.library = NULL;
	store->files.folder_fd = -1;
	set_defaults(&store->config);
	init_locks(store);
	r = duckdb_library_load(&store->database.library, config->library, err);
	if (r == 0)
		r = open_folder(store, config->folder, err);
	if (r == 0)
		r = load_first(store, err);
	if (r < 0) {
		close_embedded(&store->base);
		return r;
	}
	*ret = &store->base;
	return 0;
}

void embedded_stats(struct store *base, struct store_stats *ret)
{
	struct embedded *store = embedded_of(base);
	size_t i;

	*ret = (struct store_stats){.batches = atomic_load(&store->batch_count),
				    .duplicates = atomic_load(&store->duplicates),
				    .commits = atomic_load(&store->commits)};
	(void)pthread_rwlock_rdlock(&store->files_lock); /* never fails: not held by us */
	for (i = 0; i < store->files.hot.count; i++)
		ret->hot_rows += __atomic_load_n(&store->files.hot.items[i].rows, __ATOMIC_RELAXED);
	ret->rows = ret->hot_rows;
	for (i = 0; i < store->files.files.count; i++) {
		const struct row_file *file = store->files.files.items[i];

		ret->rows += file->rows;
		ret->file_bytes += file->bytes;
		if (atomic_load(&file->state) == FILE_DAMAGED)
			ret->damaged_files++;
	}
	(void)pthread_rwlock_unlock(&store->files_lock);
	ret->bytes =
		ret->file_bytes + file_bytes(store, "store.duckdb") + file_bytes(store, LOG_NAME);
	(void)pthread_rwlock_rdlock(&store->names_lock); /* likewise */
	ret->stacks = store->names.used_count;
	ret->functions = store->names.profile ? store->names.profile->functions.count : 0;
	ret->series =
		store->series.keys.entries.count > 0 ? store->series.keys.entries.count - 1 : 0;
	ret->overflowed_series = store->series.overflowed;
	(void)pthread_rwlock_unlock(&store->names_lock);
}

static bool takes(const struct store_config *config)
{
	return !config->url;
}

const struct store_ops embedded_store_ops = {
	.name = "embedded",
	.takes = takes,
	.open = open_embedded,
	.close = close_embedded,
	.append = embedded_append,
	.maintain = embedded_maintain,
	.profile = embedded_profile,
	.values = embedded_values,
	.label_names = embedded_label_names,
	.over_time = embedded_over_time,
	.gaps = embedded_gaps,
	.damaged = embedded_damaged,
	.unnamed = embedded_unnamed,
	.unnamed_modules = embedded_unnamed_modules,
	.set_names = embedded_set_names,
	.stats = embedded_stats,
};
