/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/page/flame_page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "model/call_tree.h"
#include "model/profile.h"
#include "model/profile_pair.h"
#include "view/flame/flame_palette.h"
#include "view/flame/flame_picture.h"
#include "view/page/page_assets.h"
#include "view/page/page_columns.h"
#include "view/page/shared/page_file.h"
#include "view/value_choice.h"

/*
 * The file has three scripts: facts about the recording and the page as JSON, the profile as
 * compressed columns (page_columns.h) in base64, and the program that shows them.
 */

#define HUES 360u
#define HUE_SHADES 4u

static const char *const color_names[] = {
	[FLAME_COLORS_CATEGORY] = "category", [FLAME_COLORS_MODULE] = "module",
	[FLAME_COLORS_HASH] = "hash",         [FLAME_COLORS_HEAT] = "heat",
	[FLAME_COLORS_CVD] = "cvd",           [FLAME_COLORS_CONTRAST] = "contrast",
	[FLAME_COLORS_LANGUAGE] = "language", [FLAME_COLORS_RED_BLUE] = "red-blue",
	[FLAME_COLORS_ORANGE_BLUE] = "cvd",
};

static void put_color(struct json *json, const char *key, uint32_t color)
{
	char text[8];

	(void)snprintf(text, sizeof(text), "#%06" PRIx32, color & 0xffffffu); /* fits */
	json_string(json, key, text);
}

static void put_shades(struct json *json, const char *key, const struct flame_swatch *swatch,
		       bool dark)
{
	uint32_t shade;

	json_open_array(json, key);
	for (shade = 0; shade < swatch->shades; shade++)
		put_color(json, NULL, flame_palette_shade(swatch, dark, shade));
	json_close(json);
}

static void put_swatch(struct json *json, const struct flame_swatch *swatch)
{
	json_open_object(json, swatch->class);
	if (swatch->words)
		json_string(json, "words", swatch->words);
	put_shades(json, "light", swatch, false);
	put_shades(json, "dark", swatch, true);
	json_bool(json, "white", swatch->white);
	if (swatch->pattern) {
		json_string(json, "pattern", (char[]){swatch->pattern, '\0'});
		put_color(json, "line", swatch->line);
	}
	json_close(json);
}

static void put_palette(struct json *json, enum flame_colors colors, const char *name)
{
	const struct flame_palette *palette = flame_palette_of(colors);
	size_t i;

	json_open_object(json, name);
	if (palette->edge) {
		put_color(json, "edge", palette->edge);
		json_bool(json, "edge_hides", palette->edge_hides);
	}
	json_open_object(json, "swatches");
	for (i = 0; i < palette->count; i++)
		put_swatch(json, &palette->swatches[i]);
	json_close(json);
	json_close(json);
}

/* All hues with their shades, six digits each: the page computes no colours. */
static void put_hues(struct json *json)
{
	static const char digits[] = "0123456789abcdef";
	char text[HUES * HUE_SHADES * 6 + 1];
	uint32_t i;
	int digit;

	for (i = 0; i < HUES * HUE_SHADES; i++) {
		uint32_t color = flame_palette_hue(i % HUES, i / HUES);

		for (digit = 0; digit < 6; digit++)
			text[i * 6 + (uint32_t)digit] = digits[color >> (20 - 4 * digit) & 0xf];
	}
	text[sizeof(text) - 1] = '\0';
	json_string(json, "hues", text);
}

static void put_names(struct json *json, const char *key, const char *const *names, int count)
{
	int i;

	json_open_array(json, key);
	for (i = 0; i < count; i++)
		json_string(json, NULL, names[i]);
	json_close(json);
}

/* The colour classes of the palettes. */
static void put_classes(struct json *json)
{
	int i;

	put_names(json, "origins", flame_origin_classes, FLAME_ORIGINS);
	put_names(json, "languages", flame_language_classes, FLAME_LANGUAGES);
	json_open_array(json, "heats");
	for (i = 0; i < FLAME_HEATS; i++) {
		json_open_object(json, NULL);
		json_double(json, "share", flame_heats[i].share, 4);
		json_string(json, "class", flame_heats[i].class);
		json_close(json);
	}
	json_close(json);
}

/* The palettes of graphs, or of comparisons, which ratios of values use too. */
static void put_colors(struct json *json, const struct flame_options *options)
{
	int i = options->pair ? FLAME_COLORS_RED_BLUE : FLAME_COLORS_CATEGORY;
	int end = options->pair ? FLAME_COLORS_ORANGE_BLUE : FLAME_COLORS_LANGUAGE;

	json_string(json, "colors", color_names[options->colors]);
	json_open_object(json, "palettes");
	for (; i <= end; i++)
		put_palette(json, (enum flame_colors)i, color_names[i]);
	if (!options->pair)
		put_palette(json, FLAME_COLORS_ORANGE_BLUE, "ratio");
	json_close(json);
	if (!options->pair) {
		put_hues(json);
		put_classes(json);
	}
	put_color(json, "hit", FLAME_HIT);
	put_color(json, "text", FLAME_TEXT);
}

static void put_values(struct json *json, const struct profile *profile, uint32_t count)
{
	uint32_t samples = call_tree_samples_value(profile);
	uint32_t i;

	json_open_array(json, "values");
	for (i = 0; i < count; i++) {
		json_open_object(json, NULL);
		json_string(json, "name", profile->value_types[i].name);
		json_string(json, "unit", profile->value_types[i].unit);
		json_close(json);
	}
	json_close(json);
	if (samples < count)
		json_u64(json, "samples_value", samples);
}

