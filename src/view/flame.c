/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/flame.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/scope.h"
#include "base/text.h"
#include "model/profile.h"
#include "model/profile_pair.h"
#include "view/flame_assets.h"
#include "view/flame_change.h"
#include "view/flame_layout.h"
#include "view/quantity.h"

/*
 * The picture, from top to bottom: head, rows of boxes, foot. A box is
 *
 *	<g data-v="begin width self"><title>name
 *	module · samples · time · share</title><rect …/><text …>na..</text></g>
 *
 * inside the group of its row. A comparison adds to the box: in data-v its place before;
 * data-c and data-s, its colour and the words in its label, for shares and for amounts;
 * and to the title a line for each of both. Its place in data-v is in units of the value: the
 * script computes pixels anew from there for every zoom and window. A self of 0 is left out. The
 *name is the first line of the title; control bytes never come out of text_put_xml(), so a name has
 *no line break. These numbers are known to the script as well.
 */

#define ROW_PX 18
#define BOX_PX 17
#define MARGIN_PX 10
#define HEAD_PX 84
#define FOOT_PX 58
#define TEXT_PX 3            /* from a box's edge to its label */
#define LEAST_NAME_COLUMNS 4 /* of a label that tells a change as well */
#define CHARACTER_PX 7.3     /* of a 12 px monospaced font, rounded up */

/* A tooltip shows names up to here; more would only grow the file. */
#define MAX_TITLE_BYTES 4096

struct category {
	const char *name;
	char letter; /* of its CSS classes */
};

static const struct category categories[] = {
	[ORIGIN_PROGRAM] = {"program", 'p'},   [ORIGIN_LIBRARY] = {"library", 'l'},
	[ORIGIN_KERNEL] = {"kernel", 'k'},     [ORIGIN_JIT] = {"JIT", 'j'},
	[ORIGIN_UNKNOWN] = {"no symbol", 'u'}, [ORIGIN_TRUNCATED] = {"truncated", 't'},
};

struct picture {
	const struct profile *profile;
	const struct flame_options *options;
	const struct call_tree *tree;
	struct flame_layout layout;
	const struct call_tree *before; /* of a pair; the same nodes; else NULL */
	struct flame_layout before_layout;
	uint32_t rows; /* of the higher one */
	uint32_t new_boxes;
	uint32_t gone_boxes;
	uint32_t value;
	const char *unit;
	double scale;      /* pixels for a unit of the value */
	uint32_t origins;  /* bit set of the categories drawn */
	struct bytes name; /* scratch */
	struct bytes *out;
};

/* Names */

static bool is_wide(uint32_t c)
{
	return c >= 0x1100;
}

/*
 * Appends the part of a name that fits into some columns, ".." in place of the
 * rest. It is cut before it is escaped: no entity is halved.
 */
static void put_label(struct picture *picture, const char *name, uint32_t columns)
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
		text_put_xml(picture->out, name);
		return;
	}
	bytes_clear(&picture->name);
	bytes_put(&picture->name, name, fits);
	bytes_put(&picture->name, "..", 3); /* with its NUL */
	if (!picture->name.failed)
		text_put_xml(picture->out, (char *)picture->name.data);
}

static uint32_t hash_text(const char *text)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 16777619u;
	return hash ^ hash >> 15;
}

