/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_RENDER_H
#define WICK_SERVER_RENDER_H

/* render: a profile or a comparison in the format that a request asks for. */

#include <stdbool.h>
#include <stdint.h>

struct bytes;
struct error;
struct http_response;
struct profile;

struct render_options {
	const char *format; /* "text", "json", "svg", "html", "wick", or a format of wick export */
	bool color;
	uint32_t limit; /* rows of a table; 0: all */
};

/* Fills body and type of the answer. -EINVAL for an unknown format. */
int render_profile(const struct profile *profile, const struct render_options *options,
		   struct http_response *response, struct error *err);

/* Appends a recording with the same stacks, names and values. */
int render_recording(const struct profile *profile, struct bytes *out, struct error *err);

#endif
