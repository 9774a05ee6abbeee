/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_FLAME_FLAME_H
#define WICK_VIEW_FLAME_FLAME_H

/*
 * flame: a flame graph as one SVG file. A browser makes it interactive (zoom,
 * search, tooltips); everything else shows it as a picture. It loads nothing.
 */

#include <stdbool.h>
#include <stdint.h>

#include "model/call_tree.h"

struct bytes;
struct error;
struct profile;

enum flame_colors {
	FLAME_COLORS_CATEGORY = 0, /* program, library, kernel, … with a legend */
	FLAME_COLORS_MODULE = 1,   /* a hue for each module */
	FLAME_COLORS_HASH = 2,     /* a hue for each function */
	FLAME_COLORS_HEAT = 3,     /* the more a function costs itself, the hotter */
	FLAME_COLORS_CVD = 4,      /* categories told apart by colour-blind people too */
	FLAME_COLORS_CONTRAST = 5, /* categories with strong contrast and patterns */
	FLAME_COLORS_LANGUAGE = 6, /* what functions are written in */
	/* Of a comparison, and only there: more and less in */
	FLAME_COLORS_RED_BLUE = 7,
	FLAME_COLORS_ORANGE_BLUE = 8, /* told apart by colour-blind people too */
};

struct flame_options {
	const char *title;      /* NULL: the profile's */
	uint32_t value;         /* FLAME_MAIN_VALUE: the profile's main one */
	const char *value_name; /* NULL: value tells */
	uint32_t width_px;      /* until a browser fits it to its window; 200 … 100000 */
	double min_width_px;    /* narrower boxes are left out and counted */
	enum flame_colors colors;
	enum call_tree_group group;
	bool icicle; /* the root at the top */
	bool inverted;
	bool collapse_recursion;
	/* Of a pair, optional: the profiles before and after, whose losses the head tells. */
	const struct profile *sides[2];
	bool pair;     /* the profile is that of a profile_pair: shows what changed */
	bool absolute; /* of a pair: compares amounts instead of shares at first */
};

#define FLAME_MAIN_VALUE UINT32_MAX

#define FLAME_OPTIONS_DEFAULT                                                                      \
	{                                                                                          \
		.value = FLAME_MAIN_VALUE, .width_px = 1200, .min_width_px = 0.5                   \
	}

/*
 * Appends the SVG to out. Of a pair, widths are those after, or before at the
 * viewer's choice; boxes that only one side has are marked.
 */
int flame_write(const struct profile *profile, const struct flame_options *options,
		struct bytes *out, struct error *err);

/*
 * Appends a PNG to out: the same picture without the script, in two pixels for each of
 * width_px. One that would be higher than viewers open has one pixel, or leaves out the
 * deepest rows and says so. -EOPNOTSUPP when this wick cannot draw it.
 */
int flame_write_png(const struct profile *profile, const struct flame_options *options,
		    struct bytes *out, struct error *err);

#endif
