/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/files/service_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"

/* The last n parts of a path. */
static const char *last_parts(const char *path, unsigned int n)
{
	const char *at = path + strlen(path);

	while (at > path) {
		if (at[-1] == '/' && n-- <= 1)
			break;
		at--;
	}
	return at;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat one;
	struct stat other;

	return strcmp(a, b) == 0 || (stat(a, &one) == 0 && stat(b, &other) == 0 &&
				     one.st_dev == other.st_dev && one.st_ino == other.st_ino);
}

static int refuse_twice(const char *const *paths, size_t count, struct error *err)
{
	size_t i;
	size_t k;

	for (i = 0; i < count; i++)
		for (k = 0; k < i; k++)
			if (is_same_file(paths[i], paths[k])) {
				(void)error_set(err, -EINVAL, "%s and %s are the same file",
						paths[k], paths[i]);
				error_remedy(err, "name each file once");
				return -EINVAL;
			}
	return 0;
}

/* The name of a file with n parts, without the ending that all recordings have. */
static char *name_of(const char *path, unsigned int n)
{
	const char *parts = last_parts(path, n);
	size_t size = strlen(parts);

	if (size > 5 && strcmp(parts + size - 5, ".wick") == 0)
		size -= 5;
	return strndup(parts, size);
}

static bool is_taken(char *const *names, size_t count, size_t own)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (i != own && names[i] && strcmp(names[i], names[own]) == 0)
			return true;
	return false;
}

/* One more part for every name that several files have. Returns 1 if one got longer, 0, -ENOMEM. */
static int lengthen(const char *const *paths, size_t count, unsigned int parts, char **names)
{
	bool *taken = calloc(count, sizeof(*taken));
	int longer = 0;
	size_t i;

	if (!taken)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		taken[i] = is_taken(names, count, i);
	for (i = 0; i < count && longer >= 0; i++) {
		char *name = taken[i] ? name_of(paths[i], parts) : NULL;

		if (!taken[i])
			continue;
		if (!name) {
			longer = -ENOMEM;
			continue;
		}
		if (strcmp(name, names[i]) != 0)
			longer = 1;
		free(names[i]);
		names[i] = name;
	}
	free(taken);
	return longer;
}

/* x and x.wick, which no further part tells apart, are called by their paths. */
static int use_paths(const char *const *paths, size_t count, char **names)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (is_taken(names, count, i)) {
			char *name = strdup(paths[i]);

			if (!name)
				return -ENOMEM;
			free(names[i]);
			names[i] = name;
		}
	return 0;
}

int service_names_new(const char *const *paths, size_t count, char ***ret, struct error *err)
{
	char **names = calloc(count, sizeof(*names));
	unsigned int parts = 1;
	size_t i;
	int r = refuse_twice(paths, count, err);

	if (!names)
		return error_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < count && r == 0; i++) {
		names[i] = name_of(paths[i], 1);
		if (!names[i])
			r = error_set(err, -ENOMEM, "out of memory");
	}
	while (r == 0 && (r = lengthen(paths, count, ++parts, names)) > 0)
		r = 0;
	if (r == 0)
		r = use_paths(paths, count, names);
	if (r == 0) {
		*ret = names;
		return 0;
	}
	for (i = 0; i < count; i++)
		free(names[i]);
	free(names);
	return r == -EINVAL ? r : error_set(err, r, "out of memory");
}
