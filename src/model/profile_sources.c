/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/profile_sources.h"

#include <errno.h>

void profile_sources_fini(struct profile_sources *sources)
{
	vec_fini(&sources->items);
	id_index_fini(&sources->index);
}

struct id_probe profile_sources_probe(const struct profile_sources *sources, uint32_t path)
{
	return id_index_probe(&sources->index, hash_pair(path, 0));
}

const struct profile_source *profile_sources_next(const struct profile_sources *sources,
						  uint32_t path, struct id_probe *probe)
{
	uint32_t id;

	while ((id = id_probe_next(&sources->index, probe)) != ID_NONE)
		if (sources->items.items[id].path == path)
			return &sources->items.items[id];
	return NULL;
}

int profile_sources_add(struct profile_sources *sources, const struct profile_source *source)
{
	struct id_probe probe = profile_sources_probe(sources, source->path);
	const struct profile_source *known;

	while ((known = profile_sources_next(sources, source->path, &probe)))
		if (known->module == source->module && known->tree == source->tree)
			return 0;
	if (vec_push(&sources->items, *source) < 0)
		return -ENOMEM;
	return id_index_add(&sources->index, hash_pair(source->path, 0),
			    (uint32_t)sources->items.count - 1);
}
