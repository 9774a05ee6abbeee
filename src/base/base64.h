/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_BASE64_H
#define WICK_BASE_BASE64_H

/* base64: bytes that were written as text; both alphabets of RFC 4648 are read. */

#include <stdbool.h>

struct bytes;

/* Appends to out. Returns false for other characters, or if out of memory. */
bool base64_decode(const char *text, struct bytes *out);

#endif
