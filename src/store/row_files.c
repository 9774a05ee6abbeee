/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/row_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/error.h"
#include "base/log.h"
#include "base/scope.h"
#include "store/database.h"

const char row_files_sql[] =
	"CREATE TABLE IF NOT EXISTS files (path VARCHAR, hour_s UINTEGER, step_s UINTEGER, "
	"row_count UBIGINT, bytes UBIGINT, checksum UBIGINT);"
	"CREATE TABLE IF NOT EXISTS hours (hour_s UINTEGER, series UINTEGER, samples UBIGINT, "
	"value BIGINT, marks UINTEGER, from_s UINTEGER, to_s UINTEGER);";

void row_file_free(struct row_file *file)
{
	if (!file)
		return;
	free(file->path);
	free(file);
}

void row_files_fini(struct row_files *files)
{
	size_t i;

	for (i = 0; i < files->files.count; i++)
		row_file_free(files->files.items[i]);
	vec_fini(&files->files);
	vec_fini(&files->hot);
}

void hot_table_name(const struct hot_table *table, char *ret, size_t size)
{
	(void)snprintf(ret, size, "hot_%" PRIu32 "_%" PRIu32, table->hour_s, table->number);
}

struct hot_table *row_files_hot(struct row_files *files, uint32_t hour_s)
{
	size_t i;

	for (i = 0; i < files->hot.count; i++)
		if (files->hot.items[i].hour_s == hour_s && !files->hot.items[i].is_sealed)
			return &files->hot.items[i];
	return NULL;
}

struct row_file *row_files_find(const struct row_files *files, uint32_t hour_s)
{
	size_t i;

	for (i = 0; i < files->files.count; i++)
		if (files->files.items[i]->hour_s == hour_s)
			return files->files.items[i];
	return NULL;
}

