/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/database.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "base/vec.h"

/* What a message of the database means to us. It has no codes for these. */
static const struct {
	const char *words;
	int code;
	const char *remedy;
} causes[] = {
	{"No space left", -ENOSPC, "make room on the disk, or lower the size that the store keeps"},
	{"File too large", -ENOSPC, "raise the limit of the file size (ulimit -f)"},
	{"Disk quota", -ENOSPC, "raise the quota, or lower the size that the store keeps"},
	{"Conflicting lock", -EBUSY, "stop the other process: one at a time can use a store"},
	{"Could not set lock", -EBUSY, "stop the other process: one at a time can use a store"},
	{"Out of Memory", -ENOMEM, "raise the memory limit of the store, or ask for less"},
	{"Invalid Input Error", -EINVAL,
	 "correct the regular expression: the syntax is that of RE2"},
	{"", -EIO, "check the disk; docs/reference/store.md says how to repair a store"},
};

/* Sets what the database reported: its first line is what matters. Returns the code. */
static int explain(struct database *database, const char *text, struct error *err)
{
	size_t i = 0;

	if (!text)
		text = "no reason given";
	if (strstr(text, "invalidated") || strncmp(text, "FATAL", 5) == 0)
		atomic_store(&database->failed, true);
	while (!strstr(text, causes[i].words))
		i++;
	(void)error_set(err, causes[i].code, "the store's database: %.*s",
			(int)strcspn(text, "\n") < 400 ? (int)strcspn(text, "\n") : 400, text);
	error_remedy(err, "%s", causes[i].remedy);
	return causes[i].code;
}

static int configure(struct database *database, uint64_t memory_bytes, struct duckdb_config **ret)
{
	const struct duckdb_library *library = &database->library;
	char memory[32];

	(void)snprintf(memory, sizeof(memory), "%" PRIu64 "MiB", memory_bytes >> 20);
	if (library->create_config(ret) != DUCKDB_OK)
		return -ENOMEM;
	if (library->set_config(*ret, "memory_limit", memory) != DUCKDB_OK ||
	    /* Extensions would be code from the network. */
	    library->set_config(*ret, "autoinstall_known_extensions", "false") != DUCKDB_OK ||
	    library->set_config(*ret, "autoload_known_extensions", "false") != DUCKDB_OK ||
	    /* A checkpoint blocks writers: rather a few large ones. */
	    library->set_config(*ret, "checkpoint_threshold", "128MiB") != DUCKDB_OK)
		return -EINVAL;
	return 0;
}

int database_open(struct database *database, const char *path, uint64_t memory_bytes,
		  struct error *err)
{
	const struct duckdb_library *library = &database->library;
	struct duckdb_config *config = NULL;
	char *text = NULL;
	int r = configure(database, memory_bytes, &config);

	if (r < 0) {
		(void)error_set(err, r, "version %s of DuckDB refuses settings that wick needs",
				library->library_version());
		error_remedy(err, "use the version that scripts/fetch-duckdb fetches");
	} else if (library->open_ext(path, &database->handle, config, &text) != DUCKDB_OK) {
		r = error_prefix(err, explain(database, text, err), "%s", path);
		library->free(text);
		database->handle = NULL;
	}
	if (config)
		library->destroy_config(&config);
	atomic_store(&database->failed, r < 0);
	return r;
}

void database_close(struct database *database)
{
	if (database->handle)
		database->library.close(&database->handle);
	database->handle = NULL;
}

int database_connect(struct database *database, struct duckdb_connection **ret, struct error *err)
{
	if (!database->handle)
		return explain(database, "it is closed after a failure", err);
	if (database->library.connect(database->handle, ret) != DUCKDB_OK)
		return explain(database, "no connection", err);
	return 0;
}

void database_disconnect(struct database *database, struct duckdb_connection **connection)
{
	if (*connection)
		database->library.disconnect(connection);
	*connection = NULL;
}

int database_run(struct database *database, struct duckdb_connection *connection, const char *sql,
		 struct error *err)
{
	struct duckdb_result result = {{0}, NULL, NULL, NULL};
	int r = 0;

