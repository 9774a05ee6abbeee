/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_PENDING_MAPS_H
#define WICK_PROCESS_STACKS_PENDING_MAPS_H

/*
 * pending_maps: what a process that has no sample yet has mapped. Most programs that come and go
 * never get one, so nothing is found out about their files. A forked child shares the list of its
 * parent until one of them changes.
 */

#include <stdint.h>

#include "model/entity.h"
#include "proc/maps.h"

struct pending_map {
	struct map_region region; /* its path is the caller's, and must stay */
	struct build_id build_id; /* as reported; size 0: none */
	uint64_t time_ns;
};

struct pending_maps;

/* Adds to a list that begins as NULL. Returns 0 or -ENOMEM. */
int pending_maps_add(struct pending_maps **maps, const struct pending_map *map);

/* The same list for another process, which releases it too. NULL stays NULL. */
struct pending_maps *pending_maps_share(struct pending_maps *maps);

/* Releases the list; it is NULL then. */
void pending_maps_drop(struct pending_maps **maps);

/* In the order in which they were added. NULL: an empty list. */
const struct pending_map *pending_maps_items(const struct pending_maps *maps, size_t *ret_count);

#endif
