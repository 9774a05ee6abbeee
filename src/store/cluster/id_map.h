/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_CLUSTER_ID_MAP_H
#define WICK_STORE_CLUSTER_ID_MAP_H

/* id_map: from 64-bit ids to small numbers, in the order in which they were added. */

#include <stddef.h>
#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"

struct id_map {
	VEC(uint64_t) ids;
	struct id_index index;
};

/* The number of an id; ID_NONE if it is not there. */
uint32_t id_map_find(const struct id_map *map, uint64_t id);
/* The same; adds it if it is missing. ID_NONE if out of memory. */
uint32_t id_map_add(struct id_map *map, uint64_t id);
void id_map_clear(struct id_map *map); /* keeps the memory */
void id_map_fini(struct id_map *map);

#endif
