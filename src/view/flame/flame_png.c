/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/quantity.h"
#include "base/text.h"
#include "model/call_tree.h"
#include "view/flame/cairo_library.h"
#include "view/flame/flame.h"
#include "view/flame/flame_palette.h"
#include "view/flame/flame_picture.h"
#include "view/flame/png_writer.h"

/*
 * The picture of flame.c in pixels: the same boxes, colours and words, on a light page. It is
 * painted and compressed stripe by stripe, so a tall picture needs no more memory than a flat one.
 */

#define SCALE 2                  /* pixels per px, unless that is too many */
#define MAX_SIDE_PX 32767u       /* limit that cairo can paint at once, and every viewer can open */
#define MAX_HEIGHT_PX 65535u     /* limit that many viewers can still open */
#define STRIPE_PIXELS (1u << 21) /* 8 MiB */

#define SANS "DejaVu Sans"
#define MONO "DejaVu Sans Mono"
#define ABOUT_COLOR 0x555555
#define LEGEND_EDGE 0x777777

struct canvas {
	struct picture *picture;
	struct cairo_library cairo;
	cairo_t *to; /* the current stripe */
	uint32_t scale;
	uint32_t rows; /* rows drawn */
	uint32_t height_px;
	uint32_t stripe_top_px; /* in px of the picture, as is this */
	uint32_t stripe_end_px;
	uint32_t *row_starts; /* by row: index of its first box in the layout */
	struct bytes text;    /* scratch */
};

static void set_color(const struct canvas *canvas, uint32_t color)
{
	canvas->cairo.set_source_rgb(canvas->to, (color >> 16 & 0xff) / 255.0,
				     (color >> 8 & 0xff) / 255.0, (color & 0xff) / 255.0);
}

enum font_style { FONT_PLAIN, FONT_BOLD, FONT_ITALIC };

