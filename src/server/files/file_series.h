/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_FILES_FILE_SERIES_H
#define WICK_SERVER_FILES_FILE_SERIES_H

/* file_series: what recordings cost in each step of time, by the value of a label if asked for. */

#include <stdbool.h>

#include "base/vec.h"
#include "model/strings.h"
#include "store/store.h"

struct error;
struct profile_request;
struct served_files;

struct series_point {
	uint32_t step; /* its start, in seconds since 1970 */
	const char *name;
	uint64_t samples;
	int64_t value;
};

struct file_series {
	const struct store_over_time *what; /* borrowed */
	VEC(struct series_point) points;
	struct strings names;
	bool failed; /* out of memory */
};

void file_series_init(struct file_series *series, const struct store_over_time *what);
void file_series_fini(struct file_series *series);

/* Adds one file, with the lock of files held. */
int file_series_add(struct file_series *series, const struct served_files *files,
		    const struct profile_request *request, struct error *err);

/* Passes the points in order of time, then of name. */
int file_series_pass(struct file_series *series, store_item_fn each, void *self, struct error *err);

#endif
