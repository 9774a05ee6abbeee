/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/duckdb_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/vec.h"

#define FILE_NAME "libduckdb.so"

#define FUNCTION(name)                                                                             \
	{                                                                                          \
		"duckdb_" #name, offsetof(struct duckdb_library, name)                             \
	}

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
	FUNCTION(library_version),
	FUNCTION(create_config),
	FUNCTION(set_config),
	FUNCTION(destroy_config),
	FUNCTION(open_ext),
	FUNCTION(close),
	FUNCTION(free),
	FUNCTION(connect),
	FUNCTION(disconnect),
	FUNCTION(query),
	FUNCTION(result_error),
	FUNCTION(destroy_result),
	FUNCTION(fetch_chunk),
	FUNCTION(create_data_chunk),
	FUNCTION(destroy_data_chunk),
	FUNCTION(data_chunk_reset),
	FUNCTION(data_chunk_get_size),
	FUNCTION(data_chunk_set_size),
	FUNCTION(data_chunk_get_vector),
	FUNCTION(vector_get_data),
	FUNCTION(vector_assign_string_element),
	FUNCTION(vector_size),
	FUNCTION(list_vector_get_child),
	FUNCTION(list_vector_get_size),
	FUNCTION(list_vector_set_size),
	FUNCTION(list_vector_reserve),
	FUNCTION(struct_vector_get_child),
	FUNCTION(create_logical_type),
	FUNCTION(create_map_type),
	FUNCTION(destroy_logical_type),
	FUNCTION(appender_create),
	FUNCTION(append_data_chunk),
	FUNCTION(appender_close),
	FUNCTION(appender_error),
	FUNCTION(appender_destroy),
};

/* Whether there is a file in the folder of the program, or where its libraries are. */
static bool find_near_program(const char *name, char *ret, size_t size)
{
	static const char *const places[] = {"", WICK_PRELOAD_FROM_PROGRAM};
	char own[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char *slash;
	size_t i;

	if (n <= 0)
		return false;
	own[n] = '\0';
	slash = strrchr(own, '/');
	if (!slash)
		return false;
	*slash = '\0';
	for (i = 0; i < ARRAY_SIZE(places); i++)
		if ((size_t)snprintf(ret, size, "%s%s/%s", own, places[i], name) < size &&
		    access(ret, R_OK) == 0)
			return true;
	return false;
}

static const char *find(char *space, size_t size)
{
	const char *chosen = getenv("WICK_DUCKDB");

	if (chosen && *chosen)
		return chosen;
	if (find_near_program(FILE_NAME, space, size))
		return space;
	(void)snprintf(space, size, "%s/" FILE_NAME, WICK_PRELOAD_FOLDER);
	return access(space, R_OK) == 0 ? space : FILE_NAME;
}

static int refuse(struct error *err)
{
	const char *why = dlerror();
	char fetch[PATH_MAX];

	(void)error_set(err, -EOPNOTSUPP, "cannot load DuckDB, which the store needs: %.300s",
			why ? why : FILE_NAME " is not usable");
	/* In the source tree, or where it is installed. */
	if (!find_near_program("fetch-duckdb", fetch, sizeof(fetch)))
		(void)snprintf(fetch, sizeof(fetch), "scripts/fetch-duckdb");
	error_remedy(err,
		     "run %.300s (needs npm), or set WICK_DUCKDB to the path of another " FILE_NAME,
		     fetch);
	return -EOPNOTSUPP;
}

/* It is never closed: its threads and thread-local objects do not support unloading. */
int duckdb_library_load(struct duckdb_library *library, const char *path, struct error *err)
{
	char space[PATH_MAX];
	size_t i;

	if (!path)
		path = find(space, sizeof(space));
	library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library->handle)
		return refuse(err);
	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		void *symbol = dlsym(library->handle, functions[i].name);

		if (!symbol)
			return refuse(err);
		memcpy((char *)library + functions[i].offset, &symbol, sizeof(symbol));
	}
	log_info("store: DuckDB %s from %s", library->library_version(), path);
	return 0;
}
