/* SPDX-License-Identifier: BSD-2-Clause */
#include "dwarf/path.h"

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

/* Takes the last name off; false when there is none to take. */
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
