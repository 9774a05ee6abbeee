/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/flame/flame.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/quantity.h"
#include "base/scope.h"
#include "base/text.h"
#include "model/profile.h"
#include "model/profile_pair.h"
#include "view/flame/flame_assets.h"
#include "view/flame/flame_palette.h"
#include "view/flame/flame_picture.h"
#include "view/function_lines.h"
#include "view/value_choice.h"

#define TITLE_COLUMN_PX 11 /* of the bold font of titles, on average */

/* Around them */

static const char *title_of(const struct picture *picture)
{
	const char *title =
		picture->options->title ? picture->options->title : picture->profile->title;

	return *title ? title : "flame graph";
}

/*
 * The total of a layer, for a pair before and after. Sample counts are those of the main value: for
 * others they are unknown.
 */
void flame_put_whole(const struct picture *picture, uint32_t layer, struct bytes *out,
		     void (*put_name)(struct bytes *out, const char *name))
{
	const struct profile *profile = picture->profile;
	struct value_type type = profile->value_types[picture->layers[layer]];
	bool pair = picture->options->pair;
	uint64_t samples;
	int64_t total = pair ? picture->whole.after : picture->ways[0].layouts[layer].total;

	put_name(out, type.name);
	bytes_put_u8(out, ' ');
	if (pair)
		bytes_printf(out, "%s → ", quantity_of(picture->whole.before, type.unit).text);
	bytes_printf(out, "%s", quantity_of(total, type.unit).text);
	if (strcmp(type.name, "samples") == 0 ||
	    (!pair && picture->layers[layer] != profile->main_value))
		return;
	bytes_printf(out, " · ");
	if (pair)
		bytes_printf(out, "%s → ", quantity_count(picture->whole.before_samples).text);
	samples = pair ? picture->whole.after_samples : profile->quality.samples;
	bytes_printf(out, "%s sample%s", quantity_count(samples).text, samples == 1 ? "" : "s");
}

/* A description of the picture for screen readers. */
static void put_description(struct picture *picture)
{
	bytes_printf(picture->out, "flame graph of ");
	text_put_xml(picture->out, title_of(picture));
	bytes_printf(picture->out, ": ");
	flame_put_whole(picture, 0, picture->out, picture->put_name);
}

static void put_start(struct picture *picture)
{
	const struct flame_palette *palette = flame_palette_of(picture->options->colors);
	uint32_t height = HEAD_PX + picture->way->rows * ROW_PX + FOOT_PX;
	uint32_t i;

	bytes_printf(picture->out,
		     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		     "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"wick-flame\" "
		     "width=\"%" PRIu32 "\" height=\"%" PRIu32 "\" viewBox=\"0 0 %" PRIu32
		     " %" PRIu32 "\" data-icicle=\"%d\" data-total=\"%" PRId64,
		     picture->options->width_px, height, picture->options->width_px, height,
		     picture->options->icicle ? 1 : 0, picture->way->layouts[0].total);
	for (i = 1; i < picture->layer_count; i++)
		bytes_printf(picture->out, " %" PRId64, picture->way->layouts[i].total);
	if (picture->options->pair)
		bytes_printf(picture->out, "\" data-absolute=\"%d",
			     picture->options->absolute ? 1 : 0);
	if (palette->edge)
		bytes_printf(picture->out, "\" data-edged=\"1");
	bytes_printf(picture->out, "\" role=\"img\" aria-label=\"");
	put_description(picture);
	bytes_printf(picture->out, "\">\n<title>");
	text_put_xml(picture->out, title_of(picture));
	bytes_printf(picture->out, "</title>\n");
	flame_put_metadata(picture);
	bytes_printf(picture->out, "<style>\n");
	flame_palette_put_style(palette, picture->out);
	if (picture->layer_count > 1 && !picture->options->pair) /* colours of ratios */
		flame_palette_put_style(flame_palette_of(FLAME_COLORS_ORANGE_BLUE), picture->out);
	bytes_printf(picture->out, "%s</style>\n", flame_svg_css);
	flame_palette_put_patterns(palette, picture->out);
	bytes_printf(picture->out, "<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n");
}

