/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/flame/flame_picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "base/quantity.h"
#include "base/scope.h"
#include "base/text.h"
#include "model/call_tree.h"
#include "view/flame/flame_palette.h"
#include "view/language.h"

/*
 * A box is
 *
 *	<rect x="…" … data-v="begin width self"><title>name
 *	module · samples · time · share
 *	file:line</title></rect><text …>na..</text>
 *
 * inside the group of its row; narrow boxes, of which there are many, have the title in data-t.
 * Fewer nodes make the file open faster: a box has no group of its own, and line breaks are inside
 * tags. A way that is not drawn is stored as records, one for each box. A comparison adds to the
 * box: in data-v its position before; data-c and data-s, its colour and the change in its label,
 * for shares and for amounts; and to the title a line for each of both. Positions in data-v are in
 * units of the value: the script computes pixels from them for every zoom and window size. A self
 * of 0 is left out. The name is the first line of the title; text_put_xml() never outputs control
 * bytes, so a name has no line break.
 */

#define NARROW_PX 3
#define LEAST_NAME_COLUMNS 4 /* minimum for the name in a label with a change */

/* Names */

static bool is_wide(uint32_t c)
{
	return c >= 0x1100;
}

/*
 * Appends the part of a name that fits into some columns, with ".." for the rest. It is cut before
 * it is escaped, so no entity is cut in half.
 */
void flame_put_label(struct picture *picture, const char *name, uint32_t columns)
{
	uint32_t used = 0;
	size_t fits = 0; /* bytes that leave room for ".." */
	const char *at = name;

	while (*at && used <= columns) {
		uint32_t c;
		unsigned int n = text_decode_utf8(at, &c);

		used += is_wide(c) ? 2 : 1;
		at += n;
		if (used + 2 <= columns)
			fits = (size_t)(at - name);
	}
	if (used <= columns) {
		picture->put_name(picture->out, name);
		return;
	}
	bytes_clear(&picture->name);
	bytes_put(&picture->name, name, fits);
	bytes_put(&picture->name, "..", 3); /* with its NUL */
	if (!picture->name.failed)
		picture->put_name(picture->out, (char *)picture->name.data);
}

uint32_t flame_hash(const char *text)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 16777619u;
	return hash ^ hash >> 15;
}

const char *flame_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	while (slash && slash > path && *--slash != '/')
		;
	return slash && *slash == '/' && slash[1] ? slash + 1 : path;
}

const char *flame_module_name(const char *path)
{
	return path_base_name(path);
}

bool flame_has_samples_alone(const struct picture *picture)
{
	return strcmp(picture->profile->value_types[picture->layers[0]].name, "samples") == 0;
}

/* Numbers */

/* A length with a tenth of a pixel, without ".0". */
static void put_px(struct bytes *out, const char *attribute, double px)
{
	int64_t tenths = llround(px * 10);

	if (tenths % 10 == 0)
		bytes_printf(out, " %s=\"%" PRId64 "\"", attribute, tenths / 10);
	else
		bytes_printf(out, " %s=\"%" PRId64 ".%d\"", attribute, tenths / 10,
			     (int)(tenths % 10));
}

/* Boxes */

static const struct call_node *node_of(const struct picture *picture, uint32_t layer, uint32_t id)
{
	return &call_tree_nodes(picture->way->trees[layer])[id];
}

struct flame_sides flame_sides_of(const struct picture *picture, uint32_t node)
{
	const struct call_node *after = node_of(picture, LAYER_AFTER, node);
	struct flame_sides sides = {.after = after->total, .after_samples = after->samples};

	if (picture->options->pair) {
		sides.before = node_of(picture, LAYER_BEFORE, node)->total;
		sides.before_samples = node_of(picture, LAYER_BEFORE, node)->samples;
	}
	return sides;
}

static struct flame_change change_of(const struct picture *picture, uint32_t node, bool absolute)
{
	struct flame_sides box = flame_sides_of(picture, node);

	return flame_change_of(&box, &picture->whole, absolute, picture->unit);
}

