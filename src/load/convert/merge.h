/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_CONVERT_MERGE_H
#define WICK_LOAD_CONVERT_MERGE_H

/*
 * merge: merges several recordings, in any format that load_open() accepts, into one.
 *
 * Processes are kept apart, and heap blocks stay in their processes, because addresses may
 * coincide.
 *
 * All must measure the same value in the same unit. If all of them know the time of day, samples
 * keep their distances in time; otherwise all recordings start at the same time.
 */

#include <stddef.h>

struct error;
struct load_options;

/*
 * Merges the recordings at paths into output, a descriptor that it takes over. Of the options it
 * uses only the importers and the damage callback.
 */
int merge_files(const char *const *paths, size_t count, const struct load_options *options,
		int output, struct error *err);

#endif
