/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_SUMMED_FILE_H
#define WICK_SYMBOL_SUMMED_FILE_H

/*
 * summed_file: a file of the cache directory that is a header and a body, written piece by piece.
 * The header has the checksum (XXH3) of the body, which is known only when all of it was put.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file/cache_dir.h"

struct summed_file {
	struct cache_file file;
	struct XXH3_state_s *sum; /* of the body so far */
};

/*
 * Leaves room for a header of n bytes. Returns false if out of memory, with nothing to finish;
 * otherwise put as often as needed, then always finish.
 */
bool summed_file_begin(struct summed_file *file, struct cache_dir *dir, const void *header,
		       size_t n);
void summed_file_put(struct summed_file *file, const void *data, size_t n);
uint64_t summed_file_checksum(const struct summed_file *file);
/* Writes the header as it is now, as many bytes as at the beginning. */
void summed_file_finish(struct summed_file *file, const char *name, const void *header, size_t n);

#endif