/* The states of threads, by their number in entries. */
static void put_states(struct json *json, const struct profile *profile)
{
	uint32_t states[PAGE_STATES];
	uint32_t count = page_columns_states(profile, states);
	uint32_t i;

	json_open_array(json, "states");
	for (i = 0; i < count; i++) {
		const char *name = profile_text(profile, states[i]);

		json_open_object(json, NULL);
		json_string(json, "name", name);
		json_bool(json, "away", profile_state_is_away(name));
		json_close(json);
	}
	json_close(json);
}

static void put_change(struct json *json, const struct flame_page_options *options)
{
	int i;

	json_open_array(json, "sides");
	json_string(json, NULL, options->sides[0]);
	json_string(json, NULL, options->sides[1]);
	json_close(json);
	json_open_array(json, "change_steps");
	for (i = 0; i < FLAME_CHANGE_LEVELS; i++)
		json_double(json, NULL, flame_change_steps[i], 6);
	json_close(json);
	json_double(json, "change_deviations", FLAME_CHANGE_DEVIATIONS, 9);
}

static const char *title_of(const struct profile *profile, const struct flame_options *options)
{
	const char *title = options->title ? options->title : profile->title;

	return *title ? title : "flame graph";
}

/* The settings of the page, and how far its numbers can be trusted. */
static void put_page(struct json *json, const struct profile *profile,
		     const struct flame_page_options *options, uint32_t value, uint32_t count)
{
	const struct flame_options *graph = &options->graph;
	struct bytes judgement = {0};

	flame_put_judgement(profile, graph, &judgement);
	bytes_put_u8(&judgement, '\0');
	json_open_object(json, "page");
	json_string(json, "title", title_of(profile, graph));
	json_string(json, "judgement", judgement.failed ? "" : (char *)judgement.data);
	json_u64(json, "value", value);
	json_u64(json, "main_value", profile->main_value);
	put_values(json, profile, count);
	flame_put_ratios(json, profile, graph->pair);
	json_u64(json, "by", graph->group);
	json_bool(json, "inverted", graph->inverted);
	json_bool(json, "icicle", graph->icicle);
	json_bool(json, "collapse_recursion", graph->collapse_recursion);
	json_bool(json, "pair", graph->pair);
	json_bool(json, "absolute", graph->absolute);
	json_u64(json, "slice_ns", profile->slice_ns);
	put_states(json, profile);
	if (profile->time.heap_value < count)
		json_u64(json, "heap_value", profile->time.heap_value);
	if (graph->pair)
		put_change(json, options);
	put_colors(json, graph);
	json_close(json);
	bytes_fini(&judgement);
}

/* The writer escapes "<", so no name can end the script element. */
static void put_about(struct bytes *out, const struct profile *profile,
		      const struct flame_page_options *options,
		      const struct page_columns_options *columns)
{
	struct json json;

	json_init(&json, out, false);
	json_open_object(&json, NULL);
	flame_put_recording(&json, profile, &options->graph);
	put_page(&json, profile, options, columns->value, columns->value_count);
	json_close(&json);
}

/* What the caller left open. */
static int settle(const struct profile *profile, struct flame_page_options *options,
		  struct page_columns_options *ret, struct error *err)
{
	struct flame_options *graph = &options->graph;

	*ret = (struct page_columns_options){.value_count = profile->value_count,
					     .collapse_recursion = graph->collapse_recursion,
					     .lines = !graph->pair,
					     .search = options->sources,
					     .ret_lack = options->ret_lack};
	if (graph->pair) {
		ret->value_count = PAIR_BOTH; /* the page computes the sums itself */
		if (graph->colors < FLAME_COLORS_RED_BLUE)
			graph->colors = FLAME_COLORS_RED_BLUE;
	}
	return value_choose(profile, graph->value_name, graph->value, &ret->value, err);
}

int flame_page_write(const struct profile *profile, const struct flame_page_options *options,
		     struct bytes *out, struct error *err)
{
	struct flame_page_options settled = *options;
	struct page_columns_options columns;
	struct bytes plain = {0};
	int r = settle(profile, &settled, &columns, err);

	if (r < 0)
		return r;
	page_file_begin(out, title_of(profile, &settled.graph), flame_page_css, flame_page_html);
	bytes_printf(out, "<script type=\"application/json\" id=\"about\">");
	put_about(out, profile, &settled, &columns);
	bytes_printf(out, "</script>\n");
	r = page_columns_put(profile, &columns, &plain);
	if (r == 0)
		r = page_file_put_packed(out, "profile", &plain);
	bytes_fini(&plain);
	page_file_end(out, flame_page_js);
	if (r < 0 || out->failed)
		return error_set(err, -ENOMEM, "cannot write the page: no memory");
	return 0;
}

int flame_page_data_write(const struct profile *profile, const struct flame_page_options *options,
			  struct bytes *out, struct error *err)
{
	struct flame_page_options settled = *options;
	struct page_columns_options columns;
	struct bytes about = {0};
	struct bytes plain = {0};
	int r = settle(profile, &settled, &columns, err);

	if (r < 0)
		return r;
	put_about(&about, profile, &settled, &columns);
	bytes_put_u32(out, (uint32_t)about.size);
	bytes_put(out, about.data, about.size);
	r = page_columns_put(profile, &columns, &plain);
	if (r == 0)
		r = page_file_pack(&plain, out);
	if (r < 0 || about.failed || out->failed)
		r = error_set(err, -ENOMEM, "cannot write the page: no memory");
	bytes_fini(&about);
	bytes_fini(&plain);
	return r;
}