	if (database->library.query(connection, sql, &result) != DUCKDB_OK)
		r = explain(database, database->library.result_error(&result), err);
	database->library.destroy_result(&result);
	return r;
}

static int end_sql(struct bytes *sql, struct error *err)
{
	bytes_put_u8(sql, 0);
	return sql->failed ? error_set(err, -ENOMEM, "out of memory") : 0;
}

int database_run_bytes(struct database *database, struct duckdb_connection *connection,
		       struct bytes *sql, struct error *err)
{
	int r = end_sql(sql, err);

	if (r == 0)
		r = database_run(database, connection, (const char *)sql->data, err);
	bytes_clear(sql);
	return r;
}

int database_query(struct database *database, struct duckdb_connection *connection,
		   struct bytes *sql, struct answer *ret, struct error *err)
{
	int r = end_sql(sql, err);

	*ret = (struct answer){.database = database};
	if (r < 0)
		return r;
	ret->is_open = true;
	if (database->library.query(connection, (const char *)sql->data, &ret->result) != DUCKDB_OK)
		r = explain(database, database->library.result_error(&ret->result), err);
	bytes_clear(sql);
	if (r < 0)
		answer_end(ret);
	return r;
}

bool answer_next(struct answer *answer)
{
	const struct duckdb_library *library = &answer->database->library;

	if (answer->chunk)
		library->destroy_data_chunk(&answer->chunk);
	answer->chunk = library->fetch_chunk(answer->result);
	answer->count = answer->chunk ? library->data_chunk_get_size(answer->chunk) : 0;
	return answer->count > 0;
}

void answer_end(struct answer *answer)
{
	if (answer->chunk)
		answer->database->library.destroy_data_chunk(&answer->chunk);
	if (answer->is_open)
		answer->database->library.destroy_result(&answer->result);
	answer->is_open = false;
}

const void *answer_column(const struct answer *answer, unsigned int column)
{
	const struct duckdb_library *library = &answer->database->library;

	return library->vector_get_data(library->data_chunk_get_vector(answer->chunk, column));
}

size_t answer_text(const struct answer *answer, unsigned int column, size_t row, const char **ret)
{
	const struct duckdb_text *text =
		(const struct duckdb_text *)answer_column(answer, column) + row;
	const size_t inside = sizeof(*text) - offsetof(struct duckdb_text, start);

	*ret = text->size <= inside ? (const char *)text + offsetof(struct duckdb_text, start)
				    : text->text;
	return text->size;
}

static enum duckdb_type type_of(char letter)
{
	switch (letter) {
	case 'b':
		return DUCKDB_BOOLEAN;
	case 'u':
		return DUCKDB_UINTEGER;
	case 'U':
		return DUCKDB_UBIGINT;
	case 'I':
		return DUCKDB_BIGINT;
	default:
		return DUCKDB_VARCHAR;
	}
}

static struct duckdb_logical_type *make_type(const struct duckdb_library *library, char letter)
{
	struct duckdb_logical_type *text = library->create_logical_type(type_of(letter));
	struct duckdb_logical_type *map;

	if (letter != 'm')
		return text;
	map = library->create_map_type(text, text);
	library->destroy_logical_type(&text);
	return map;
}

static void find_columns(struct appender *appender)
{
	const struct duckdb_library *library = &appender->database->library;
	size_t i;

	for (i = 0; i < appender->column_count; i++)
		appender->columns[i] = library->vector_get_data(
			library->data_chunk_get_vector(appender->chunk, i));
}

int appender_open(struct appender *appender, struct database *database,
		  struct duckdb_connection *connection, const char *table, const char *types,
		  struct error *err)
{
	const struct duckdb_library *library = &database->library;
	struct duckdb_logical_type *logical[APPENDER_COLUMNS_MAX];
	size_t i;

