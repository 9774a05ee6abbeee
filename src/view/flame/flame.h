/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_FLAME_FLAME_H
#define WICK_VIEW_FLAME_FLAME_H

/*
 * flame: a flame graph as one SVG file. In a browser it is interactive (zoom, search, tooltips);
 * other viewers show a static picture. The file loads nothing.
 */

#include <stdbool.h>
#include <stdint.h>

#include "model/call_tree.h"

struct bytes;
struct error;
struct profile;

enum flame_colors {
	FLAME_COLORS_CATEGORY = 0, /* program, library, kernel, … with a legend */
	FLAME_COLORS_MODULE = 1,   /* one hue per module */
	FLAME_COLORS_HASH = 2,     /* one hue per function */
	FLAME_COLORS_HEAT = 3,     /* the larger the self cost, the hotter */
	FLAME_COLORS_CVD = 4,      /* categories, distinguishable by colour-blind people */
	FLAME_COLORS_CONTRAST = 5, /* categories with strong contrast and patterns */
	FLAME_COLORS_LANGUAGE = 6, /* the language of functions */
	/* Only for comparisons, the colours of more and less: */
	FLAME_COLORS_RED_BLUE = 7,
	FLAME_COLORS_ORANGE_BLUE = 8, /* distinguishable by colour-blind people */
};

struct flame_options {
	const char *title;      /* NULL: the profile's */
	uint32_t value;         /* FLAME_MAIN_VALUE: the profile's main one */
	const char *value_name; /* NULL: use value */
	uint32_t width_px;      /* initial width; a browser fits it to its window; 200 … 100000 */
	uint32_t height_px;     /* a PNG is not taller: the deepest rows are left out; 0: any */
	double min_width_px;    /* narrower boxes are left out and counted */
	enum flame_colors colors;
	enum call_tree_group group;
	bool icicle; /* the root at the top */
	bool inverted;
	bool collapse_recursion;
	/* For a pair, optional: the profiles before and after, whose losses the head shows. */
	const struct profile *sides[2];
	bool pair;     /* the profile belongs to a profile_pair: show what changed */
	bool absolute; /* for a pair: initially compare amounts instead of shares */
};

#define FLAME_MAIN_VALUE UINT32_MAX

#define FLAME_OPTIONS_DEFAULT                                                                      \
	{                                                                                          \
		.value = FLAME_MAIN_VALUE, .width_px = 1200, .min_width_px = 0.5                   \
	}

/*
 * Appends the SVG to out. For a pair, widths show after, and the viewer can switch to before; boxes
 * that exist on only one side are marked.
 */
int flame_write(const struct profile *profile, const struct flame_options *options,
		struct bytes *out, struct error *err);

/*
 * Appends a PNG to out: the same picture without the script, with two pixels per px. If that would
 * be taller than viewers can open, it has one pixel per px, or leaves out the deepest rows and says
 * so. -EOPNOTSUPP if this wick cannot draw a PNG.
 */
int flame_write_png(const struct profile *profile, const struct flame_options *options,
		    struct bytes *out, struct error *err);

#endif