/* The colours of a box of a pair and the changes in its label, for shares and for amounts. */
static void put_change(struct picture *picture, uint32_t node, const char *between)
{
	struct flame_change share = change_of(picture, node, false);
	struct flame_change amount = change_of(picture, node, true);

	bytes_printf(picture->out, "%s %s%s%s%s|%s%s", share.color, amount.color, between,
		     share.mark, share.text.text, amount.mark, amount.text.text);
}

/* Two lines of a title: the change of the share, and that of the amount. */
static void put_changes(struct picture *picture, uint32_t node)
{
	const struct flame_sides whole = picture->whole;
	struct flame_sides box = flame_sides_of(picture, node);
	struct flame_change share = change_of(picture, node, false);
	struct flame_change amount = change_of(picture, node, true);

	bytes_printf(picture->out, "%s → ", quantity_count(box.before_samples).text);
	bytes_printf(picture->out, "%s samples\nshare %s → ",
		     quantity_count(box.after_samples).text,
		     quantity_share(box.before, whole.before).text);
	bytes_printf(picture->out, "%s: %s, %s\n", quantity_share(box.after, whole.after).text,
		     share.text.text, share.relative.text);
	text_put_xml(picture->out, picture->profile->value_types[picture->layers[0]].name);
	bytes_printf(picture->out, " %s → ", quantity_of(box.before, picture->unit).text);
	bytes_printf(picture->out, "%s: %s, %s", quantity_of(box.after, picture->unit).text,
		     amount.text.text, amount.relative.text);
}

static bool is_inlined(const struct call_node *node)
{
	return !(node->function & CALL_TREE_GROUP) && !node->called;
}

const struct flame_heat flame_heats[FLAME_HEATS] = {{0.1, "h6"},  {0.05, "h5"},  {0.025, "h4"},
						    {0.01, "h3"}, {0.005, "h2"}, {0.001, "h1"},
						    {0, "h0"}};
const char *const flame_origin_classes[FLAME_ORIGINS] = {"p", "l", "k", "j", "u", "t", "y"};
const char *const flame_language_classes[FLAME_LANGUAGES] = {"u", "c", "x", "r", "o",
							     "y", "b", "s", "a", "k"};

/* The last level is for functions without self cost. */
static const char *heat_of(const struct picture *picture, const struct call_node *node)
{
	int64_t total = picture->way->layouts[0].total;
	size_t i;

	for (i = 0; i < FLAME_HEATS - 1 && total > 0; i++)
		if ((double)node->self >= flame_heats[i].share * (double)total)
			return flame_heats[i].class;
	return flame_heats[FLAME_HEATS - 1].class;
}

/* The class of a box in the palette; NULL: its colour is a hue. */
static const char *class_of(const struct picture *picture, uint32_t id)
{
	const struct call_node *node = node_of(picture, 0, id);
	const struct profile_function *function;

	if (picture->options->pair)
		return change_of(picture, id, picture->options->absolute).color;
	if (node->function & CALL_TREE_GROUP)
		return "g";
	function = &picture->profile->functions.items[node->function];
	switch (picture->options->colors) {
	case FLAME_COLORS_HEAT:
		return heat_of(picture, node);
	case FLAME_COLORS_LANGUAGE:
		return flame_language_classes[language_of(picture->profile, function)];
	case FLAME_COLORS_MODULE:
	case FLAME_COLORS_HASH:
		return NULL;
	case FLAME_COLORS_CATEGORY:
	case FLAME_COLORS_CVD:
	case FLAME_COLORS_CONTRAST:
	case FLAME_COLORS_RED_BLUE:
	case FLAME_COLORS_ORANGE_BLUE:
		break;
	}
	if (is_inlined(node))
		return "i";
	return flame_origin_classes[function->origin < FLAME_ORIGINS ? function->origin
								     : ORIGIN_UNKNOWN];
}

static uint32_t hue_of(const struct picture *picture, uint32_t function, const char *name)
{
	const struct profile *profile = picture->profile;
	uint32_t module = profile->functions.items[function].module;
	uint32_t hash = flame_hash(name);

	if (picture->options->colors == FLAME_COLORS_MODULE)
		return flame_palette_hue(flame_hash(profile_text(profile, module)) % 360, hash);
	return flame_palette_hue(hash % 360, hash / 360);
}