void flame_put_heading(struct picture *picture)
{
	/* The script, which puts its controls beside the title, cuts it again by its real width. */
	flame_put_label(picture, title_of(picture),
			(picture->options->width_px - 2 * MARGIN_PX) / TITLE_COLUMN_PX);
}

/* Problems of some samples that the reader must know. */
enum loss_kind { LOSS_LOST, LOSS_UNREADABLE, LOSS_TRUNCATED, LOSS_UNNAMED };

static struct quantity loss_share(const struct profile_quality *quality, enum loss_kind kind,
				  uint64_t *ret_count)
{
	uint64_t counts[] = {
		[LOSS_LOST] = quality->lost,
		[LOSS_UNREADABLE] = quality->unreadable,
		[LOSS_TRUNCATED] = quality->truncated,
		[LOSS_UNNAMED] = quality->unsymbolised,
	};
	uint64_t of = quality->samples;

	if (kind == LOSS_LOST || kind == LOSS_UNREADABLE)
		of += quality->lost + quality->unreadable;
	*ret_count = counts[kind];
	return quantity_share((int64_t)counts[kind], (int64_t)of);
}

/* For a pair both shares are shown: a common one would hide that one side is worse. */
static void put_loss(struct bytes *out, const struct profile *const *sides, enum loss_kind kind,
		     const char *what)
{
	uint64_t before = 0;
	uint64_t after;
	struct quantity first = {0};
	struct quantity last = loss_share(&sides[1]->quality, kind, &after);

	if (sides[0])
		first = loss_share(&sides[0]->quality, kind, &before);
	if (before == 0 && after == 0)
		return;
	bytes_printf(out, " · %s%s%s %s", first.text, sides[0] ? " → " : "", last.text, what);
}

void flame_put_judgement(const struct profile *profile, const struct flame_options *options,
			 struct bytes *out)
{
	const struct profile *const alone[2] = {NULL, profile};
	const struct profile *const *sides = options->sides[0] ? options->sides : alone;
	const struct profile *before = sides[0];

	if (sides[1]->duration_ns) {
		bytes_printf(out, " · ");
		if (before)
			bytes_printf(
				out, "%s → ",
				quantity_of((int64_t)profile_recorded_ns(before), "nanoseconds")
					.text);
		bytes_printf(
			out, "%s recorded",
			quantity_of((int64_t)profile_recorded_ns(sides[1]), "nanoseconds").text);
	}
	put_loss(out, sides, LOSS_LOST, "lost");
	put_loss(out, sides, LOSS_UNREADABLE, "unreadable");
	if (before && before->quality.incomplete)
		bytes_printf(out, " · incomplete recording before");
	if (sides[1]->quality.incomplete)
		bytes_printf(out, " · incomplete recording%s", before ? " after" : "");
	put_loss(out, sides, LOSS_TRUNCATED, "truncated");
	put_loss(out, sides, LOSS_UNNAMED, "without symbol");
}

void flame_put_about(struct picture *picture)
{
	flame_put_whole(picture, 0, picture->out, picture->put_name);
	flame_put_judgement(picture->profile, picture->options, picture->out);
}

static void put_head(struct picture *picture)
{
	struct bytes *out = picture->out;

	bytes_printf(out,
		     "<g class=\"head\"><rect class=\"page\" width=\"100%%\" height=\"%d\"/>"
		     "<text class=\"title\" x=\"%d\" y=\"26\">",
		     HEAD_PX - 4, MARGIN_PX);
	flame_put_heading(picture);
	bytes_printf(out, "</text><text class=\"about\" x=\"%d\" y=\"47\">", MARGIN_PX);
	flame_put_about(picture);
	bytes_printf(out, "</text></g>\n");
}

