/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/source_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/regular_file.h"
#include "base/scope.h"
#include "base/vec.h"

#define MAX_FILE_BYTES (16u << 20)

void source_file_fini(struct source_file *file)
{
	free(file->path);
	free(file->text);
	free(file->lines);
	*file = (struct source_file){0};
}

/* Cuts the text into lines. 0 or -ENOMEM. */
static int split(struct source_file *file, size_t size)
{
	VEC(const char *) lines = {0};
	char *at = file->text;
	char *end = file->text + size;

	while (at < end) {
		char *newline = memchr(at, '\n', (size_t)(end - at));

		if (vec_push(&lines, at) < 0) {
			vec_fini(&lines);
			return -ENOMEM;
		}
		if (!newline)
			break;
		*newline = '\0';
		if (newline > at && newline[-1] == '\r')
			newline[-1] = '\0';
		at = newline + 1;
	}
	file->lines = lines.items;
	file->line_count = (uint32_t)lines.count;
	return 0;
}

/* Returns 0, -ENOENT for what is no source file, or -ENOMEM. */
static int read_file(const char *path, struct source_file *ret)
{
	struct stat status;
	SCOPED(fd) int fd = regular_file_open(path, &status);
	struct source_file file = {0};
	size_t size;
	ssize_t n = 0;
	size_t used = 0;

	if (fd < 0 || status.st_size > MAX_FILE_BYTES)
		return -ENOENT;
	size = (size_t)status.st_size;
	file.path = strdup(path);
	file.text = malloc(size + 1);
	file.mtime_ns =
		(uint64_t)status.st_mtim.tv_sec * NS_PER_SEC + (uint64_t)status.st_mtim.tv_nsec;
	while (file.text && used < size && (n = read(fd, file.text + used, size - used)) > 0)
		used += (size_t)n;
	if (!file.path || !file.text) {
		source_file_fini(&file);
		return -ENOMEM;
	}
	file.text[used] = '\0';
	if (n < 0 || split(&file, used) < 0) {
		source_file_fini(&file);
		return n < 0 ? -ENOENT : -ENOMEM;
	}
	*ret = file;
	return 0;
}

/* Looks for "<head><tail>". */
static int try(const char *head, size_t head_size, const char *tail, struct source_file *ret)
{
	SCOPED(mem) char *path = NULL;

	if (asprintf(&path, "%.*s%s", (int)head_size, head, tail) < 0) {
		path = NULL; /* asprintf() leaves it undefined */
		return -ENOMEM;
	}
	return read_file(path, ret);
}

static int try_map(const char *map, const char *path, struct source_file *ret)
{
	const char *equals = strchr(map, '=');
	size_t n = equals ? (size_t)(equals - map) : 0;

	if (n == 0 || strncmp(path, map, n) != 0)
		return -ENOENT;
	if (path[n] && path[n] != '/' && map[n - 1] != '/')
		return -ENOENT; /* /src is not the beginning of /srcs/x.c */
	return try(equals + 1, strlen(equals + 1), path + n, ret);
}

static int try_directory(const char *directory, const char *path, struct source_file *ret)
{
	SCOPED(mem) char *start = NULL;
	int r = -ENOENT;

	if (asprintf(&start, "%s/", directory) < 0) {
		start = NULL; /* asprintf() leaves it undefined */
		return -ENOMEM;
	}
	while (r == -ENOENT && path && *path) {
		while (*path == '/')
			path++;
		r = try(start, strlen(start), path, ret);
		path = strchr(path, '/');
	}
	return r;
}

int source_file_find(const struct source_search *search, const char *path, struct source_file *ret)
{
	int r = -ENOENT;
	size_t i;

	if (!*path)
		return -ENOENT;
	for (i = 0; i < search->map_count && r == -ENOENT; i++)
		r = try_map(search->maps[i], path, ret);
	/* What has no directory would be looked for wherever we happen to be. */
	if (r == -ENOENT && *path == '/')
		r = read_file(path, ret);
	for (i = 0; i < search->directory_count && r == -ENOENT; i++)
		r = try_directory(search->directories[i], path, ret);
	return r;
}

const char *source_file_line(const struct source_file *file, uint32_t line)
{
	return line > 0 && line <= file->line_count ? file->lines[line - 1] : NULL;
}
