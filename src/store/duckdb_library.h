/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_DUCKDB_LIBRARY_H
#define WICK_STORE_DUCKDB_LIBRARY_H

/*
 * duckdb_library: libduckdb.so, loaded at run time.
 *
 * It takes 60 MB, and only a server needs it, so nothing is linked with it. These are our own
 * declarations of the few functions that we call, all of DuckDB's stable C interface, which does
 * not change from one version to the next.
 */

#include <stdbool.h>
#include <stdint.h>

struct error;

/* Pointers to opaque objects. */
struct duckdb_database;
struct duckdb_connection;
struct duckdb_config;
struct duckdb_appender;
struct duckdb_chunk;
struct duckdb_vector;
struct duckdb_logical_type;

/* The members are the library's own. */
struct duckdb_result {
	uint64_t unused[3];
	void *unused_columns;
	char *unused_error;
	void *internal;
};

/* A text in a vector: up to 12 bytes are in the struct itself. */
struct duckdb_text {
	uint32_t size;
	char start[4]; /* continues in the pointer if it is short */
	const char *text;
};

/* A list or map in a vector: a part of the vector of all items. */
struct duckdb_list_part {
	uint64_t first;
	uint64_t count;
};

/* What a function returns. */
enum duckdb_state { DUCKDB_OK = 0, DUCKDB_ERROR = 1 };

/* The types of columns that we have. */
enum duckdb_type {
	DUCKDB_BOOLEAN = 1,
	DUCKDB_BIGINT = 5,
	DUCKDB_UINTEGER = 8,
	DUCKDB_UBIGINT = 9,
	DUCKDB_VARCHAR = 17,
};

struct duckdb_library {
	void *handle;
	const char *(*library_version)(void);
	enum duckdb_state (*create_config)(struct duckdb_config **ret);
	enum duckdb_state (*set_config)(struct duckdb_config *config, const char *name,
					const char *value);
	void (*destroy_config)(struct duckdb_config **config);
	enum duckdb_state (*open_ext)(const char *path, struct duckdb_database **ret,
				      struct duckdb_config *config, char **ret_error);
	void (*close)(struct duckdb_database **database);
	void (*free)(void *memory);
	enum duckdb_state (*connect)(struct duckdb_database *database,
				     struct duckdb_connection **ret);
	void (*disconnect)(struct duckdb_connection **connection);
	enum duckdb_state (*query)(struct duckdb_connection *connection, const char *sql,
				   struct duckdb_result *ret);
	const char *(*result_error)(struct duckdb_result *result);
	void (*destroy_result)(struct duckdb_result *result);
	struct duckdb_chunk *(*fetch_chunk)(struct duckdb_result result);
	struct duckdb_chunk *(*create_data_chunk)(struct duckdb_logical_type **types,
						  uint64_t count);
	void (*destroy_data_chunk)(struct duckdb_chunk **chunk);
	void (*data_chunk_reset)(struct duckdb_chunk *chunk);
	uint64_t (*data_chunk_get_size)(struct duckdb_chunk *chunk);
	void (*data_chunk_set_size)(struct duckdb_chunk *chunk, uint64_t size);
	struct duckdb_vector *(*data_chunk_get_vector)(struct duckdb_chunk *chunk, uint64_t column);
	void *(*vector_get_data)(struct duckdb_vector *vector);
	void (*vector_assign_string_element)(struct duckdb_vector *vector, uint64_t row,
					     const char *text);
	uint64_t (*vector_size)(void);
	struct duckdb_vector *(*list_vector_get_child)(struct duckdb_vector *vector);
	uint64_t (*list_vector_get_size)(struct duckdb_vector *vector);
	enum duckdb_state (*list_vector_set_size)(struct duckdb_vector *vector, uint64_t size);
	enum duckdb_state (*list_vector_reserve)(struct duckdb_vector *vector, uint64_t size);
	struct duckdb_vector *(*struct_vector_get_child)(struct duckdb_vector *vector,
							 uint64_t index);
	struct duckdb_logical_type *(*create_logical_type)(enum duckdb_type type);
	struct duckdb_logical_type *(*create_map_type)(struct duckdb_logical_type *key,
						       struct duckdb_logical_type *value);
	void (*destroy_logical_type)(struct duckdb_logical_type **type);
	enum duckdb_state (*appender_create)(struct duckdb_connection *connection,
					     const char *schema, const char *table,
					     struct duckdb_appender **ret);
	enum duckdb_state (*append_data_chunk)(struct duckdb_appender *appender,
					       struct duckdb_chunk *chunk);
	enum duckdb_state (*appender_close)(struct duckdb_appender *appender);
	const char *(*appender_error)(struct duckdb_appender *appender);
	enum duckdb_state (*appender_destroy)(struct duckdb_appender **appender);
};

/*
 * Loads the library at path, or searches for it: WICK_DUCKDB, the folder of the program, that of
 * wick's libraries, the system's. It stays loaded. Returns -EOPNOTSUPP if it is missing or is not
 * usable.
 */
int duckdb_library_load(struct duckdb_library *library, const char *path, struct error *err);

#endif
