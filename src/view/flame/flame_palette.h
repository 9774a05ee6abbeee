/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_FLAME_FLAME_PALETTE_H
#define WICK_VIEW_FLAME_FLAME_PALETTE_H

/*
 * flame_palette: the colours of flame graphs, as CSS classes.
 *
 * A test checks the contrast of each: text on a colour is readable (4.5:1). In palettes with edges,
 * consecutive swatches differ by 3:1, because they are in the order in which their functions call
 * each other; so does the edge of a box from every colour.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/flame/flame.h"

struct bytes;

#define FLAME_TEXT 0x141414 /* text on boxes; white on dark ones */
#define FLAME_HIT 0xb81fb8  /* search matches; their text is white */
#define FLAME_PAGE 0xffffff
#define FLAME_PAGE_DARK 0x17191e

#define FLAME_SHADES 3 /* of a swatch, to distinguish neighbours */

struct flame_swatch {
	const char *class; /* with shades it is a prefix: "p" for p0, p1, p2 */
	const char *words; /* what it means; NULL: not in the legend */
	uint32_t light;    /* 0xrrggbb, on a light page */
	uint32_t dark;     /* on a dark one */
	uint32_t shades;
	bool white;    /* text on it is white */
	char pattern;  /* of lines: / \ | - + or 0 for none */
	uint32_t line; /* the colour of its lines */
};

struct flame_palette {
	const struct flame_swatch *swatches;
	size_t count;
	uint32_t edge;   /* colour of box edges; 0: the colour of the page */
	bool edge_hides; /* narrow boxes have no edge, which would hide their colour */
};

/* The classes of a palette; palettes of hues have few. */
const struct flame_palette *flame_palette_of(enum flame_colors colors);

/* Finds the swatch of a class; NULL: none. */
const struct flame_swatch *flame_palette_find(const struct flame_palette *palette,
					      const char *class);

uint32_t flame_palette_shade(const struct flame_swatch *swatch, bool dark, uint32_t shade);

/* A colour on which dark text is readable. Hue is 0 … 359. */
uint32_t flame_palette_hue(uint32_t hue, uint32_t shade);

/* Appends the CSS rules, for a light and a dark page. */
void flame_palette_put_style(const struct flame_palette *palette, struct bytes *out);

/* Appends the patterns that the rules refer to, as SVG. */
void flame_palette_put_patterns(const struct flame_palette *palette, struct bytes *out);

#endif
