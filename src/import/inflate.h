/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_INFLATE_H
#define WICK_IMPORT_INFLATE_H

/* inflate: files that were compressed with gzip. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes;
struct error;

bool inflate_is_gzip(const uint8_t *data, size_t size);

/* Appends what data inflates to; more than IMPORT_INFLATE_TIMES and its like say is refused. */
int inflate_gzip(const uint8_t *data, size_t size, struct bytes *out, struct error *err);

#endif