static const char *module_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static bool has_samples_alone(const struct picture *picture)
{
	return strcmp(picture->profile->value_types[picture->value].name, "samples") == 0;
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

/* Hue 0 … 359 to a light colour that dark text can be read on. */
static void put_hue(struct bytes *out, uint32_t hue, uint32_t shade)
{
	double lightness = 0.66 + 0.05 * (shade % 4);
	double chroma = (1 - fabs(2 * lightness - 1)) * 0.62;
	int channel[3];
	int i;

	for (i = 0; i < 3; i++) {
		double k = fmod(i * 240.0 + hue, 360) / 60; /* red, green, blue a third apart */
		double up = fmax(0, fmin(1, fabs(k - 3) - 1));

		channel[i] = (int)((lightness - chroma / 2 + chroma * up) * 255);
	}
	bytes_printf(out, " fill=\"#%02x%02x%02x\"", channel[0], channel[1], channel[2]);
}

/* Boxes */

/* What a node of the tree has on both sides of a pair. */
static struct flame_sides sides_of(const struct picture *picture, const struct call_node *node)
{
	size_t at = (size_t)(node - call_tree_nodes(picture->tree));
	const struct call_node *before = &call_tree_nodes(picture->before)[at];

	return (struct flame_sides){
		.before = before->total,
		.after = node->total,
		.before_samples = before->samples,
		.after_samples = node->samples,
	};
}

static struct flame_change change_of(const struct picture *picture, const struct call_node *node,
				     bool absolute)
{
	struct flame_sides box = sides_of(picture, node);
	struct flame_sides whole = sides_of(picture, call_tree_nodes(picture->tree));

	return flame_change_of(&box, &whole, absolute, picture->unit);
}

/* The attributes of a box of a pair, for the script. */
static void put_change(struct picture *picture, const struct call_node *node)
{
	struct flame_change share = change_of(picture, node, false);
	struct flame_change amount = change_of(picture, node, true);

	bytes_printf(picture->out, " data-c=\"%s %s\" data-s=\"%s%s|%s%s\"%s%s%s", share.color,
		     amount.color, share.mark, share.text.text, amount.mark, amount.text.text,
		     *share.mark ? " class=\"" : "",
		     *share.mark == 'n'   ? "new"
		     : *share.mark == 'g' ? "gone"
					  : "",
		     *share.mark ? "\"" : "");
}

/* Two lines of a title: the change of the share, and that of the amount. */
static void put_changes(struct picture *picture, const struct call_node *node)
{
	struct flame_sides box = sides_of(picture, node);
	struct flame_sides whole = sides_of(picture, call_tree_nodes(picture->tree));
	struct flame_change share = change_of(picture, node, false);
	struct flame_change amount = change_of(picture, node, true);

	bytes_printf(picture->out, "%s → ", quantity_count(box.before_samples).text);
	bytes_printf(picture->out, "%s samples\nshare %s → ",
		     quantity_count(box.after_samples).text,
		     quantity_share(box.before, whole.before).text);
	bytes_printf(picture->out, "%s: %s, %s\n", quantity_share(box.after, whole.after).text,
		     share.text.text, share.relative.text);
	text_put_xml(picture->out, picture->profile->value_types[picture->value].name);
	bytes_printf(picture->out, " %s → ", quantity_of(box.before, picture->unit).text);
	bytes_printf(picture->out, "%s: %s, %s</title>", quantity_of(box.after, picture->unit).text,
		     amount.text.text, amount.relative.text);
}

static void put_color(struct picture *picture, const struct call_node *node, const char *name)
{
	const struct profile *profile = picture->profile;
	struct profile_function function;
	uint32_t hash = hash_text(name);

	if (picture->before) {
		bytes_printf(picture->out, " class=\"%s\"",
			     change_of(picture, node, picture->options->absolute).color);
		return;
	}
	if (node->function & CALL_TREE_GROUP) {
		bytes_printf(picture->out, " class=\"g\"");
		return;
	}
	function = profile->functions.items[node->function];
	if (function.origin >= ARRAY_SIZE(categories))
		function.origin = ORIGIN_UNKNOWN;
	picture->origins |= 1u << function.origin;
	if (picture->options->colors == FLAME_COLORS_CATEGORY)
		bytes_printf(picture->out, " class=\"%c%u\"", categories[function.origin].letter,
			     hash % 3);
	else if (picture->options->colors == FLAME_COLORS_MODULE)
		put_hue(picture->out, hash_text(profile_text(profile, function.module)) % 360,
			hash);
	else
		put_hue(picture->out, hash % 360, hash / 360);
}

static void put_title(struct picture *picture, const struct call_node *node, const char *name)
{
	const struct profile *profile = picture->profile;
	int64_t total = picture->layout.total;
	struct bytes *out = picture->out;
	const char *module = "";

	bytes_printf(out, "<title>");
	if (strlen(name) > MAX_TITLE_BYTES)
		put_label(picture, name, MAX_TITLE_BYTES);
	else
		text_put_xml(out, *name ? name : "[unnamed]");
	bytes_put_u8(out, '\n');
	if (!(node->function & CALL_TREE_GROUP))
		module = profile_text(profile, profile->functions.items[node->function].module);
	if (*module) {
		text_put_xml(out, module_name(module));
		bytes_printf(out, " · ");
	}
	if (picture->before) {
		put_changes(picture, node);
		return;
	}
	if (node->samples)
		bytes_printf(out, "%s sample%s · ", quantity_count(node->samples).text,
			     node->samples == 1 ? "" : "s");
	if (!has_samples_alone(picture))
		bytes_printf(out, "%s · ", quantity_of(node->total, picture->unit).text);
	bytes_printf(out, "%s", quantity_share(node->total, total).text);
	if (node->self)
		bytes_printf(out, ", self %s", quantity_share(node->self, total).text);
	bytes_printf(out, "</title>");
}

/* A label, of a pair with what changed: all of it, or in a narrow box its sign. */
static void put_words(struct picture *picture, const struct call_node *node, const char *name,
		      uint32_t columns)
{
	struct flame_change change;
	uint32_t taken;

	if (*name == '\0')
		name = "[unnamed]";
	if (!picture->before) {
		put_label(picture, name, columns);
		return;
	}
	change = change_of(picture, node, picture->options->absolute);
	taken = (uint32_t)(strlen(change.mark) + strlen(change.text.text) + 1);
	if (columns < taken + LEAST_NAME_COLUMNS) { /* the edge of the box is a mark too */
		taken -= (uint32_t)strlen(change.mark);
		change.mark = "";
	}
	if (columns >= taken + LEAST_NAME_COLUMNS) {
		put_label(picture, name, columns - taken);
		bytes_printf(picture->out, " %s%s", change.mark, change.text.text);
		return;
	}
	if (change.sign)
		bytes_put_u8(picture->out, (uint8_t)change.sign);
	put_label(picture, name, columns - (change.sign ? 1 : 0));
}

/* Where a box is, and what of it is its own; nothing for one that is not there. */
static void put_place(struct bytes *out, const struct flame_box *box, const struct call_node *node)
{
	bytes_printf(out, "%" PRId64 " %" PRId64, box ? box->begin : 0,
		     box ? box->end - box->begin : 0);
	if (box && node->self > 0)
		bytes_printf(out, " %" PRId64, node->self);
}

/* The box of a node that is in either layout, or in both. */
static void put_box(struct picture *picture, uint32_t id, const struct flame_box *after,
		    const struct flame_box *before)
{
	static const struct flame_box nowhere;
	const struct flame_box *box = after ? after : &nowhere;
	const struct call_node *node = &call_tree_nodes(picture->tree)[id];
	const char *name = call_tree_name(picture->tree, id);
	struct bytes *out = picture->out;
	/* Edges are rounded, not widths: neighbours meet and nothing sticks out. */
	double left = MARGIN_PX + round((double)box->begin * picture->scale * 10) / 10;
	double right = MARGIN_PX + round((double)box->end * picture->scale * 10) / 10;
	double columns = (right - left - 2 * TEXT_PX) / CHARACTER_PX;

	bytes_printf(out, "<g data-v=\"");
	put_place(out, after, node);
	if (picture->before) {
		bytes_put_u8(out, ',');
		put_place(out, before, &call_tree_nodes(picture->before)[id]);
	}
	bytes_put_u8(out, '"');
	if (picture->before)
		put_change(picture, node);
	bytes_printf(out, "%s>", after ? "" : " display=\"none\"");
	put_title(picture, node, name);
	bytes_printf(out, "<rect");
	put_px(out, "x", left);
	put_px(out, "width", right - left);
	bytes_printf(out, " height=\"%d\"", BOX_PX);
	put_color(picture, node, name);
	bytes_printf(out, "/>");
	if (columns >= 3) {
		bytes_printf(out, "<text");
		put_px(out, "x", left + TEXT_PX);
		bytes_printf(out, " y=\"13\">");
		put_words(picture, node, name, (uint32_t)columns);
		bytes_printf(out, "</text>");
	}
	bytes_printf(out, "</g>\n");
}

static void put_boxes(struct picture *picture)
{
	const struct flame_box *after = picture->layout.boxes.items;
	const struct flame_box *before = picture->before_layout.boxes.items;
	const struct flame_box *after_end = after + picture->layout.boxes.count;
	const struct flame_box *before_end = before + picture->before_layout.boxes.count;
	uint32_t row;

	bytes_printf(picture->out, "<g class=\"frames\" transform=\"translate(0 %d)\">\n", HEAD_PX);
	for (row = 0; row < picture->rows; row++) {
		uint32_t line = picture->options->icicle ? row : picture->rows - 1 - row;

		bytes_printf(picture->out, "<g transform=\"translate(0 %" PRIu32 ")\">\n",
			     line * ROW_PX);
		for (;;) { /* both are in the order of nodes inside a row */
			bool is_after = after < after_end && after->row == row;
			bool is_before = before < before_end && before->row == row;

			if (!is_after && !is_before)
				break;
			if (is_after && is_before && after->node != before->node) {
				is_before = before->node < after->node;
				is_after = !is_before;
			}
			put_box(picture, is_after ? after->node : before->node,
				is_after ? after : NULL, is_before ? before : NULL);
			after += is_after;
			before += is_before;
		}
		bytes_printf(picture->out, "</g>\n");
	}
	bytes_printf(picture->out, "</g>\n");
}

/* Around them */

static void put_start(struct picture *picture, uint32_t height)
{
	bytes_printf(picture->out,
		     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		     "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"wick-flame%s\" "
		     "width=\"%" PRIu32 "\" height=\"%" PRIu32 "\" viewBox=\"0 0 %" PRIu32
		     " %" PRIu32 "\" data-icicle=\"%d\" data-total=\"%" PRId64,
		     picture->options->colors == FLAME_COLORS_ORANGE_BLUE ? " cvd" : "",
		     picture->options->width_px, height, picture->options->width_px, height,
		     picture->options->icicle ? 1 : 0, picture->layout.total);
	if (picture->before)
		bytes_printf(picture->out, " %" PRId64 "\" data-absolute=\"%d",
			     picture->before_layout.total, picture->options->absolute ? 1 : 0);
	bytes_printf(picture->out,
		     "\">\n<style>\n%s</style>\n"
		     "<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n",
		     flame_svg_css);
}

static void put_loss(struct bytes *out, uint64_t count, uint64_t of, const char *what)
{
	if (count > 0)
		bytes_printf(out, " · %s %s", quantity_share((int64_t)count, (int64_t)of).text,
			     what);
}

/* What all of it is, of a pair before and after. */
static void put_whole(struct picture *picture)
{
	const struct profile *profile = picture->profile;
	struct bytes *out = picture->out;

	text_put_xml(out, profile->value_types[picture->value].name);
	bytes_put_u8(out, ' ');
	if (picture->before)
		bytes_printf(out, "%s → ",
			     quantity_of(picture->before_layout.total, picture->unit).text);
	bytes_printf(out, "%s", quantity_of(picture->layout.total, picture->unit).text);
	if (has_samples_alone(picture))
		return;
	bytes_printf(out, " · ");
	if (picture->before) {
		const struct call_node *root = call_tree_nodes(picture->tree);

		bytes_printf(out, "%s → ",
			     quantity_count(sides_of(picture, root).before_samples).text);
		bytes_printf(out, "%s samples", quantity_count(root->samples).text);
	} else {
		bytes_printf(out, "%s samples", quantity_count(profile->quality.samples).text);
	}
}

static void put_head(struct picture *picture)
{
	const struct profile *profile = picture->profile;
	const struct profile_quality *quality = &profile->quality;
	const char *title = picture->options->title ? picture->options->title : profile->title;
	uint64_t taken = quality->samples + quality->lost + quality->unreadable;
	struct bytes *out = picture->out;

	bytes_printf(out,
		     "<g class=\"head\"><rect class=\"page\" width=\"100%%\" height=\"%d\"/>"
		     "<text class=\"title\" x=\"%d\" y=\"26\">",
		     HEAD_PX - 4, MARGIN_PX);
	/* The controls stand at the right of the title. */
	put_label(picture, *title ? title : "flame graph",
		  picture->options->width_px > 700 ? (picture->options->width_px - 580) / 9 : 26);
	bytes_printf(out, "</text><text class=\"about\" x=\"%d\" y=\"47\">", MARGIN_PX);
	put_whole(picture);
	if (profile->duration_ns)
		bytes_printf(out, " · %s recorded",
			     quantity_of((int64_t)profile->duration_ns, "nanoseconds").text);
	put_loss(out, quality->lost, taken, "lost");
	put_loss(out, quality->unreadable, taken, "unreadable");
	if (quality->incomplete)
		bytes_printf(out, " · incomplete recording");
	put_loss(out, quality->truncated, quality->samples, "truncated");
	put_loss(out, quality->unsymbolised, quality->samples, "without symbol");
	bytes_printf(out, "</text></g>\n");
}

/* Appends a coloured square and its meaning. Returns where the next one goes. */
static size_t put_meaning(struct bytes *out, size_t x, const char *color, const char *words)
{
	bytes_printf(out,
		     "<rect x=\"%zu\" y=\"12\" width=\"12\" height=\"12\" class=\"%s\"/>"
		     "<text x=\"%zu\" y=\"22\">%s</text>",
		     x, color, x + 17, words);
	return x + 36 + (size_t)(CHARACTER_PX * (double)strlen(words));
}

static void put_change_legend(struct picture *picture)
{
	static const char *const meanings[][2] = {
		{"d4", "less"}, {"d2", ""},     {"same", "as before, or not sure"},
		{"m2", ""},     {"m4", "more"},
	};
	size_t x = MARGIN_PX;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(meanings); i++)
		x = put_meaning(picture->out, x, meanings[i][0], meanings[i][1]);
	bytes_printf(
		picture->out,
		"<text x=\"%zu\" y=\"22\">pp: points of the whole · %s new and %s gone boxes have "
		"a dashed edge; gone ones show in the widths of before</text>",
		x, quantity_count(picture->new_boxes).text,
		quantity_count(picture->gone_boxes).text);
}

