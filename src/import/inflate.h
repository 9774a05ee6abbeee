/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_INFLATE_H
#define WICK_IMPORT_INFLATE_H

/* inflate: decompresses gzip files. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes;
struct error;

bool inflate_is_gzip(const uint8_t *data, size_t size);

/*
 * Appends the decompressed data; fails if it is larger than IMPORT_INFLATE_TIMES and related limits
 * allow.
 */
int inflate_gzip(const uint8_t *data, size_t size, struct bytes *out, struct error *err);

#endif
