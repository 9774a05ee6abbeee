/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_TOP_TOP_SCREEN_H
#define WICK_VIEW_TOP_TOP_SCREEN_H

/*
 * top_screen: the contents of the live view: pieces of text, each with a style and a position.
 *
 * Pieces never extend beyond the edges and contain no control characters. It knows nothing about
 * terminals: others draw or print the screen.
 */

#include <stdint.h>

#include "base/bytes.h"
#include "base/vec.h"

enum top_style {
	TOP_PLAIN,
	TOP_DIM,
	TOP_STRONG,
	TOP_BAR,      /* the first and the last line */
	TOP_SELECTED, /* the selected row or box */
	TOP_MATCH,    /* a match of the filter, where everything is shown */
	TOP_WARNING,
	/* Boxes of the flame graph, by the origin of their function. */
	TOP_BOX_PROGRAM,
	TOP_BOX_LIBRARY,
	TOP_BOX_KERNEL,
	TOP_BOX_OTHER,
	TOP_STYLES
};

struct top_span {
	uint32_t row;
	uint32_t column;
	uint32_t width; /* in columns: the text fills them */
	enum top_style style;
	size_t text; /* its offset in the bytes of the screen */
	size_t size;
};

struct top_screen {
	uint32_t columns;
	uint32_t rows;
	struct bytes text; /* UTF-8; failed: out of memory */
	VEC(struct top_span) spans;
};

/* Makes the screen, which starts as zeros, empty and of this size; keeps its memory. */
void top_screen_clear(struct top_screen *screen, uint32_t columns, uint32_t rows);
void top_screen_fini(struct top_screen *screen);

/*
 * Puts text into a field, cut or padded with blanks to its width; the field is cut at the edge of
 * the screen. If the text is too long, its last column is "~".
 */
void top_screen_put(struct top_screen *screen, struct top_span field, const char *text);

/* The lines as plain text, without blanks at their ends. */
void top_screen_print(const struct top_screen *screen, struct bytes *out);

/* How many columns a text takes on a terminal. */
uint32_t top_text_columns(const char *text);

#endif