static void put_legend(struct picture *picture)
{
	size_t x = MARGIN_PX;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(categories); i++) {
		const char color[] = {categories[i].letter, '1', '\0'};

		if (picture->origins >> i & 1)
			x = put_meaning(picture->out, x, color, categories[i].name);
	}
}

static void put_foot(struct picture *picture, uint32_t top)
{
	const struct flame_layout *layout = &picture->layout;
	struct bytes *out = picture->out;

	bytes_printf(out, "<g class=\"foot\" transform=\"translate(0 %" PRIu32 ")\">", top);
	if (layout->boxes.count == 0)
		bytes_printf(out, "<text x=\"%d\" y=\"0\">no samples%s</text>", MARGIN_PX,
			     picture->before_layout.boxes.count ? " after; b shows before" : "");
	if (picture->before)
		put_change_legend(picture);
	else if (picture->options->colors == FLAME_COLORS_CATEGORY)
		put_legend(picture);
	if (layout->left_out > 0)
		bytes_printf(out,
			     "<text x=\"%d\" y=\"42\">%s branches narrower than %g px are left "
			     "out; --min-width draws them</text>",
			     MARGIN_PX, quantity_count(layout->left_out).text,
			     picture->options->min_width_px);
	bytes_printf(out, "</g>\n");
}

