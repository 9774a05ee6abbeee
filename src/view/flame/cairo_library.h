/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_FLAME_CAIRO_LIBRARY_H
#define WICK_VIEW_FLAME_CAIRO_LIBRARY_H

/*
 * cairo_library: libcairo, loaded on first use.
 *
 * It depends on twenty more libraries and takes 1.3 ms of CPU to load: too much for every start of
 * a program that draws in one of a hundred runs. If it is missing, everything else works.
 */

#include <cairo.h>

struct error;

struct cairo_library {
	void *handle;
	__typeof__(cairo_image_surface_create_for_data) *image_surface_create_for_data;
	__typeof__(cairo_surface_flush) *surface_flush;
	__typeof__(cairo_surface_destroy) *surface_destroy;
	__typeof__(cairo_create) *create;
	__typeof__(cairo_destroy) *destroy;
	__typeof__(cairo_status) *status;
	__typeof__(cairo_status_to_string) *status_to_string;
	__typeof__(cairo_save) *save;
	__typeof__(cairo_restore) *restore;
	__typeof__(cairo_scale) *scale;
	__typeof__(cairo_translate) *translate;
	__typeof__(cairo_set_source_rgb) *set_source_rgb;
	__typeof__(cairo_set_source_rgba) *set_source_rgba;
	__typeof__(cairo_set_line_width) *set_line_width;
	__typeof__(cairo_set_dash) *set_dash;
	__typeof__(cairo_rectangle) *rectangle;
	__typeof__(cairo_move_to) *move_to;
	__typeof__(cairo_line_to) *line_to;
	__typeof__(cairo_clip) *clip;
	__typeof__(cairo_fill) *fill;
	__typeof__(cairo_stroke) *stroke;
	__typeof__(cairo_paint) *paint;
	__typeof__(cairo_select_font_face) *select_font_face;
	__typeof__(cairo_set_font_size) *set_font_size;
	__typeof__(cairo_show_text) *show_text;
	__typeof__(cairo_font_options_create) *font_options_create;
	__typeof__(cairo_font_options_destroy) *font_options_destroy;
	__typeof__(cairo_font_options_set_antialias) *font_options_set_antialias;
	__typeof__(cairo_font_options_set_hint_style) *font_options_set_hint_style;
	__typeof__(cairo_font_options_set_hint_metrics) *font_options_set_hint_metrics;
	__typeof__(cairo_set_font_options) *set_font_options;
};

/* Loads the library; -EOPNOTSUPP if it is missing. It stays loaded: see the .c file. */
int cairo_library_load(struct cairo_library *cairo, struct error *err);

#endif