struct flame_paint flame_paint_of(struct picture *picture, uint32_t id)
{
	const struct flame_palette *palette = flame_palette_of(picture->options->colors);
	const char *name = call_tree_name(picture->way->trees[0], id);
	const char *class = class_of(picture, id);
	struct flame_paint paint = {.swatch = class ? flame_palette_find(palette, class) : NULL};

	if (!paint.swatch) {
		paint.color = hue_of(picture, node_of(picture, 0, id)->function, name);
		return paint;
	}
	picture->used |= 1u << (paint.swatch - palette->swatches);
	if (paint.swatch->shades > 1)
		paint.shade = flame_hash(name) % paint.swatch->shades;
	paint.color = flame_palette_shade(paint.swatch, false, paint.shade);
	return paint;
}

/* Appends a class after the first text, or a colour after the other. Returns which. */
static bool put_color(struct picture *picture, uint32_t id, const char *class_before,
		      const char *color_before)
{
	struct flame_paint paint = flame_paint_of(picture, id);

	if (!paint.swatch) {
		bytes_printf(picture->out, "%s#%06" PRIx32, color_before, paint.color);
		return false;
	}
	bytes_printf(picture->out, "%s%s", class_before, paint.swatch->class);
	if (paint.swatch->shades > 1)
		bytes_printf(picture->out, "%" PRIu32, paint.shade);
	return true;
}

/* The line of a title with the numbers of a layer. */
static void put_numbers(struct picture *picture, const struct call_node *node, uint32_t layer)
{
	int64_t total = picture->way->layouts[layer].total;
	struct bytes *out = picture->out;

	if (layer == 0 && node->samples)
		bytes_printf(out, "%s sample%s · ", quantity_count(node->samples).text,
			     node->samples == 1 ? "" : "s");
	if (layer > 0 || !flame_has_samples_alone(picture))
		bytes_printf(out, "%s · ",
			     quantity_of(node->total,
					 picture->profile->value_types[picture->layers[layer]].unit)
				     .text);
	bytes_printf(out, "%s", quantity_share(node->total, total).text);
	if (node->self)
		bytes_printf(out, ", self %s", quantity_share(node->self, total).text);
}

/* A line for each layer; all but the first with its name. */
static void put_layers(struct picture *picture, uint32_t id)
{
	uint32_t i;

	put_numbers(picture, node_of(picture, 0, id), 0);
	for (i = 1; i < picture->layer_count; i++) {
		bytes_put_u8(picture->out, '\n');
		text_put_xml(picture->out, picture->profile->value_types[picture->layers[i]].name);
		bytes_put_u8(picture->out, ' ');
		put_numbers(picture, node_of(picture, i, id), i);
	}
}

/* The line of a title with the location of the function. */
static void put_source(struct picture *picture, uint32_t function)
{
	const struct profile *profile = picture->profile;
	const char *file = profile_text(profile, profile->functions.items[function].file);

	if (!*file)
		return;
	bytes_put_u8(picture->out, '\n');
	text_put_xml(picture->out, flame_file_name(file));
	if (picture->lines[function])
		bytes_printf(picture->out, ":%" PRIu32, picture->lines[function]);
}

static void put_title(struct picture *picture, uint32_t id, const char *name)
{
	const struct profile *profile = picture->profile;
	const struct call_node *node = node_of(picture, 0, id);
	struct bytes *out = picture->out;
	const char *module = "";

	if (strlen(name) > MAX_NAME_BYTES)
		flame_put_label(picture, name, MAX_NAME_BYTES);
	else
		text_put_xml(out, *name ? name : "[unnamed]");
	bytes_put_u8(out, '\n');
	if (!(node->function & CALL_TREE_GROUP))
		module = profile_text(profile, profile->functions.items[node->function].module);
	if (*module) {
		text_put_xml(out, flame_module_name(module));
		bytes_printf(out, " · ");
	}
	if (is_inlined(node))
		bytes_printf(out, "inlined · ");
	if (picture->options->pair)
		put_changes(picture, id);
	else
		put_layers(picture, id);
	if (!(node->function & CALL_TREE_GROUP))
		put_source(picture, node->function);
}