int row_file_measure(int folder_fd, const char *path, uint64_t *ret_bytes, uint64_t *ret_checksum)
{
	SCOPED(fd) int fd = openat(folder_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	SCOPED(mem) char *buffer = malloc(1 << 18);
	XXH3_state_t *state = XXH3_createState();
	ssize_t n = -1;

	*ret_bytes = 0;
	if (fd < 0 || !buffer || !state || XXH3_64bits_reset(state) != XXH_OK) {
		int r = fd < 0 ? -errno : -ENOMEM;

		(void)XXH3_freeState(state); /* always succeeds */
		return r;
	}
	while ((n = read(fd, buffer, 1 << 18)) > 0) {
		(void)XXH3_64bits_update(state, buffer, (size_t)n); /* fails only without state */
		*ret_bytes += (uint64_t)n;
	}
	*ret_checksum = XXH3_64bits_digest(state);
	(void)XXH3_freeState(state); /* always succeeds */
	return n < 0 ? -errno : 0;
}

bool row_file_check(const struct row_files *files, struct row_file *file)
{
	enum row_file_state state = (enum row_file_state)atomic_load(&file->state);
	uint64_t bytes = 0;
	uint64_t checksum = 0;

	if (state != FILE_UNCHECKED)
		return state == FILE_GOOD;
	state = row_file_measure(files->folder_fd, file->path, &bytes, &checksum) == 0 &&
				bytes == file->bytes && checksum == file->checksum
			? FILE_GOOD
			: FILE_DAMAGED;
	if (state == FILE_DAMAGED)
		log_info("store: %s/%s is damaged and left out", files->folder, file->path);
	atomic_store(&file->state, (int)state);
	return state == FILE_GOOD;
}

void row_files_recheck(struct row_files *files)
{
	size_t i;

	for (i = 0; i < files->files.count; i++)
		atomic_store(&files->files.items[i]->state, FILE_UNCHECKED);
}

void row_files_put_path(const struct row_files *files, struct bytes *sql, const char *path)
{
	const char *at;

	/* Not as sql_put_text() does it: a folder may have any name. */
	bytes_put_u8(sql, '\'');
	for (at = files->folder; *at; at++)
		bytes_put(sql, *at == '\'' ? "''" : at, *at == '\'' ? 2 : 1);
	bytes_printf(sql, "/%s'", path);
}

static int compare_files(const void *a, const void *b)
{
	const struct row_file *first = *(struct row_file *const *)a;
	const struct row_file *second = *(struct row_file *const *)b;

	return first->hour_s < second->hour_s ? -1 : first->hour_s > second->hour_s;
}

void row_files_insert(struct row_files *files, struct row_file *file)
{
	size_t at = files->files.count++;

	for (; at > 0 && files->files.items[at - 1]->hour_s > file->hour_s; at--)
		files->files.items[at] = files->files.items[at - 1];
	files->files.items[at] = file;
}

static void delete_file(struct row_files *files, struct row_file *file)
{
	char *slash = strrchr(file->path, '/');

	/* What cannot be deleted now is deleted when the store is opened. */
	(void)unlinkat(files->folder_fd, file->path, 0);
	if (slash) {
		*slash = '\0';
		/* Fails unless it is empty. */
		(void)unlinkat(files->folder_fd, file->path, AT_REMOVEDIR);
	}
	row_file_free(file);
}

void row_files_remove(struct row_files *files, const char *path)
{
	struct row_file *found = NULL;
	size_t kept = 0;
	size_t i;

	for (i = 0; i < files->files.count; i++) {
		struct row_file *file = files->files.items[i];

		if (!found && strcmp(file->path, path) == 0)
			found = file;
		else
			files->files.items[kept++] = file;
	}
	files->files.count = kept;
	if (found)
		delete_file(files, found);
}

static int read_file(struct row_files *files, const struct answer *answer, size_t row)
{
	struct row_file *file = calloc(1, sizeof(*file));
	const char *text;
	size_t n = answer_text(answer, 0, row, &text);

	if (!file)
		return -ENOMEM;
	file->path = strndup(text, n);
	file->hour_s = ((const uint32_t *)answer_column(answer, 1))[row];
	file->step_s = ((const uint32_t *)answer_column(answer, 2))[row];
	file->rows = ((const uint64_t *)answer_column(answer, 3))[row];
	file->bytes = ((const uint64_t *)answer_column(answer, 4))[row];
	file->checksum = ((const uint64_t *)answer_column(answer, 5))[row];
	if (!file->path || vec_push(&files->files, file) < 0) {
		row_file_free(file);
		return -ENOMEM;
	}
	return 0;
}

static int read_files(struct row_files *files, struct database *database,
		      struct duckdb_connection *connection, struct error *err)
{
	struct bytes sql = {0};
	struct answer answer;
	int r;

	bytes_printf(&sql, "SELECT path, hour_s, step_s, row_count, bytes, checksum FROM files");
	r = database_query(database, connection, &sql, &answer, err);
	bytes_fini(&sql);
	if (r < 0)
		return r;
	while (r == 0 && answer_next(&answer)) {
		size_t i;

		for (i = 0; i < answer.count && r == 0; i++)
			r = read_file(files, &answer, i);
	}
	answer_end(&answer);
	if (r < 0)
		return error_set(err, r, "out of memory");
	if (files->files.count > 0)
		qsort(files->files.items, files->files.count, sizeof(*files->files.items),
		      compare_files);
	return 0;
}

static int count_rows(struct hot_table *table, struct database *database,
		      struct duckdb_connection *connection, struct error *err)
{
	char name[HOT_NAME_MAX];
	struct bytes sql = {0};
	struct answer answer;
	int r;

	hot_table_name(table, name, sizeof(name));
	bytes_printf(&sql, "SELECT count(*) FROM %s", name);
	r = database_query(database, connection, &sql, &answer, err);
	bytes_fini(&sql);
	if (r < 0)
		return r;
	if (answer_next(&answer))
		table->rows = (uint64_t)((const int64_t *)answer_column(&answer, 0))[0];
	answer_end(&answer);
	return 0;
}

static int read_hot(struct row_files *files, struct database *database,
		    struct duckdb_connection *connection, struct error *err)
{
	struct bytes sql = {0};
	struct answer answer;
	size_t i;
	int r;

	bytes_printf(&sql,
		     "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'hot\\_%%' "
		     "ESCAPE '\\' ORDER BY 1");
	r = database_query(database, connection, &sql, &answer, err);
	bytes_fini(&sql);
	if (r < 0)
		return r;
	while (r == 0 && answer_next(&answer)) {
		for (i = 0; i < answer.count && r == 0; i++) {
			struct hot_table table = {0};
			char name[HOT_NAME_MAX];
			const char *text;
			size_t n = answer_text(&answer, 0, i, &text);

			(void)snprintf(name, sizeof(name), "%.*s", (int)n, text);
			if (sscanf(name, "hot_%" SCNu32 "_%" SCNu32, &table.hour_s,
				   &table.number) == 2)
				r = vec_push(&files->hot, table);
		}
	}
	answer_end(&answer);
	if (r < 0)
		return error_set(err, r, "out of memory");
	for (i = 0; i < files->hot.count && r == 0; i++)
		r = count_rows(&files->hot.items[i], database, connection, err);
	return r;
}

static bool is_listed(const struct row_files *files, const char *path)
{
	size_t i;

	for (i = 0; i < files->files.count; i++)
		if (strcmp(files->files.items[i]->path, path) == 0)
			return true;
	return false;
}

/* Removes the files of one hour's folder that are not listed, and the folder if it is empty. */
static void clean_hour(struct row_files *files, const char *hour)
{
	char folder[300];
	struct dirent *entry;
	DIR *dir;
	int fd;

	(void)snprintf(folder, sizeof(folder), "rows/%s", hour);
	fd = openat(files->folder_fd, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			(void)close(fd); /* only read from */
		return;
	}
	while ((entry = readdir(dir))) {
		char path[600];

		(void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		/* Only names that we give. */
		if (strncmp(entry->d_name, "rows-", 5) == 0 && !is_listed(files, path) &&
		    unlinkat(files->folder_fd, path, 0) == 0)
			log_info("store: removed %s, which a crash left over", path);
	}
	(void)closedir(dir);                                    /* only read from */
	(void)unlinkat(files->folder_fd, folder, AT_REMOVEDIR); /* fails unless empty */
}

static void clean(struct row_files *files)
{
	int fd = openat(files->folder_fd, "rows", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			(void)close(fd); /* only read from */
		return;
	}
	while ((entry = readdir(dir)))
		if (strncmp(entry->d_name, "hour=", 5) == 0)
			clean_hour(files, entry->d_name);
	(void)closedir(dir); /* only read from */
}

int row_files_load(struct row_files *files, struct database *database,
		   struct duckdb_connection *connection, struct error *err)
{
	int r = read_files(files, database, connection, err);

	if (r == 0)
		r = read_hot(files, database, connection, err);
	if (r == 0)
		clean(files);
	return r;
}
