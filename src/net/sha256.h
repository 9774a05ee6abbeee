/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_NET_SHA256_H
#define WICK_NET_SHA256_H

/* sha256: the hash of FIPS 180-4. */

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32

void sha256(const void *data, size_t size, uint8_t ret[SHA256_BYTES]);

#endif