/* The same in an attribute, where a line break is a reference. */
static void put_title_reference(struct picture *picture, uint32_t id, const char *name)
{
	struct bytes *out = picture->out;
	size_t begin = out->size;
	size_t i;

	put_title(picture, id, name);
	bytes_clear(&picture->name);
	if (out->failed)
		return;
	bytes_put(&picture->name, out->data + begin, out->size - begin);
	out->size = begin;
	for (i = 0; i < picture->name.size; i++)
		if (picture->name.data[i] == '\n')
			bytes_put(out, "&#10;", 5);
		else
			bytes_put_u8(out, picture->name.data[i]);
}

/* In a narrow box a change is its sign. */
void flame_put_words(struct picture *picture, uint32_t node, const char *name, uint32_t columns)
{
	struct flame_change change;
	uint32_t taken;

	if (*name == '\0')
		name = "[unnamed]";
	if (!picture->options->pair) {
		flame_put_label(picture, name, columns);
		return;
	}
	change = change_of(picture, node, picture->options->absolute);
	taken = (uint32_t)(strlen(change.mark) + strlen(change.text.text) + 1);
	if (columns < taken + LEAST_NAME_COLUMNS) { /* the edge of the box is a mark too */
		taken -= (uint32_t)strlen(change.mark);
		change.mark = "";
	}
	if (columns >= taken + LEAST_NAME_COLUMNS) {
		flame_put_label(picture, name, columns - taken);
		bytes_printf(picture->out, " %s%s", change.mark, change.text.text);
		return;
	}
	if (change.sign)
		bytes_put_u8(picture->out, (uint8_t)change.sign);
	flame_put_label(picture, name, columns - (change.sign ? 1 : 0));
}

/* The position and self cost of a box; nothing if it does not exist. */
static void put_place(struct bytes *out, const struct flame_box *box, const struct call_node *node)
{
	bytes_printf(out, "%" PRId64 " %" PRId64, box ? box->begin : 0,
		     box ? box->end - box->begin : 0);
	if (box && node->self > 0)
		bytes_printf(out, " %" PRId64, node->self);
}

static void put_places(struct picture *picture, uint32_t id, const struct flame_box *const *boxes)
{
	uint32_t i;

	for (i = 0; i < picture->layer_count; i++) {
		if (i > 0)
			bytes_put_u8(picture->out, ',');
		put_place(picture->out, boxes[i], node_of(picture, i, id));
	}
}

/* Edges are rounded, not widths: neighbours meet and nothing overlaps. */
double flame_edge_px(const struct picture *picture, int64_t at)
{
	return MARGIN_PX + round((double)at * picture->way->scale * 10) / 10;
}

static void put_text(struct picture *picture, uint32_t id, const char *name,
		     const struct flame_box *box)
{
	double left = flame_edge_px(picture, box->begin);
	double columns = (flame_edge_px(picture, box->end) - left - 2 * TEXT_PX) / CHARACTER_PX;

	if (columns < 3)
		return;
	bytes_printf(picture->out, "<text");
	put_px(picture->out, "x", left + TEXT_PX);
	bytes_printf(picture->out, " y=\"13\">");
	flame_put_words(picture, id, name, (uint32_t)columns);
	bytes_printf(picture->out, "</text>");
}

/* Whether it is drawn, but too narrow to point at. */
static bool is_narrow(const struct picture *picture, const struct flame_box *box)
{
	return box && (double)(box->end - box->begin) * picture->way->scale < NARROW_PX;
}

const char *flame_mark_of(const struct picture *picture, uint32_t id, const struct flame_box *box)
{
	bool inlined = is_inlined(node_of(picture, 0, id));
	bool thin = is_narrow(picture, box) && flame_palette_of(picture->options->colors)->edge;

	if (picture->options->pair) {
		const char *mark = change_of(picture, id, false).mark;

		return *mark == 'n' ? "new" : *mark == 'g' ? "gone" : "";
	}
	if (thin)
		return inlined ? "in thin" : "thin";
	return inlined ? "in" : "";
}

