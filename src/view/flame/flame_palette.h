/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_FLAME_FLAME_PALETTE_H
#define WICK_VIEW_FLAME_FLAME_PALETTE_H

/*
 * flame_palette: the colours of flame graphs, as CSS classes.
 *
 * A test computes the contrast of each: what is written on a colour can be read
 * (4.5:1). In palettes with edges, swatches that follow each other differ by 3:1, for they
 * are in the order in which their functions call each other, and so does the edge of a
 * box from every colour.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/flame/flame.h"

struct bytes;

#define FLAME_TEXT 0x141414 /* on boxes; white on those that are dark */
#define FLAME_HIT 0xb81fb8  /* what a search found; its text is white */
#define FLAME_PAGE 0xffffff
#define FLAME_PAGE_DARK 0x17191e

#define FLAME_SHADES 3 /* of a swatch: neighbours are told apart */

struct flame_swatch {
	const char *class; /* with shades: of the first ones, "p" for p0, p1, p2 */
	const char *words; /* what it means; NULL: nothing to tell */
	uint32_t light;    /* 0xrrggbb, on a light page */
	uint32_t dark;     /* on a dark one */
	uint32_t shades;
	bool white;    /* the text on it */
	char pattern;  /* of lines: / \ | - + or 0 for none */
	uint32_t line; /* the colour of its lines */
};

struct flame_palette {
	const struct flame_swatch *swatches;
	size_t count;
	uint32_t edge;   /* of boxes; 0: the colour of the page */
	bool edge_hides; /* it would hide the colour of narrow boxes: they have none */
};

/* The classes of the palette of colours; those of hues have few. */
const struct flame_palette *flame_palette_of(enum flame_colors colors);

/* The swatch of a class, NULL for none. */
const struct flame_swatch *flame_palette_find(const struct flame_palette *palette,
					      const char *class);

uint32_t flame_palette_shade(const struct flame_swatch *swatch, bool dark, uint32_t shade);

/* A colour that dark text can be read on. Hue is 0 … 359. */
uint32_t flame_palette_hue(uint32_t hue, uint32_t shade);

/* Appends the rules of CSS, for a light and a dark page. */
void flame_palette_put_style(const struct flame_palette *palette, struct bytes *out);

/* Appends the patterns that they name, as SVG. */
void flame_palette_put_patterns(const struct flame_palette *palette, struct bytes *out);

#endif
