/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_FILE_IOV_OUTPUT_H
#define WICK_BASE_FILE_IOV_OUTPUT_H

/*
 * iov_output: output that is produced in one order and written in another, and whose long parts are
 * not copied before they are written.
 *
 * Whatever is put into its bytes, or lent, between two calls of iov_output_close() is a slice.
 *
 * Starts as zeros.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/bytes.h"
#include "base/vec.h"

/* Shorter parts are better copied: an iovec for one costs as much. */
#define IOV_OUTPUT_WORTH_LENDING 128

struct iov_output_slice {
	uint32_t first; /* index of its first part */
	uint32_t count;
};

struct iov_output {
	struct bytes bytes;
	VEC(struct iovec) parts; /* those in bytes have no address until they are written */
	VEC(struct iov_output_slice) slices; /* in the order of writing */
	struct bytes copy;                   /* what goes to the kernel at once */
	size_t cut;                          /* bytes up to here are in parts, */
	size_t closed;                       /* and parts up to here in slices */
};

void iov_output_fini(struct iov_output *gather);

/* Adds a part that must not change until it is written. Without memory the bytes turn failed. */
void iov_output_lend(struct iov_output *gather, const void *data, size_t size);

/* Adds count empty slices to those to be written. Returns the index of the first. */
size_t iov_output_open(struct iov_output *gather, size_t count);

/* Makes everything added since the last call slice i. */
void iov_output_close(struct iov_output *gather, size_t i);

/* Whether there is enough to write. */
bool iov_output_is_full(const struct iov_output *gather);

/* Writes and forgets everything. Returns 0 or -errno, -ENOMEM when the bytes failed. */
int iov_output_write(struct iov_output *gather, int fd);

#endif