/* The start of a box: its position, its colour, data for the script. */
static void put_rect(struct picture *picture, uint32_t id, const struct flame_box *const *boxes)
{
	const struct flame_box *box = boxes[0];
	const char *mark = flame_mark_of(picture, id, box);
	struct bytes *out = picture->out;
	bool is_class;

	bytes_printf(out, "<rect");
	if (box) {
		put_px(out, "x", flame_edge_px(picture, box->begin));
		put_px(out, "width",
		       flame_edge_px(picture, box->end) - flame_edge_px(picture, box->begin));
		bytes_printf(out, " height=\"%d\"", BOX_PX);
	} else {
		bytes_printf(out, " display=\"none\"");
	}
	is_class = put_color(picture, id, " class=\"", " fill=\"");
	if (*mark)
		bytes_printf(out, "%s%s", is_class ? " " : "\" class=\"", mark);
	bytes_printf(out, "\"\ndata-v=\"");
	put_places(picture, id, boxes);
	bytes_put_u8(out, '"');
	if (picture->options->pair) {
		bytes_printf(out, " data-c=\"");
		put_change(picture, id, "\" data-s=\"");
		bytes_put_u8(out, '"');
	}
}

/*
 * The box of a node that is in some of the layouts. It is drawn at its position in the first; if it
 * is not in that one, it is hidden until the script shows another.
 */
static void put_box(struct picture *picture, uint32_t id, const struct flame_box *const *boxes)
{
	const char *name = call_tree_name(picture->way->trees[0], id);
	struct bytes *out = picture->out;

	put_rect(picture, id, boxes);
	if (is_narrow(picture, boxes[0])) {
		bytes_printf(out, " data-t=\"");
		put_title_reference(picture, id, name);
		bytes_printf(out, "\"/>");
		return;
	}
	bytes_printf(out, "><title>");
	put_title(picture, id, name);
	bytes_printf(out, "</title></rect>");
	if (boxes[0])
		put_text(picture, id, name, boxes[0]);
}

/*
 * The same for a way that is not drawn, for the script: positions, colour, class, change, title,
 * separated by tabs. Names have no tabs and no line breaks.
 */
static void put_record(struct picture *picture, uint32_t id, const struct flame_box *const *boxes)
{
	struct bytes *out = picture->out;

	put_places(picture, id, boxes);
	put_color(picture, id, "\t", "\t");
	bytes_printf(out, "\t%s\t", flame_mark_of(picture, id, NULL));
	if (picture->options->pair)
		put_change(picture, id, "\t");
	else
		bytes_put_u8(out, '\t');
	bytes_put_u8(out, '\t');
	put_title(picture, id, call_tree_name(picture->way->trees[0], id));
	bytes_printf(out, "\n\n");
}

/* The next box of each layout. */
struct reader {
	const struct flame_box *at;
	const struct flame_box *end;
};

/* Appends the boxes of a row: within it, all layouts are in node order. */
static void put_row(struct picture *picture, struct reader *readers, uint32_t row)
{
	for (;;) {
		const struct flame_box *boxes[PROFILE_MAX_VALUES] = {NULL};
		uint32_t first = UINT32_MAX;
		uint32_t i;

		for (i = 0; i < picture->layer_count; i++)
			if (readers[i].at < readers[i].end && readers[i].at->row == row &&
			    readers[i].at->node < first)
				first = readers[i].at->node;
		if (first == UINT32_MAX)
			return;
		for (i = 0; i < picture->layer_count; i++)
			if (readers[i].at < readers[i].end && readers[i].at->row == row &&
			    readers[i].at->node == first)
				boxes[i] = readers[i].at++;
		if (picture->way->drawn)
			put_box(picture, first, boxes);
		else
			put_record(picture, first, boxes);
	}
}

void flame_put_note(struct picture *picture)
{
	uint32_t left_out = picture->way->layouts[0].left_out;

	if (left_out > 0)
		bytes_printf(picture->out,
			     "%s branch%s narrower than %g px %s left out; --min-width draws %s",
			     quantity_count(left_out).text, left_out == 1 ? "" : "es",
			     picture->options->min_width_px, left_out == 1 ? "is" : "are",
			     left_out == 1 ? "it" : "them");
}

