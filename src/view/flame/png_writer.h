/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_FLAME_PNG_WRITER_H
#define WICK_VIEW_FLAME_PNG_WRITER_H

/*
 * png_writer: a PNG of 8-bit red, green and blue, row by row. It keeps two rows in memory, not the
 * picture, and writes no time and no name: equal pixels give equal files.
 */

#include <stdint.h>

struct bytes;
struct png_writer;

/* Borrows out until png_writer_finish(). NULL if out of memory. */
struct png_writer *png_writer_new(struct bytes *out, uint32_t width_px, uint32_t height_px);

/* Adds a row of 0x00rrggbb. If memory runs out, out fails. */
void png_writer_row(struct png_writer *png, const uint32_t *pixels);

/* Writes the end, after height_px rows. */
void png_writer_finish(struct png_writer *png);
void png_writer_free(struct png_writer *png); /* NULL is fine */

#endif
