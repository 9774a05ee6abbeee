/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_TOP_TOP_SCREEN_H
#define WICK_VIEW_TOP_TOP_SCREEN_H

/*
 * top_screen: what a live view shows, as pieces of text with a style, each at its place.
 *
 * Pieces never reach over the edges, and hold nothing that a terminal would act on. Knows
 * no terminal: others draw it, or print it.
 */

#include <stdint.h>

#include "base/bytes.h"
#include "base/vec.h"

enum top_style {
	TOP_PLAIN,
	TOP_DIM,
	TOP_STRONG,
	TOP_BAR,      /* the first and the last line */
	TOP_SELECTED, /* what keys act on */
	TOP_MATCH,    /* what the filter found, where all is shown */
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
	size_t text; /* its place in the bytes of the screen */
	size_t size;
};

struct top_screen {
	uint32_t columns;
	uint32_t rows;
	struct bytes text; /* UTF-8; failed: without memory */
	VEC(struct top_span) spans;
};

/* Starts as zeros; makes it an empty one of that size, and keeps the memory. */
void top_screen_clear(struct top_screen *screen, uint32_t columns, uint32_t rows);
void top_screen_fini(struct top_screen *screen);

/*
 * Puts a text into a field, cut or filled with blanks to its width; the field is cut at
 * the edge. Where the text is too long its last column is "~".
 */
void top_screen_put(struct top_screen *screen, struct top_span field, const char *text);

/* The lines as plain text, without blanks at their ends. */
void top_screen_print(const struct top_screen *screen, struct bytes *out);

/* How many columns a text takes on a terminal. */
uint32_t top_text_columns(const char *text);

#endif
