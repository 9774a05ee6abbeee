/* SPDX-License-Identifier: BSD-2-Clause */
#include "process_stacks/module_sources.h"

void module_sources_fini(struct module_sources *sources)
{
	vec_fini(&sources->items);
}

const struct module_source *module_sources_get(const struct module_sources *sources,
					       uint32_t module)
{
	if (module >= sources->items.count || !sources->items.items[module].region.path)
		return NULL;
	return &sources->items.items[module];
}

void module_sources_put(struct module_sources *sources, uint32_t module,
			const struct module_source *source)
{
	while (sources->items.count <= module)
		if (vec_push(&sources->items, (struct module_source){0}) < 0)
			return;
	if (!sources->items.items[module].region.path)
		sources->items.items[module] = *source;
}
