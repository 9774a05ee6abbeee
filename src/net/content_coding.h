/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_NET_CONTENT_CODING_H
#define WICK_NET_CONTENT_CODING_H

/*
 * content_coding: the Content-Encoding of a body: gzip or zstd, decompressed up to a limit, so that
 * a few bytes cannot become gigabytes.
 */

#include <stddef.h>

struct bytes;
struct error;

/*
 * Appends the decompressed body. coding NULL, "" and "identity" copy it. -EFBIG if the result is
 * larger than the limit, -EOPNOTSUPP for another coding, -EBADMSG if it is damaged.
 */
int content_decode(const char *coding, const void *data, size_t size, size_t limit,
		   struct bytes *out, struct error *err);

/* Appends data as Content-Encoding zstd. Returns 0 or -ENOMEM. */
int content_encode_zstd(const void *data, size_t size, struct bytes *out, struct error *err);

#endif
