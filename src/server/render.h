/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_RENDER_H
#define WICK_SERVER_RENDER_H

/* render: a profile or a comparison in the format that a request asks for. */

#include <stdbool.h>
#include <stdint.h>

struct bytes;
struct error;
struct flame_page_options;
struct http_response;
struct profile;

/*
 * For graphs, which have a script of their own: names in a profile come from anywhere, so the
 * document has no origin and loads nothing. Only our own page may have it in a frame.
 */
#define RENDER_GRAPH_POLICY                                                                        \
	"sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "  \
	"style-src 'unsafe-inline'; img-src data: blob:; frame-ancestors 'self'"

struct render_options {
	/* "text", "json", "svg", "png", "html", "page", "wick", or a format of wick export */
	const char *format;
	const char *language; /* only stacks with a call in it; NULL: all */
	bool color;
	uint32_t limit;     /* rows of a table; 0: all */
	uint32_t width_px;  /* of a picture */
	uint32_t height_px; /* at most */
};

/* Pictures have two pixels per px. */
#define RENDER_WIDTH_PX 1200u
#define RENDER_HEIGHT_PX 2000u
#define RENDER_SIDE_MAX_PX 4000u

/* Fills body and type of the answer. -EINVAL for an unknown format. */
int render_profile(const struct profile *profile, const struct render_options *options,
		   struct http_response *response, struct error *err);

/* Whether a format is a graph; and the answer as a graph, with what the view says about it. */
bool render_is_graph(const char *format);
int render_graph(const struct profile *profile, const struct flame_page_options *view,
		 const struct render_options *options, struct http_response *response,
		 struct error *err);

/* Appends a recording with the same stacks, names and values. */
int render_recording(const struct profile *profile, struct bytes *out, struct error *err);

#endif
