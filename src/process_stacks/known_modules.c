/* SPDX-License-Identifier: BSD-2-Clause */
#include "process_stacks/known_modules.h"

#include <errno.h>

#include <xxhash.h>

void known_modules_fini(struct known_modules *modules)
{
	vec_fini(&modules->items);
	id_index_fini(&modules->index);
}

static uint64_t hash_of(const struct known_module *part)
{
	uint64_t hash = hash_pair(hash_pair(part->path, part->file_offset), part->inode);

	return XXH3_64bits_withSeed(part->build_id.bytes, part->build_id.size, hash);
}

static bool is_same(const struct known_module *a, const struct known_module *b)
{
	return a->path == b->path && a->file_offset == b->file_offset && a->inode == b->inode &&
	       a->device == b->device && build_id_equal(&a->build_id, &b->build_id);
}

/* The index of a part, or ID_NONE. */
static uint32_t find(const struct known_modules *modules, const struct known_module *part)
{
	struct id_probe probe = id_index_probe(&modules->index, hash_of(part));
	uint32_t i;

	while ((i = id_probe_next(&modules->index, &probe)) != ID_NONE)
		if (is_same(&modules->items.items[i], part))
			break;
	return i;
}

bool known_modules_find(const struct known_modules *modules, struct known_module *part)
{
	uint32_t i = find(modules, part);

	if (i != ID_NONE)
		*part = modules->items.items[i];
	return i != ID_NONE;
}

int known_modules_put(struct known_modules *modules, const struct known_module *part)
{
	uint32_t i = find(modules, part);

	if (i != ID_NONE) {
		modules->items.items[i] = *part;
		return 0;
	}
	if (vec_push(&modules->items, *part) < 0 ||
	    id_index_add(&modules->index, hash_of(part), (uint32_t)modules->items.count - 1) < 0)
		return -ENOMEM;
	return 0;
}

bool known_modules_confirm(struct known_modules *modules, struct known_module *part,
			   const char *path, uint64_t now_ns)
{
	if (!file_stamp_is_at(&part->stamp, path))
		return false;
	part->looked_ns = now_ns;
	return known_modules_put(modules, part) == 0;
}
