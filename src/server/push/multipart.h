/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_PUSH_MULTIPART_H
#define WICK_SERVER_PUSH_MULTIPART_H

/* multipart: finds a part of a multipart/form-data body by its name. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct multipart_part {
	const uint8_t *data; /* borrowed from the body */
	size_t size;
};

/* False if the body is of another type, or has no such part. */
bool multipart_find(const char *content_type, const uint8_t *body, size_t size, const char *name,
		    struct multipart_part *ret);

#endif