	*appender = (struct appender){.database = database, .err = err};
	appender->column_count = strlen(types);
	appender->capacity = library->vector_size();
	if (library->appender_create(connection, NULL, table, &appender->handle) != DUCKDB_OK) {
		appender->result = explain(
			database,
			appender->handle ? library->appender_error(appender->handle) : NULL, err);
		(void)library->appender_destroy(&appender->handle); /* the failure is reported */
		return appender->result;
	}
	for (i = 0; i < appender->column_count; i++)
		logical[i] = make_type(library, types[i]);
	appender->chunk = library->create_data_chunk(logical, appender->column_count);
	for (i = 0; i < appender->column_count; i++)
		library->destroy_logical_type(&logical[i]);
	find_columns(appender);
	return 0;
}

static void append_chunk(struct appender *appender)
{
	const struct duckdb_library *library = &appender->database->library;

	library->data_chunk_set_size(appender->chunk, appender->count);
	if (appender->result == 0 &&
	    library->append_data_chunk(appender->handle, appender->chunk) != DUCKDB_OK)
		appender->result =
			explain(appender->database, library->appender_error(appender->handle),
				appender->err);
	library->data_chunk_reset(appender->chunk);
	appender->count = 0;
	find_columns(appender);
}

size_t appender_row(struct appender *appender)
{
	if (appender->count == appender->capacity)
		append_chunk(appender);
	return appender->count++;
}

void appender_put_text(struct appender *appender, unsigned int column, size_t row, const char *text)
{
	const struct duckdb_library *library = &appender->database->library;

	library->vector_assign_string_element(
		library->data_chunk_get_vector(appender->chunk, column), row, text);
}

void appender_put_pair(struct appender *appender, unsigned int column, size_t row, const char *key,
		       const char *value)
{
	const struct duckdb_library *library = &appender->database->library;
	struct duckdb_vector *map = library->data_chunk_get_vector(appender->chunk, column);
	struct duckdb_list_part *part = (struct duckdb_list_part *)appender->columns[column] + row;
	uint64_t at = library->list_vector_get_size(map);
	struct duckdb_vector *pairs;

	if (library->list_vector_reserve(map, at + 1) != DUCKDB_OK ||
	    library->list_vector_set_size(map, at + 1) != DUCKDB_OK) {
		appender->result = error_set(appender->err, -ENOMEM, "out of memory");
		return;
	}
	pairs = library->list_vector_get_child(map);
	library->vector_assign_string_element(library->struct_vector_get_child(pairs, 0), at, key);
	library->vector_assign_string_element(library->struct_vector_get_child(pairs, 1), at,
					      value);
	part->count++;
}

/* An empty map begins where the next one does. */
void appender_begin_map(struct appender *appender, unsigned int column, size_t row)
{
	const struct duckdb_library *library = &appender->database->library;
	struct duckdb_vector *map = library->data_chunk_get_vector(appender->chunk, column);

	((struct duckdb_list_part *)appender->columns[column])[row] =
		(struct duckdb_list_part){.first = library->list_vector_get_size(map)};
}

int appender_close(struct appender *appender)
{
	const struct duckdb_library *library = &appender->database->library;

	if (!appender->handle)
		return appender->result;
	if (appender->count > 0)
		append_chunk(appender);
	if (library->appender_close(appender->handle) != DUCKDB_OK && appender->result == 0)
		appender->result =
			explain(appender->database, library->appender_error(appender->handle),
				appender->err);
	library->destroy_data_chunk(&appender->chunk);
	(void)library->appender_destroy(&appender->handle); /* closed above */
	return appender->result;
}

void sql_put_text(struct bytes *sql, const char *text)
{
	struct bytes clean = {0};
	size_t i;

	/* What is stored was cleaned in the same way. */
	text_put_plain(&clean, text);
	sql->failed |= clean.failed;
	bytes_put_u8(sql, '\'');
	for (i = 0; i < clean.size; i++) {
		if (clean.data[i] == '\'')
			bytes_put_u8(sql, '\'');
		bytes_put_u8(sql, clean.data[i]);
	}
	bytes_put_u8(sql, '\'');
	bytes_fini(&clean);
}
