/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_FILES_FILES_SOURCE_H
#define WICK_SERVER_FILES_FILES_SOURCE_H

/*
 * files_source: recordings as a source of profiles (server/source.h).
 *
 * Lists show whole recordings, whatever range of time is asked for. "now" is the end of the
 * recordings that a selector means.
 */

#include "server/files/served_files.h"
#include "server/source.h"

struct files_source {
	struct source source; /* first: the routes know nothing else */
	struct served_files files;
};

extern const struct source_ops files_source;

/* The indices of the files that matches select; the caller frees *ret. 0 or -ENOMEM. */
int files_source_select(const struct files_source *source, const struct store_match *matches,
			size_t match_count, size_t **ret, size_t *ret_count);

#endif