static void draw(struct picture *picture)
{
	uint32_t rows_px;

	picture->rows = picture->layout.rows;
	if (picture->before_layout.rows > picture->rows)
		picture->rows = picture->before_layout.rows;
	rows_px = picture->rows * ROW_PX;
	put_start(picture, HEAD_PX + rows_px + FOOT_PX);
	put_boxes(picture);
	put_foot(picture, HEAD_PX + rows_px);
	put_head(picture); /* over the boxes: it stays when the page scrolls */
	bytes_printf(picture->out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", flame_svg_js);
}

static int check(const struct flame_options *options, struct error *err)
{
	if (options->width_px < 200 || options->width_px > 100000)
		return error_set(err, -ERANGE, "a width of %u px is not in 200 … 100000",
				 options->width_px);
	if (!(options->min_width_px >= 0 && options->min_width_px <= 100))
		return error_set(err, -ERANGE, "a least width of %g px is not in 0 … 100",
				 options->min_width_px);
	return 0;
}

/* The sum of a value of all entries, as the root of a tree has it. */
static double sum_of(const struct profile *profile, uint32_t value)
{
	double total = 0;
	size_t i;

	for (i = 0; i < profile->entries.count; i++)
		total += (double)profile_entry_values(profile, i)[value];
	return total;
}

/*
 * What a box must cost to be drawn; callers of smaller ones need not be known. Of a
 * pair, what is less before and after together is less than the limit of either.
 */
static int64_t least_total(const struct picture *picture, double room_px)
{
	double total = sum_of(picture->profile, picture->value);

	if (picture->options->pair)
		total = fmin(total, sum_of(picture->profile, PAIR_BEFORE));
	return total > 0 ? (int64_t)(total * picture->options->min_width_px / room_px) : 0;
}

/* The trees of a picture; the one before is NULL without a pair. */
struct trees {
	struct call_tree *after;
	struct call_tree *before;
};

static int grow_trees(struct picture *picture, double room_px, struct trees *trees)
{
	const struct flame_options *options = picture->options;
	struct call_tree_options how = {.value = picture->value,
					.group = options->group,
					.inverted = options->inverted,
					.collapse_recursion = options->collapse_recursion,
					.min_total = least_total(picture, room_px),
					.min_value = options->pair ? PAIR_BOTH : picture->value};
	int r = call_tree_new(picture->profile, &how, &trees->after);

	picture->tree = trees->after;
	if (r < 0 || !options->pair)
		return r;
	how.value = PAIR_BEFORE;
	how.samples_value = PAIR_SAMPLES_BEFORE;
	r = call_tree_new(picture->profile, &how, &trees->before);
	picture->before = trees->before;
	return r;
}

static int lay_out(struct picture *picture, double room_px)
{
	double min_fraction = picture->options->min_width_px / room_px;
	int r = flame_layout_init(&picture->layout, picture->tree, min_fraction);

	if (r == 0 && picture->before)
		r = flame_layout_init(&picture->before_layout, picture->before, min_fraction);
	if (picture->layout.total > 0)
		picture->scale = room_px / (double)picture->layout.total;
	return r;
}

/* Counts the functions that only one side has. */
static void count_changes(struct picture *picture)
{
	const struct call_node *after = call_tree_nodes(picture->tree);
	const struct call_node *before = picture->before ? call_tree_nodes(picture->before) : NULL;
	uint32_t i;

	for (i = 1; before && i < call_tree_count(picture->tree); i++) {
		picture->new_boxes += before[i].total == 0 && after[i].total != 0;
		picture->gone_boxes += before[i].total != 0 && after[i].total == 0;
	}
}

int flame_write(const struct profile *profile, const struct flame_options *options,
		struct bytes *out, struct error *err)
{
	struct picture picture = {.profile = profile, .options = options, .out = out};
	struct trees trees = {0};
	double room_px = (double)options->width_px - 2 * MARGIN_PX;
	int r = check(options, err);

	if (r < 0)
		return r;
	picture.value = options->value == FLAME_MAIN_VALUE ? profile->main_value : options->value;
	if (picture.value >= profile->value_count)
		return error_set(err, -EINVAL, "the profile has %u value types, not %u",
				 profile->value_count, picture.value + 1);
	picture.unit = profile->value_types[picture.value].unit;
	r = grow_trees(&picture, room_px, &trees);
	if (r == 0)
		r = lay_out(&picture, room_px);
	if (r == 0) {
		count_changes(&picture);
		draw(&picture);
	}
	flame_layout_fini(&picture.layout);
	flame_layout_fini(&picture.before_layout);
	call_tree_free(trees.after);
	call_tree_free(trees.before);
	bytes_fini(&picture.name);
	if (r < 0 || out->failed)
		return error_set(err, -ENOMEM, "cannot draw the flame graph: no memory");
	return 0;
}