static void set_font(const struct canvas *canvas, const char *family, enum font_style style,
		     double size_px)
{
	canvas->cairo.select_font_face(
		canvas->to, family,
		style == FONT_ITALIC ? CAIRO_FONT_SLANT_ITALIC : CAIRO_FONT_SLANT_NORMAL,
		style == FONT_BOLD ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
	canvas->cairo.set_font_size(canvas->to, size_px);
}

/* Draws the scratch text, and clears it. */
static void show_text(struct canvas *canvas, double x_px, double y_px)
{
	bytes_put_u8(&canvas->text, 0);
	if (!canvas->text.failed) {
		canvas->cairo.move_to(canvas->to, x_px, y_px);
		canvas->cairo.show_text(canvas->to, (const char *)canvas->text.data);
	}
	bytes_clear(&canvas->text);
}

/* The same for a constant text. */
static void show_words(struct canvas *canvas, double x_px, double y_px, const char *words)
{
	bytes_printf(&canvas->text, "%s", words);
	show_text(canvas, x_px, y_px);
}

/* The lines of a pattern over a box; the points are those of flame_palette_put_patterns(). */
static void hatch(const struct canvas *canvas, const struct flame_swatch *swatch, double x_px,
		  double y_px, double width_px, double height_px)
{
	const struct cairo_library *cairo = &canvas->cairo;
	double end = x_px + width_px + height_px;
	double at;

	cairo->save(canvas->to);
	cairo->rectangle(canvas->to, x_px, y_px, width_px, height_px);
	cairo->clip(canvas->to);
	set_color(canvas, swatch->line);
	cairo->set_line_width(canvas->to, 2);
	for (at = floor((x_px - height_px) / 8) * 8; at < end; at += 8) {
		if (strchr("|+", swatch->pattern)) {
			cairo->move_to(canvas->to, at + 4, y_px);
			cairo->line_to(canvas->to, at + 4, y_px + height_px);
		} else if (swatch->pattern == '/') {
			cairo->move_to(canvas->to, at, y_px);
			cairo->line_to(canvas->to, at - height_px, y_px + height_px);
		} else if (swatch->pattern == '\\') {
			cairo->move_to(canvas->to, at, y_px);
			cairo->line_to(canvas->to, at + height_px, y_px + height_px);
		}
	}
	for (at = y_px + 4; strchr("-+", swatch->pattern) && at < y_px + height_px; at += 8) {
		cairo->move_to(canvas->to, x_px, at);
		cairo->line_to(canvas->to, x_px + width_px, at);
	}
	cairo->stroke(canvas->to);
	cairo->restore(canvas->to);
}

/* A light line around a box, or the edge of the palette; dashes where it is new or gone. */
static void draw_edge(const struct canvas *canvas, const char *mark, double x_px, double y_px,
		      double width_px)
{
	static const double dashes[] = {4, 3};
	const struct flame_palette *palette = flame_palette_of(canvas->picture->options->colors);
	const struct cairo_library *cairo = &canvas->cairo;
	bool one_sided = strcmp(mark, "new") == 0 || strcmp(mark, "gone") == 0;

	if (palette->edge_hides && strstr(mark, "thin"))
		return;
	cairo->save(canvas->to);
	cairo->rectangle(canvas->to, x_px, y_px, width_px, BOX_PX);
	cairo->set_line_width(canvas->to, one_sided || palette->edge ? 1 : 0.5);
	if (one_sided) {
		set_color(canvas, FLAME_TEXT);
		cairo->set_dash(canvas->to, dashes, 2, 0);
	} else if (palette->edge) {
		set_color(canvas, palette->edge);
	} else {
		cairo->set_source_rgba(canvas->to, 1, 1, 1, 0.45);
	}
	cairo->stroke(canvas->to);
	cairo->restore(canvas->to);
}

static void draw_label(struct canvas *canvas, const struct flame_box *box,
		       const struct flame_paint *paint, const char *mark, double y_px)
{
	struct picture *picture = canvas->picture;
	const struct cairo_library *cairo = &canvas->cairo;
	double left_px = flame_edge_px(picture, box->begin);
	double room_px = flame_edge_px(picture, box->end) - left_px - 2 * TEXT_PX;

	if (room_px / CHARACTER_PX < 3)
		return;
	flame_put_words(picture, box->node, call_tree_name(picture->way->trees[0], box->node),
			(uint32_t)(room_px / CHARACTER_PX));
	cairo->save(canvas->to);
	cairo->rectangle(canvas->to, left_px, y_px, room_px + 2 * TEXT_PX, BOX_PX);
	cairo->clip(canvas->to); /* some fonts are wider */
	set_color(canvas, paint->swatch && paint->swatch->white ? FLAME_PAGE : FLAME_TEXT);
	set_font(canvas, MONO, strncmp(mark, "in", 2) == 0 ? FONT_ITALIC : FONT_PLAIN, 12);
	show_text(canvas, left_px + TEXT_PX, y_px + 13);
	cairo->restore(canvas->to);
}

/* Rounds to whole pixels: no antialiased edges. */
static double snap(const struct canvas *canvas, double px)
{
	return round(px * canvas->scale) / canvas->scale;
}

static void draw_box(struct canvas *canvas, const struct flame_box *box, double y_px)
{
	struct picture *picture = canvas->picture;
	const struct cairo_library *cairo = &canvas->cairo;
	double left_px = snap(canvas, flame_edge_px(picture, box->begin));
	double width_px = snap(canvas, flame_edge_px(picture, box->end)) - left_px;
	struct flame_paint paint = flame_paint_of(picture, box->node);
	const char *mark = flame_mark_of(picture, box->node, box);

	if (width_px <= 0) /* narrower than a pixel, but to be drawn */
		width_px = 1.0 / canvas->scale;
	set_color(canvas, paint.color);
	cairo->rectangle(canvas->to, left_px, y_px, width_px, BOX_PX);
	cairo->fill(canvas->to);
	if (paint.swatch && paint.swatch->pattern)
		hatch(canvas, paint.swatch, left_px, y_px, width_px, BOX_PX);
	draw_edge(canvas, mark, left_px, y_px, width_px);
	draw_label(canvas, box, &paint, mark, y_px);
}

static void draw_rows(struct canvas *canvas)
{
	const struct flame_box *boxes = canvas->picture->way->layouts[0].boxes.items;
	uint32_t row;
	uint32_t i;

	for (row = 0; row < canvas->rows; row++) {
		uint32_t line = canvas->picture->options->icicle ? row : canvas->rows - 1 - row;
		uint32_t y_px = HEAD_PX + line * ROW_PX;

		if (y_px + ROW_PX < canvas->stripe_top_px || y_px > canvas->stripe_end_px + 1)
			continue;
		for (i = canvas->row_starts[row]; i < canvas->row_starts[row + 1]; i++)
			draw_box(canvas, &boxes[i], y_px);
	}
}

static void draw_head(struct canvas *canvas)
{
	set_color(canvas, FLAME_TEXT);
	set_font(canvas, SANS, FONT_BOLD, 17);
	flame_put_heading(canvas->picture);
	show_text(canvas, MARGIN_PX, 26);
	set_color(canvas, ABOUT_COLOR);
	set_font(canvas, SANS, FONT_PLAIN, 12);
	flame_put_about(canvas->picture);
	show_text(canvas, MARGIN_PX, 47);
}

static void draw_legend(struct canvas *canvas, double y_px)
{
	const struct cairo_library *cairo = &canvas->cairo;
	struct flame_meaning meanings[FLAME_MEANINGS_MAX];
	uint32_t end_px;
	size_t count = flame_meanings(canvas->picture, meanings, &end_px);
	size_t i;

	for (i = 0; i < count; i++) {
		const struct flame_swatch *swatch = meanings[i].swatch;
		double x_px = meanings[i].x_px;

		set_color(canvas, flame_palette_shade(swatch, false, 0));
		cairo->rectangle(canvas->to, x_px, y_px + 12, 12, 12);
		cairo->fill(canvas->to);
		if (swatch->pattern)
			hatch(canvas, swatch, x_px, y_px + 12, 12, 12);
		set_color(canvas, LEGEND_EDGE);
		cairo->set_line_width(canvas->to, 0.5);
		cairo->rectangle(canvas->to, x_px, y_px + 12, 12, 12);
		cairo->stroke(canvas->to);
		set_color(canvas, ABOUT_COLOR);
		show_words(canvas, x_px + 17, y_px + 22, meanings[i].words);
	}
	if (canvas->picture->options->pair) {
		flame_put_pair_words(canvas->picture);
		bytes_printf(&canvas->text, "; widths show after");
		show_text(canvas, end_px, y_px + 22);
	}
}

static void draw_foot(struct canvas *canvas)
{
	const struct flame_way *way = canvas->picture->way;
	double y_px = HEAD_PX + canvas->rows * ROW_PX;

	set_color(canvas, ABOUT_COLOR);
	set_font(canvas, SANS, FONT_PLAIN, 12);
	if (way->layouts[0].boxes.count == 0)
		show_words(canvas, MARGIN_PX, y_px, "no samples");
	draw_legend(canvas, y_px);
	flame_put_note(canvas->picture);
	if (canvas->rows < way->rows)
		bytes_printf(&canvas->text,
			     "%sthe deepest %s rows are left out: the PNG would be too tall; an "
			     "SVG shows all",
			     canvas->text.size > 0 ? " · " : "",
			     quantity_count(way->rows - canvas->rows).text);
	show_text(canvas, MARGIN_PX, y_px + 42);
}

static int paint_stripe(struct canvas *canvas, uint32_t *pixels, uint32_t width, uint32_t height,
			struct error *err)
{
	const struct cairo_library *cairo = &canvas->cairo;
	cairo_surface_t *surface = cairo->image_surface_create_for_data(
		(unsigned char *)pixels, CAIRO_FORMAT_RGB24, (int)width, (int)height,
		(int)(width * sizeof(*pixels)));
	cairo_font_options_t *fonts = cairo->font_options_create();
	cairo_status_t status;

	canvas->to = cairo->create(surface);
	/* Grey, unhinted letters look the same at every position and on every screen. */
	cairo->font_options_set_antialias(fonts, CAIRO_ANTIALIAS_GRAY);
	cairo->font_options_set_hint_style(fonts, CAIRO_HINT_STYLE_NONE);
	cairo->font_options_set_hint_metrics(fonts, CAIRO_HINT_METRICS_OFF);
	cairo->set_font_options(canvas->to, fonts);
	set_color(canvas, FLAME_PAGE);
	cairo->paint(canvas->to);
	cairo->scale(canvas->to, canvas->scale, canvas->scale);
	cairo->translate(canvas->to, 0, -(double)canvas->stripe_top_px);
	draw_rows(canvas);
	if (canvas->stripe_top_px < HEAD_PX)
		draw_head(canvas);
	if (canvas->stripe_end_px + FOOT_PX >= canvas->height_px)
		draw_foot(canvas);
	status = cairo->status(canvas->to);
	cairo->destroy(canvas->to);
	cairo->surface_flush(surface);
	cairo->surface_destroy(surface);
	cairo->font_options_destroy(fonts);
	if (status != CAIRO_STATUS_SUCCESS)
		return error_advise(
			err,
			error_set(err, status == CAIRO_STATUS_NO_MEMORY ? -ENOMEM : -EIO,
				  "cannot draw the PNG: %.200s", cairo->status_to_string(status)),
			"write an SVG instead: it does not need cairo");
	return 0;
}

static int paint(struct canvas *canvas, struct bytes *out, struct error *err)
{
	uint32_t width = canvas->picture->options->width_px * canvas->scale;
	uint32_t stripe_px = STRIPE_PIXELS / width / canvas->scale;
	uint32_t *pixels;
	struct png_writer *png = png_writer_new(out, width, canvas->height_px * canvas->scale);
	uint32_t top_px;
	int r = 0;

	stripe_px = stripe_px > ROW_PX ? stripe_px : ROW_PX;
	pixels = malloc((size_t)width * stripe_px * canvas->scale * sizeof(*pixels));
	if (!pixels || !png)
		r = -ENOMEM;
	for (top_px = 0; r == 0 && top_px < canvas->height_px; top_px += stripe_px) {
		uint32_t left_px = canvas->height_px - top_px;
		uint32_t height_px = left_px < stripe_px ? left_px : stripe_px;
		uint32_t i;

		canvas->stripe_top_px = top_px;
		canvas->stripe_end_px = top_px + height_px;
		r = paint_stripe(canvas, pixels, width, height_px * canvas->scale, err);
		for (i = 0; r == 0 && i < height_px * canvas->scale; i++)
			png_writer_row(png, pixels + (size_t)i * width);
	}
	if (r == 0)
		png_writer_finish(png);
	png_writer_free(png);
	free(pixels);
	return canvas->text.failed ? -ENOMEM : r;
}

static int find_rows(struct canvas *canvas)
{
	const struct flame_layout *layout = &canvas->picture->way->layouts[0];
	uint32_t rows = canvas->picture->way->rows;
	size_t i;

	canvas->row_starts = calloc((size_t)rows + 2, sizeof(*canvas->row_starts));
	if (!canvas->row_starts)
		return -ENOMEM;
	for (i = 0; i < layout->boxes.count; i++)
		canvas->row_starts[layout->boxes.items[i].row + 1]++;
	for (i = 0; i < rows; i++)
		canvas->row_starts[i + 1] += canvas->row_starts[i];
	return 0;
}

/* Chooses scale and rows so that viewers can open the picture. */
static int fit(struct canvas *canvas, struct error *err)
{
	uint32_t width_px = canvas->picture->options->width_px;
	uint32_t wanted_px = canvas->picture->options->height_px;
	uint32_t max_px = wanted_px > 0 && wanted_px < MAX_HEIGHT_PX ? wanted_px : MAX_HEIGHT_PX;
	uint32_t max_rows =
		max_px > HEAD_PX + FOOT_PX + ROW_PX ? (max_px - HEAD_PX - FOOT_PX) / ROW_PX : 1;

	canvas->rows = canvas->picture->way->rows;
	if (width_px > MAX_SIDE_PX) {
		(void)error_set(err, -ERANGE, "a PNG can be at most %u px wide, not %u",
				MAX_SIDE_PX, width_px);
		error_remedy(err, "give a smaller --width, or write an SVG");
		return -ERANGE;
	}
	if (canvas->rows > max_rows)
		canvas->rows = max_rows;
	canvas->height_px = HEAD_PX + canvas->rows * ROW_PX + FOOT_PX;
	canvas->scale = SCALE;
	if (canvas->height_px > MAX_SIDE_PX / SCALE || width_px > MAX_SIDE_PX / SCALE)
		canvas->scale = 1;
	return 0;
}

/* The legend shows the colours in use: collects those of all boxes before the first stripe. */
static void note_colors(const struct canvas *canvas)
{
	uint32_t i;

	for (i = 0; i < canvas->row_starts[canvas->rows]; i++)
		(void)flame_paint_of(canvas->picture,
				     canvas->picture->way->layouts[0].boxes.items[i].node);
}

static int draw_png(struct picture *picture, struct error *err)
{
	struct canvas canvas = {.picture = picture};
	struct flame_way *way = &picture->ways[0];
	struct bytes *out = picture->out;
	int r = cairo_library_load(&canvas.cairo, err);

	if (r < 0)
		return r;
	if (!picture->options->pair)
		picture->layer_count = 1; /* a picture has no switch */
	picture->put_name = text_put_terminal;
	picture->out = &canvas.text;
	way->drawn = true;
	way->inverted = picture->options->inverted;
	r = flame_way_init(picture, way);
	if (r == 0)
		r = fit(&canvas, err);
	if (r == 0)
		r = find_rows(&canvas);
	if (r == 0) {
		flame_count_changes(picture);
		note_colors(&canvas);
		r = paint(&canvas, out, err);
	}
	flame_way_fini(way);
	free(canvas.row_starts);
	bytes_fini(&canvas.text);
	picture->out = out;
	return r;
}

int flame_write_png(const struct profile *profile, const struct flame_options *options,
		    struct bytes *out, struct error *err)
{
	return flame_picture_draw(profile, options, draw_png, out, err);
}
