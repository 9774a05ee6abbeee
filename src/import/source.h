/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_SOURCE_H
#define WICK_IMPORT_SOURCE_H

/*
 * source: reads a foreign file piece by piece, from a descriptor or from memory. Bytes are copied
 * with pread(), never mapped: a file that shrinks while we read simply ends early.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct error;

struct import_source {
	int fd;         /* -1: in memory */
	uint64_t start; /* offset of the imported data in the file */
	const uint8_t *memory;
	uint64_t size; /* in memory */
	struct bytes window;
	uint64_t window_offset;
};

/* Both borrow their arguments. */
void import_source_of_fd(struct import_source *source, int fd, uint64_t start);
void import_source_of_memory(struct import_source *source, const void *data, size_t size);
void import_source_fini(struct import_source *source);

/*
 * Returns n bytes from offset on, or as many as there are: *ret_n is the number. They are valid
 * until the next call. Returns NULL if out of memory, or if the file cannot be read.
 */
const uint8_t *import_source_view(struct import_source *source, uint64_t offset, size_t n,
				  size_t *ret_n);

/* Reads everything into out; fails if it is more than IMPORT_MAX_BYTES. */
int import_source_read_all(struct import_source *source, struct bytes *out, struct error *err);

#endif
