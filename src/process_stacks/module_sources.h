/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_MODULE_SOURCES_H
#define WICK_PROCESS_STACKS_MODULE_SOURCES_H

/* module_sources: where the file of each module was first seen mapped, to read it when needed. */

#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "model/entity.h"
#include "proc/maps.h"

struct module_source {
	struct map_region region; /* its path is the caller's and stays; NULL: not seen */
	struct build_id build_id; /* as reported */
	pid_t pid;
};

struct module_sources {
	VEC(struct module_source) items; /* by module id of the sink */
};

void module_sources_fini(struct module_sources *sources);

/* NULL: the module was not seen. Valid until another one is added. */
const struct module_source *module_sources_get(const struct module_sources *sources,
					       uint32_t module);

/* Without memory, or if the module is known, nothing happens. */
void module_sources_put(struct module_sources *sources, uint32_t module,
			const struct module_source *source);

#endif
