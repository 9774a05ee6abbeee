/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_SOURCE_H
#define WICK_IMPORT_SOURCE_H

/*
 * source: a foreign file that is looked at part by part, from a descriptor or from
 * memory. Bytes are copied out with pread(), never mapped: a file that shrinks
 * under us ends early and does no harm.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct error;

struct import_source {
	int fd;         /* -1: in memory */
	uint64_t start; /* of what is imported, in the file */
	const uint8_t *memory;
	uint64_t size; /* in memory */
	struct bytes window;
	uint64_t window_offset;
};

/* Both borrow what they are given. */
void import_source_of_fd(struct import_source *source, int fd, uint64_t start);
void import_source_of_memory(struct import_source *source, const void *data, size_t size);
void import_source_fini(struct import_source *source);

/*
 * n bytes from offset on, or as many as there are: *ret_n tells. They stay until the
 * next call. NULL without memory, or when the file cannot be read.
 */
const uint8_t *import_source_view(struct import_source *source, uint64_t offset, size_t n,
				  size_t *ret_n);

/* Reads all of it into out; more than IMPORT_MAX_BYTES is refused. */
int import_source_read_all(struct import_source *source, struct bytes *out, struct error *err);

#endif
