/* SPDX-License-Identifier: BSD-2-Clause */
#include "process_stacks/pending_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct pending_maps {
	size_t refs;
	VEC(struct pending_map) items;
};

/* A list of one's own with the same maps. NULL if out of memory. */
static struct pending_maps *copy(const struct pending_maps *from)
{
	struct pending_maps *maps = calloc(1, sizeof(*maps));

	if (!maps)
		return NULL;
	maps->refs = 1;
	if (!from)
		return maps;
	if (vec_reserve(&maps->items, from->items.count + 1) < 0) {
		free(maps);
		return NULL;
	}
	memcpy(maps->items.items, from->items.items,
	       from->items.count * sizeof(*from->items.items));
	maps->items.count = from->items.count;
	return maps;
}

int pending_maps_add(struct pending_maps **maps, const struct pending_map *map)
{
	if (!*maps || (*maps)->refs > 1) {
		struct pending_maps *own = copy(*maps);

		if (!own)
			return -ENOMEM;
		pending_maps_drop(maps);
		*maps = own;
	}
	return vec_push(&(*maps)->items, *map);
}

struct pending_maps *pending_maps_share(struct pending_maps *maps)
{
	if (maps)
		maps->refs++;
	return maps;
}

void pending_maps_drop(struct pending_maps **maps)
{
	struct pending_maps *old = *maps;

	*maps = NULL;
	if (!old || --old->refs > 0)
		return;
	vec_fini(&old->items);
	free(old);
}

const struct pending_map *pending_maps_items(const struct pending_maps *maps, size_t *ret_count)
{
	*ret_count = maps ? maps->items.count : 0;
	return maps ? maps->items.items : NULL;
}
