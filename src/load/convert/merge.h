/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_CONVERT_MERGE_H
#define WICK_LOAD_CONVERT_MERGE_H

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
struct load_options;

/*
 * Writes the recordings of paths to output, a descriptor that is taken over. Of options the
 * importers are used, and who is told of damage.
 */
int merge_files(const char *const *paths, size_t count, const struct load_options *options,
		int output, struct error *err);

#endif
