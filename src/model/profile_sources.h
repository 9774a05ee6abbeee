/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_PROFILE_SOURCES_H
#define WICK_MODEL_PROFILE_SOURCES_H

/*
 * profile_sources: where debug information says that source files lie, and who says so.
 *
 * Who wrote the debug information chose the paths: view/source_file.h decides by this whether
 * a file is read.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"

struct profile_source {
	uint32_t path;   /* string id of the profile */
	uint32_t tree;   /* its first bytes that are the folder of the sources; not 0 */
	uint32_t module; /* number of the module, whatever has them */
	bool is_known;   /* who wrote it: */
	uint32_t uid;
};

struct profile_sources {
	VEC(struct profile_source) items; /* a path may come several times */
	struct id_index index;            /* by path */
	bool is_own;                      /* the recording is a file of who looks at it */
	bool has_user;     /* it was recorded, not imported, and all processes ran as one user: */
	uint32_t user_uid; /* this one */
};

void profile_sources_fini(struct profile_sources *sources);

/* Adds a source unless it is there. 0 or -ENOMEM. */
int profile_sources_add(struct profile_sources *sources, const struct profile_source *source);

/* Begins to look for those of a path; the next one, NULL after the last. */
struct id_probe profile_sources_probe(const struct profile_sources *sources, uint32_t path);
const struct profile_source *profile_sources_next(const struct profile_sources *sources,
						  uint32_t path, struct id_probe *probe);

#endif
