/* SPDX-License-Identifier: BSD-2-Clause */
#include "dwarf/source_path.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/bytes.h"

#define MAX_PATH_BYTES 65536

static bool ends_in_dots(const struct bytes *path)
{
	return path->size >= 2 && memcmp(path->data + path->size - 2, "..", 2) == 0 &&
	       (path->size == 2 || path->data[path->size - 3] == '/');
}

/* Removes the last name; false if there is none. */
static bool go_up(struct bytes *path)
{
	size_t size = path->size;

	if (size == 0 || ends_in_dots(path))
		return false;
	if (size == 1 && path->data[0] == '/')
		return true; /* the parent of the root is the root */
	while (size > 0 && path->data[size - 1] != '/')
		size--;
	path->size = size > 1 ? size - 1 : size;
	return true;
}

static void add_name(struct bytes *path, const char *name, size_t size)
{
	if (size == 0 || (size == 1 && name[0] == '.'))
		return;
	if (size == 2 && memcmp(name, "..", 2) == 0 && go_up(path))
		return;
	if (path->size > 0 && path->data[path->size - 1] != '/')
		bytes_put_u8(path, '/');
	bytes_put(path, name, size);
}

static void add_part(struct bytes *path, const char *part)
{
	if (part[0] == '/') {
		path->size = 0;
		bytes_put_u8(path, '/');
	}
	while (*part && path->size < MAX_PATH_BYTES) {
		size_t size = strcspn(part, "/");

		add_name(path, part, size);
		part += size;
		part += *part == '/';
	}
}

/* The depth of the folder that both have in common; returns its size in bytes. */
static uint32_t common_folder(const char *directory, const char *path, size_t *ret_depth)
{
	uint32_t size = 0;

	*ret_depth = 0;
	for (uint32_t i = 1; directory[i - 1] == path[i - 1] && path[i - 1]; i++) {
		bool ends = directory[i] == '/' || directory[i] == '\0';

		if (path[i] != '/' || !ends)
			continue;
		size = i;
		(*ret_depth)++;
	}
	return size;
}

uint32_t path_tree(const char *comp_dir, const char *path)
{
	size_t length = comp_dir ? strlen(comp_dir) : 0;
	size_t depth;
	uint32_t size;

	if (length < 2 || comp_dir[0] != '/' || path[0] != '/')
		return 0;
	size = common_folder(comp_dir, path, &depth);
	if (size != length && strncmp(path, "/usr/", 5) == 0)
		return 4;
	return (size == length || depth >= 2) && size <= PATH_TREE_MAX ? size : 0;
}

const char *path_join(struct arena *arena, const char *comp_dir, const char *directory,
		      const char *name)
{
	const char *const parts[] = {comp_dir, directory, name};
	struct bytes path = {0};
	const char *copy = NULL;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i])
			add_part(&path, parts[i]);
	if (!path.failed)
		copy = arena_strndup(arena, path.data ? (const char *)path.data : "", path.size);
	bytes_fini(&path);
	return copy;
}
