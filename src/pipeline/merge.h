/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PIPELINE_MERGE_H
#define WICK_PIPELINE_MERGE_H

/*
 * merge: one recording of many, in any format that load_open() takes.
 *
 * Blocks of a heap stay in their processes, which are kept apart: addresses may be the same.
 *
 * All must measure the same in the same unit. Where all of them know the time of
 * day, their samples keep their distances in time; else they all begin together.
 */

#include <stddef.h>

struct error;
struct importer_ops;

/*
 * Writes the recordings of paths to output, a descriptor that is taken over. Formats of importers
 * (NULL last, NULL: none) are known besides ours.
 */
int merge_files(const char *const *paths, size_t count, const struct importer_ops *const *importers,
		int output, struct error *err);

#endif
