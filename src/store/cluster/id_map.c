/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/cluster/id_map.h"

uint32_t id_map_find(const struct id_map *map, uint64_t id)
{
	struct id_probe probe = id_index_probe(&map->index, hash_pair(id, 0));
	uint32_t number;

	while ((number = id_probe_next(&map->index, &probe)) != ID_NONE)
		if (map->ids.items[number] == id)
			return number;
	return ID_NONE;
}

uint32_t id_map_add(struct id_map *map, uint64_t id)
{
	uint32_t number = id_map_find(map, id);

	if (number != ID_NONE)
		return number;
	number = (uint32_t)map->ids.count;
	if (vec_reserve(&map->ids, map->ids.count + 1) < 0 ||
	    id_index_add(&map->index, hash_pair(id, 0), number) < 0)
		return ID_NONE;
	map->ids.items[map->ids.count++] = id;
	return number;
}

void id_map_clear(struct id_map *map)
{
	map->ids.count = 0;
	id_index_clear(&map->index);
}

void id_map_fini(struct id_map *map)
{
	vec_fini(&map->ids);
	id_index_fini(&map->index);
}
