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
#include "view/flame_assets.h"
#include "view/flame_layout.h"
#include "view/quantity.h"

/*
 * The picture, from top to bottom: head, rows of boxes, foot. A box is
 *
 *	<g data-v="begin width"><title>name
 *	module · samples · time · share</title><rect …/><text …>na..</text></g>
 *
 * inside the group of its row. Its place in data-v is in units of the value: the
 * script computes pixels anew from there for every zoom and window. The name is
 * the first line of the title; control bytes never come out of text_put_xml(),
 * so a name has no line break. These numbers are known to the script as well.
 */

#define ROW_PX 18
#define BOX_PX 17
#define MARGIN_PX 10
#define HEAD_PX 62
#define FOOT_PX 58
#define TEXT_PX 3        /* from a box's edge to its label */
#define CHARACTER_PX 7.3 /* of a 12 px monospaced font, rounded up */

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

static void put_color(struct picture *picture, const struct call_node *node, const char *name)
{
	const struct profile *profile = picture->profile;
	struct profile_function function;
	uint32_t hash = hash_text(name);

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

	bytes_printf(out, "<title>");
	if (strlen(name) > MAX_TITLE_BYTES)
		put_label(picture, name, MAX_TITLE_BYTES);
	else
		text_put_xml(out, *name ? name : "[unnamed]");
	bytes_put_u8(out, '\n');
	if (!(node->function & CALL_TREE_GROUP)) {
		text_put_xml(out,
			     module_name(profile_text(
				     profile, profile->functions.items[node->function].module)));
		bytes_printf(out, " · ");
	}
	if (node->samples)
		bytes_printf(out, "%s sample%s · ", quantity_count(node->samples).text,
			     node->samples == 1 ? "" : "s");
	if (strcmp(profile->value_types[picture->value].name, "samples") != 0)
		bytes_printf(out, "%s · ", quantity_of(node->total, picture->unit).text);
	bytes_printf(out, "%s", quantity_share(node->total, total).text);
	if (node->self)
		bytes_printf(out, ", self %s", quantity_share(node->self, total).text);
	bytes_printf(out, "</title>");
}

static void put_box(struct picture *picture, const struct flame_box *box)
{
	const struct call_node *node = &call_tree_nodes(picture->tree)[box->node];
	const char *name = call_tree_name(picture->tree, box->node);
	struct bytes *out = picture->out;
	/* Edges are rounded, not widths: neighbours meet and nothing sticks out. */
	double left = MARGIN_PX + round((double)box->begin * picture->scale * 10) / 10;
	double right = MARGIN_PX + round((double)box->end * picture->scale * 10) / 10;
	double columns = (right - left - 2 * TEXT_PX) / CHARACTER_PX;

	bytes_printf(out, "<g data-v=\"%" PRId64 " %" PRId64 "\">", box->begin,
		     box->end - box->begin);
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
		put_label(picture, *name ? name : "[unnamed]", (uint32_t)columns);
		bytes_printf(out, "</text>");
	}
	bytes_printf(out, "</g>\n");
}

static void put_boxes(struct picture *picture)
{
	const struct flame_layout *layout = &picture->layout;
	size_t at = 0;
	uint32_t row;

	bytes_printf(picture->out, "<g class=\"frames\" transform=\"translate(0 %d)\">\n", HEAD_PX);
	for (row = 0; row < layout->rows; row++) {
		uint32_t line = picture->options->icicle ? row : layout->rows - 1 - row;

		bytes_printf(picture->out, "<g transform=\"translate(0 %" PRIu32 ")\">\n",
			     line * ROW_PX);
		for (; at < layout->boxes.count && layout->boxes.items[at].row == row; at++)
			put_box(picture, &layout->boxes.items[at]);
		bytes_printf(picture->out, "</g>\n");
	}
	bytes_printf(picture->out, "</g>\n");
}

/* Around them */

static void put_start(struct picture *picture, uint32_t height)
{
	bytes_printf(picture->out,
		     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		     "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"wick-flame\" "
		     "width=\"%" PRIu32 "\" height=\"%" PRIu32 "\" viewBox=\"0 0 %" PRIu32
		     " %" PRIu32 "\" data-total=\"%" PRId64 "\" data-icicle=\"%d\">\n"
		     "<style>\n%s</style>\n"
		     "<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n",
		     picture->options->width_px, height, picture->options->width_px, height,
		     picture->layout.total, picture->options->icicle ? 1 : 0, flame_svg_css);
}