static void put_foot(struct picture *picture)
{
	const struct flame_way *way = picture->way;
	struct bytes *out = picture->out;

	bytes_printf(out, "<g class=\"foot\" transform=\"translate(0 %" PRIu32 ")\">",
		     HEAD_PX + way->rows * ROW_PX);
	if (way->layouts[0].boxes.count == 0)
		bytes_printf(out, "<text x=\"%d\" y=\"0\">no samples%s</text>", MARGIN_PX,
			     way->layouts[1].boxes.count ? " after; b shows before" : "");
	flame_put_legend(picture);
	bytes_printf(out, "<text class=\"note\" x=\"%d\" y=\"42\">", MARGIN_PX);
	flame_put_note(picture);
	bytes_printf(out, "</text></g>\n");
}

static int check(const struct flame_options *options, struct error *err)
{
	if (options->width_px < 200 || options->width_px > 100000)
		return error_advise(err,
				    error_set(err, -ERANGE,
					      "invalid width of the flame graph: %u px",
					      options->width_px),
				    "give 200 to 100000");
	if (!(options->min_width_px >= 0 && options->min_width_px <= 100))
		return error_advise(err,
				    error_set(err, -ERANGE, "invalid minimum box width: %g px",
					      options->min_width_px),
				    "give 0 to 100");
	return 0;
}

/* The sum of a value over all entries, as at the root of a tree. */
static double sum_of(const struct profile *profile, uint32_t value)
{
	double total = 0;
	size_t i;

	for (i = 0; i < profile->entries.count; i++)
		total += (double)profile_entry_values(profile, i)[value];
	return total;
}

/*
 * The minimum cost of a box that is drawn; callers of smaller ones are not needed. For a pair, if
 * before and after together are below the limit, so is each; but in the tree as called, small boxes
 * that are new or gone must be counted.
 */
static int64_t least_total(const struct picture *picture, double room_px, bool inverted)
{
	double total = sum_of(picture->profile, picture->layers[0]);

	if (picture->options->pair && inverted)
		total = fmin(total, sum_of(picture->profile, PAIR_BEFORE));
	else if (picture->layer_count > 1)
		return 0; /* what is small in one value type may be large in another */
	return total > 0 ? (int64_t)(total * picture->options->min_width_px / room_px) : 0;
}

static int grow_trees(struct picture *picture, double room_px, struct flame_way *way)
{
	const struct flame_options *options = picture->options;
	struct call_tree_options how = {.group = options->group,
					.inverted = way->inverted,
					.collapse_recursion = options->collapse_recursion,
					.min_total = least_total(picture, room_px, way->inverted),
					.min_value =
						options->pair ? PAIR_BOTH : picture->layers[0]};
	uint32_t i;
	int r = 0;

	for (i = 0; i < picture->layer_count && r == 0; i++) {
		how.value = picture->layers[i];
		how.samples_value = options->pair && i == LAYER_BEFORE ? PAIR_SAMPLES_BEFORE : 0;
		r = call_tree_new(picture->profile, &how, &way->trees[i]);
	}
	return r;
}

static void free_trees(struct flame_way *way)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(way->trees); i++) {
		call_tree_free(way->trees[i]);
		way->trees[i] = NULL;
	}
}

void flame_way_fini(struct flame_way *way)
{
	size_t i;

	free_trees(way);
	for (i = 0; i < ARRAY_SIZE(way->layouts); i++)
		flame_layout_fini(&way->layouts[i]);
}

int flame_way_init(struct picture *picture, struct flame_way *way)
{
	double room_px = (double)picture->options->width_px - 2 * MARGIN_PX;
	double min_fraction = picture->options->min_width_px / room_px;
	int r = grow_trees(picture, room_px, way);
	uint32_t i;

	for (i = 0; i < picture->layer_count && r == 0; i++) {
		r = flame_layout_init(&way->layouts[i], way->trees[i], min_fraction);
		if (way->layouts[i].rows > way->rows)
			way->rows = way->layouts[i].rows;
	}
	if (way->layouts[0].total > 0)
		way->scale = room_px / (double)way->layouts[0].total;
	picture->way = way;
	return r;
}

