/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_FILE_IOV_OUTPUT_H
#define WICK_BASE_FILE_IOV_OUTPUT_H

/*
 * iov_output: output that is made in one order and written in another, and whose long parts
 * stay where they lie until then.
 *
 * What is put into its bytes, and lent, between two calls of gather_close() is a slice.
 *
 * Starts as zeros.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/bytes.h"
#include "base/vec.h"

/* Shorter parts are better copied: telling the kernel of one costs as much. */
#define GATHER_WORTH_LENDING 128

struct gather_slice {
	uint32_t first; /* of its parts */
	uint32_t count;
};

struct gather {
	struct bytes bytes;
	VEC(struct iovec) parts;         /* of the bytes: without the data until they are written */
	VEC(struct gather_slice) slices; /* in the order of writing */
	struct bytes copy;               /* of what goes to the kernel at once */
	size_t cut;                      /* bytes up to here are in parts, */
	size_t closed;                   /* and parts up to here in slices */
};

void gather_fini(struct gather *gather);

/* Adds a part that stays as it is until it is written. Without memory the bytes turn failed. */
void gather_lend(struct gather *gather, const void *data, size_t size);

/* Adds count slices, empty as yet, to those to be written. Returns the number of the first. */
size_t gather_open(struct gather *gather, size_t count);

/* What came since the last call is slice number i. */
void gather_close(struct gather *gather, size_t i);

/* Whether there is enough to be written. */
bool gather_is_full(const struct gather *gather);

/* Writes and forgets all of it. Returns 0 or -errno, -ENOMEM when the bytes failed. */
int gather_write(struct gather *gather, int fd);

#endif