static void put_loss(struct bytes *out, uint64_t count, uint64_t of, const char *what)
{
	if (count > 0)
		bytes_printf(out, " · %s %s", quantity_share((int64_t)count, (int64_t)of).text,
			     what);
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
		  picture->options->width_px > 700 ? (picture->options->width_px - 460) / 9 : 26);
	bytes_printf(out, "</text><text class=\"about\" x=\"%d\" y=\"47\">", MARGIN_PX);
	text_put_xml(out, profile->value_types[picture->value].name);
	bytes_printf(out, " %s", quantity_of(picture->layout.total, picture->unit).text);
	if (strcmp(profile->value_types[picture->value].name, "samples") != 0)
		bytes_printf(out, " · %s samples", quantity_count(quality->samples).text);
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

static void put_foot(struct picture *picture, uint32_t top)
{
	const struct flame_layout *layout = &picture->layout;
	struct bytes *out = picture->out;
	size_t x = MARGIN_PX;
	size_t i;

	bytes_printf(out, "<g class=\"foot\" transform=\"translate(0 %" PRIu32 ")\">", top);
	if (layout->boxes.count == 0)
		bytes_printf(out, "<text x=\"%d\" y=\"0\">no samples</text>", MARGIN_PX);
	for (i = 0; i < ARRAY_SIZE(categories); i++) {
		if (picture->options->colors != FLAME_COLORS_CATEGORY ||
		    !(picture->origins >> i & 1))
			continue;
		bytes_printf(out,
			     "<rect x=\"%zu\" y=\"12\" width=\"12\" height=\"12\" class=\"%c1\"/>"
			     "<text x=\"%zu\" y=\"22\">%s</text>",
			     x, categories[i].letter, x + 17, categories[i].name);
		x += 36 + (size_t)(CHARACTER_PX * (double)strlen(categories[i].name));
	}
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
	uint32_t rows_px = picture->layout.rows * ROW_PX;

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

/* What a box must cost to be drawn; callers of smaller ones need not be known. */
static int64_t least_total(const struct picture *picture, double room_px)
{
	const struct profile *profile = picture->profile;
	double total = 0;
	size_t i;

	for (i = 0; i < profile->entries.count; i++)
		total += (double)profile_entry_values(profile, i)[picture->value];
	return total > 0 ? (int64_t)(total * picture->options->min_width_px / room_px) : 0;
}

int flame_write(const struct profile *profile, const struct flame_options *options,
		struct bytes *out, struct error *err)
{
	struct picture picture = {.profile = profile, .options = options, .out = out};
	SCOPED(call_tree) struct call_tree *tree = NULL;
	struct call_tree_options tree_options = {.group = options->group,
						 .inverted = options->inverted,
						 .collapse_recursion = options->collapse_recursion};
	double room_px = (double)options->width_px - 2 * MARGIN_PX;
	int r = check(options, err);

	if (r < 0)
		return r;
	picture.value = options->value == FLAME_MAIN_VALUE ? profile->main_value : options->value;
	tree_options.value = picture.value;
	if (picture.value >= profile->value_count)
		return error_set(err, -EINVAL, "the profile has %u value types, not %u",
				 profile->value_count, picture.value + 1);
	tree_options.min_total = least_total(&picture, room_px);
	r = call_tree_new(profile, &tree_options, &tree);
	if (r < 0)
		return error_errno(err, r, "cannot build the call tree");
	picture.tree = tree;
	picture.unit = profile->value_types[picture.value].unit;
	r = flame_layout_init(&picture.layout, tree, options->min_width_px / room_px);
	if (r == 0) {
		if (picture.layout.total > 0)
			picture.scale = room_px / (double)picture.layout.total;
		draw(&picture);
		flame_layout_fini(&picture.layout);
	}
	bytes_fini(&picture.name);
	if (r < 0 || out->failed)
		return error_set(err, -ENOMEM, "cannot draw the flame graph: no memory");
	return 0;
}