void flame_count_changes(struct picture *picture)
{
	uint32_t count = call_tree_count(picture->way->trees[0]);
	uint32_t i;

	picture->whole = flame_sides_of(picture, 0);
	for (i = 1; picture->options->pair && i < count; i++) {
		struct flame_sides sides = flame_sides_of(picture, i);

		picture->new_boxes += sides.before == 0 && sides.after != 0;
		picture->gone_boxes += sides.before != 0 && sides.after == 0;
	}
}

/* Draws one way; the other follows as records. */
static int draw_svg(struct picture *picture, struct error *err)
{
	struct flame_way *drawn = &picture->ways[0];
	struct flame_way *other = &picture->ways[1];
	int r;

	(void)err; /* only memory can run out */
	drawn->drawn = true;
	drawn->inverted = picture->options->inverted;
	other->inverted = !drawn->inverted;
	r = flame_way_init(picture, drawn);
	if (r == 0) {
		flame_count_changes(picture);
		put_start(picture);
		flame_put_boxes(picture);
		free_trees(drawn); /* free the largest part before the next one is built */
		r = flame_way_init(picture, other);
	}
	if (r == 0) {
		flame_put_boxes(picture);
		picture->way = drawn;
		put_foot(picture);
		put_head(picture); /* above the boxes: it stays when the page scrolls */
		bytes_printf(picture->out, "<script><![CDATA[\n%s]]></script>\n</svg>\n",
			     flame_svg_js);
	}
	flame_way_fini(drawn);
	flame_way_fini(other);
	return r;
}

/* Finds the value types that widths can show. Every tooltip shows samples anyway. */
static int choose_layers(struct picture *picture, struct error *err)
{
	const struct profile *profile = picture->profile;
	uint32_t value = 0;
	uint32_t i;
	int r = value_choose(profile, picture->options->value_name, picture->options->value, &value,
			     err);

	if (r < 0)
		return r;
	picture->layers[picture->layer_count++] = value;
	for (i = 0; i < profile->value_count && !picture->options->pair; i++)
		if (i != value && strcmp(profile->value_types[i].name, "samples") != 0)
			picture->layers[picture->layer_count++] = i;
	if (picture->options->pair)
		picture->layers[picture->layer_count++] = PAIR_BEFORE;
	picture->unit = profile->value_types[value].unit;
	return 0;
}

int flame_picture_draw(const struct profile *profile, const struct flame_options *options,
		       int (*draw)(struct picture *picture, struct error *err), struct bytes *out,
		       struct error *err)
{
	struct flame_options settled = *options;
	struct picture picture = {
		.profile = profile, .options = &settled, .put_name = text_put_xml, .out = out};
	struct error why = {0};
	int r = check(options, err);

	if (settled.pair && settled.colors < FLAME_COLORS_RED_BLUE)
		settled.colors = FLAME_COLORS_RED_BLUE; /* other palettes do not show changes */

	if (r == 0)
		r = choose_layers(&picture, err);
	if (r < 0)
		return r;
	r = function_lines_new(profile, picture.layers[0], &picture.lines);
	if (r == 0)
		r = draw(&picture, &why);
	free(picture.lines);
	bytes_fini(&picture.name);
	if (why.code < 0) {
		if (err)
			*err = why;
		return why.code;
	}
	if (r < 0 || out->failed)
		return error_set(err, -ENOMEM, "cannot draw the flame graph: no memory");
	return 0;
}

int flame_write(const struct profile *profile, const struct flame_options *options,
		struct bytes *out, struct error *err)
{
	return flame_picture_draw(profile, options, draw_svg, out, err);
}