void flame_put_boxes(struct picture *picture)
{
	const struct flame_way *way = picture->way;
	struct reader readers[PROFILE_MAX_VALUES] = {0};
	uint32_t row;
	uint32_t i;

	for (i = 0; i < picture->layer_count; i++) {
		readers[i].at = way->layouts[i].boxes.items;
		readers[i].end = readers[i].at + way->layouts[i].boxes.count;
	}
	bytes_printf(picture->out, "<%s class=\"%s\" data-inverted=\"%d\"",
		     way->drawn ? "g" : "metadata", way->drawn ? "frames" : "hidden",
		     way->inverted);
	if (way->drawn)
		bytes_printf(picture->out, " transform=\"translate(0 %d)\"", HEAD_PX);
	bytes_printf(picture->out, " data-note=\"");
	flame_put_note(picture);
	bytes_printf(picture->out, "\">\n");
	for (row = 0; row < way->rows; row++) {
		uint32_t line = picture->options->icicle ? row : way->rows - 1 - row;

		if (way->drawn)
			bytes_printf(picture->out, "<g transform=\"translate(0 %" PRIu32 ")\">",
				     line * ROW_PX);
		else
			bytes_printf(picture->out, "=\n\n");
		put_row(picture, readers, row);
		bytes_printf(picture->out, "%s", way->drawn ? "</g>\n" : "");
	}
	bytes_printf(picture->out, "</%s>\n", way->drawn ? "g" : "metadata");
}

/* Legend */

/* The position of the next entry: intermediate shades have no text and need no space for it. */
static uint32_t behind(uint32_t x_px, const char *words)
{
	if (!*words)
		return x_px + 17;
	return x_px + 36 + (uint32_t)(CHARACTER_PX * (double)strlen(words));
}

static size_t change_meanings(struct flame_meaning *ret, const struct flame_palette *palette,
			      uint32_t *ret_end_px)
{
	static const char *const meanings[][2] = {
		{"d4", "less"}, {"d2", ""},     {"same", "no significant change"},
		{"m2", ""},     {"m4", "more"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(meanings); i++) {
		ret[i] = (struct flame_meaning){
			*ret_end_px, flame_palette_find(palette, meanings[i][0]), meanings[i][1]};
		*ret_end_px = behind(*ret_end_px, meanings[i][1]);
	}
	return i;
}

size_t flame_meanings(const struct picture *picture, struct flame_meaning ret[FLAME_MEANINGS_MAX],
		      uint32_t *ret_end_px)
{
	const struct flame_palette *palette = flame_palette_of(picture->options->colors);
	size_t count = 0;
	size_t i;

	*ret_end_px = MARGIN_PX;
	if (picture->options->pair)
		return change_meanings(ret, palette, ret_end_px);
	for (i = 0; i < palette->count && count < FLAME_MEANINGS_MAX; i++) {
		const struct flame_swatch *swatch = &palette->swatches[i];

		if (!swatch->words || !(picture->used >> i & 1))
			continue;
		ret[count++] = (struct flame_meaning){*ret_end_px, swatch, swatch->words};
		*ret_end_px = behind(*ret_end_px, swatch->words);
	}
	return count;
}

void flame_put_pair_words(struct picture *picture)
{
	bytes_printf(picture->out, "pp: percentage points of the total · dashed: %s new, %s gone",
		     quantity_count(picture->new_boxes).text,
		     quantity_count(picture->gone_boxes).text);
}

void flame_put_legend(struct picture *picture)
{
	struct flame_meaning meanings[FLAME_MEANINGS_MAX];
	uint32_t end_px;
	size_t count = flame_meanings(picture, meanings, &end_px);
	size_t i;

	for (i = 0; i < count; i++)
		bytes_printf(picture->out,
			     "<rect x=\"%" PRIu32 "\" y=\"12\" width=\"12\" height=\"12\" "
			     "class=\"%s%s\"/><text x=\"%" PRIu32 "\" y=\"22\">%s</text>",
			     meanings[i].x_px, meanings[i].swatch->class,
			     meanings[i].swatch->shades > 1 ? "0" : "", meanings[i].x_px + 17,
			     meanings[i].words);
	if (!picture->options->pair)
		return;
	bytes_printf(picture->out, "<text x=\"%" PRIu32 "\" y=\"22\">", end_px);
	flame_put_pair_words(picture);
	bytes_printf(picture->out, "; widths of before show those gone</text>");
}
