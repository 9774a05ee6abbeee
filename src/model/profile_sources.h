/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_PROFILE_SOURCES_H
#define WICK_MODEL_PROFILE_SOURCES_H

/*
 * profile_sources: where source files are according to debug information, and who wrote that.
 *
 * The writer of the debug information chose the paths: view/source_file.h uses this to decide
 * whether a file is read.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"

struct profile_source {
	uint32_t path;   /* string id of the profile */
	uint32_t tree;   /* length of the part that is the source folder; not 0 */
	uint32_t module; /* any number that identifies the module */
	bool is_script;  /* a process named it, not debug information */
	bool is_known;   /* who wrote it: */
	uint32_t uid;
};

struct profile_sources {
	VEC(struct profile_source) items; /* a path may occur several times */
	struct id_index index;            /* by path */
	bool is_own;                      /* the recording belongs to the user who views it */
	bool has_user;     /* it was recorded, not imported, and all processes ran as one user: */
	uint32_t user_uid; /* this one */
};

void profile_sources_fini(struct profile_sources *sources);

/* Adds a source unless it exists. 0 or -ENOMEM. */
int profile_sources_add(struct profile_sources *sources, const struct profile_source *source);

/* Starts a search for those of a path, and returns the next one, NULL after the last. */
struct id_probe profile_sources_probe(const struct profile_sources *sources, uint32_t path);
const struct profile_source *profile_sources_next(const struct profile_sources *sources,
						  uint32_t path, struct id_probe *probe);

#endif
