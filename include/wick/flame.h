/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_FLAME_H
#define WICK_FLAME_H

/*
 * flame: a profile as a flame graph: a picture in SVG or PNG, or a page in HTML with the graph, a
 * table, callers and callees, source lines and a timeline. The files load nothing. <wick/profile.h>
 * includes this header, and says how options and threads are handled.
 */

#include <stddef.h>
#include <stdint.h>

#include <wick/error.h>
#include <wick/export.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wick_profile;

/* What the colours show. */
enum wick_flame_colors {
	WICK_FLAME_CATEGORY = 0, /* program, library, kernel … */
	WICK_FLAME_MODULE = 1,
	WICK_FLAME_HASH = 2, /* a hue per function */
	WICK_FLAME_HEAT = 3, /* the larger the self value, the hotter */
	WICK_FLAME_CVD = 4,  /* categories, in colours that colour-blind people can distinguish */
	WICK_FLAME_CONTRAST = 5, /* with patterns */
	WICK_FLAME_LANGUAGE = 6,
};

struct wick_flame_options {
	size_t size;        /* sizeof(struct wick_flame_options) */
	const char *title;  /* NULL: what was profiled */
	const char *value;  /* name of the value; NULL: the main one */
	uint32_t colors;    /* enum wick_flame_colors */
	uint32_t width_px;  /* 200 … 100000; 0: 1200 */
	uint32_t icicle;    /* 1: the root at the top */
	uint32_t inverted;  /* 1: leaves first, growing towards their callers */
	uint32_t by_thread; /* 1: a separate tower per thread */
};

/*
 * Write to a file, which is either written completely or not at all; "-" means standard output.
 * wick_flame_html() reads the loaded file again for its timeline; if the file has been removed or
 * changed, the page has no timeline. wick_flame_png() returns -EOPNOTSUPP if the cairo library is
 * missing.
 */
WICK_API int wick_flame_svg(const struct wick_profile *profile,
			    const struct wick_flame_options *options, const char *path,
			    struct wick_error *err);
WICK_API int wick_flame_html(const struct wick_profile *profile,
			     const struct wick_flame_options *options, const char *path,
			     struct wick_error *err);
WICK_API int wick_flame_png(const struct wick_profile *profile,
			    const struct wick_flame_options *options, const char *path,
			    struct wick_error *err);

/*
 * The same in memory: *ret_text ends with a 0 byte, and the caller releases it with
 * wick_text_free().
 */
WICK_API int wick_flame_svg_text(const struct wick_profile *profile,
				 const struct wick_flame_options *options, char **ret_text,
				 size_t *ret_size, struct wick_error *err);
WICK_API int wick_flame_html_text(const struct wick_profile *profile,
				  const struct wick_flame_options *options, char **ret_text,
				  size_t *ret_size, struct wick_error *err);

#ifdef __cplusplus
}
#endif

#endif
