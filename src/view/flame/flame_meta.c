/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/flame/flame_picture.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "view/value_ratio.h"

/*
 * The metadata of the file, for programs and later readers:
 *
 *	{"wick": version, "title", "start_unix_ns", "duration_ns", "recorded_ns" (where there are
 *	 gaps), "period_ns", "samples",
 *	 "lost", "unreadable", "truncated", "recording": {"engine" …}, "filters": […],
 *	 "drawn": {"value", "unit", "total", "values", "wholes", "judgement", "ratios",
 *	 "inverted" …}}
 *
 * In a comparison, all but "wick" and "drawn" are in "before" and "after", for each side.
 */

static void put_facts(struct json *json, const struct profile *profile)
{
	size_t i;

	json_open_object(json, "recording");
	for (i = 0; i < profile->facts.count; i++) {
		const char *key = profile_text(profile, profile->facts.items[i].key);

		if (strcmp(key, "filter") != 0)
			json_string(json, key,
				    profile_text(profile, profile->facts.items[i].value));
	}
	json_close(json);
	json_open_array(json, "filters");
	for (i = 0; i < profile->facts.count; i++)
		if (strcmp(profile_text(profile, profile->facts.items[i].key), "filter") == 0)
			json_string(json, NULL,
				    profile_text(profile, profile->facts.items[i].value));
	json_close(json);
}

void flame_put_ratios(struct json *json, const struct profile *profile, bool pair)
{
	struct value_ratio ratios[VALUE_RATIOS_MAX];
	size_t count = pair ? 0 : value_ratios_of(profile, ratios);
	size_t i;

	json_open_array(json, "ratios");
	for (i = 0; i < count; i++) {
		json_open_object(json, NULL);
		json_string(json, "name", ratios[i].name);
		json_string(json, "part", profile->value_types[ratios[i].part].name);
		json_string(json, "whole", profile->value_types[ratios[i].whole].name);
		json_bool(json, "more_is_worse", ratios[i].more_is_worse);
		json_close(json);
	}
	json_close(json);
}

/* The text of the head for each value: the script uses it to show another one. */
static void put_wholes(struct json *json, const struct picture *picture)
{
	struct bytes text = {0};
	uint32_t i;

	json_open_array(json, "wholes");
	for (i = 0; i < picture->layer_count && !picture->options->pair; i++) {
		bytes_clear(&text);
		flame_put_whole(picture, i, &text, text_put_plain);
		bytes_put_u8(&text, 0);
		json_string(json, NULL, text.failed ? "" : (char *)text.data);
	}
	json_close(json);
	bytes_clear(&text);
	flame_put_judgement(picture->profile, picture->options, &text);
	bytes_put_u8(&text, 0);
	json_string(json, "judgement", text.failed ? "" : (char *)text.data);
	bytes_fini(&text);
}

static void put_drawn(struct json *json, const struct picture *picture)
{
	static const char *const groups[] = {"nothing", "process", "thread"};
	const struct flame_options *options = picture->options;
	uint32_t i;

	json_open_object(json, "drawn");
	json_string(json, "value", picture->profile->value_types[picture->layers[0]].name);
	json_string(json, "unit", picture->unit);
	json_i64(json, "total", picture->whole.after);
	json_open_array(json, "values");
	for (i = 0; i < picture->layer_count && !options->pair; i++)
		json_string(json, NULL, picture->profile->value_types[picture->layers[i]].name);
	json_close(json);
	put_wholes(json, picture);
	flame_put_ratios(json, picture->profile, options->pair);
	if (options->pair)
		json_i64(json, "total_before", picture->whole.before);
	json_string(json, "by", groups[options->group]);
	json_bool(json, "inverted", options->inverted);
	json_bool(json, "icicle", options->icicle);
	json_bool(json, "collapse_recursion", options->collapse_recursion);
	json_double(json, "min_width_px", options->min_width_px, 3);
	json_close(json);
}

static void put_recording(struct json *json, const struct profile *profile)
{
	json_string(json, "title", profile->title);
	if (profile->start_realtime_ns > 0)
		json_u64(json, "start_unix_ns", profile->start_realtime_ns);
	json_u64(json, "duration_ns", profile->duration_ns);
	if (profile->recorded_ns > 0)
		json_u64(json, "recorded_ns", profile->recorded_ns);
	json_u64(json, "period_ns", profile->period_ns);
	json_u64(json, "samples", profile->quality.samples);
	json_u64(json, "lost", profile->quality.lost);
	json_u64(json, "unreadable", profile->quality.unreadable);
	json_u64(json, "truncated", profile->quality.truncated);
	put_facts(json, profile);
}

void flame_put_recording(struct json *json, const struct profile *profile,
			 const struct flame_options *options)
{
	static const char *const names[2] = {"before", "after"};
	int i;

	json_string(json, "wick", WICK_VERSION);
	if (!options->sides[0] || !options->sides[1]) {
		put_recording(json, profile);
		return;
	}
	for (i = 0; i < 2; i++) { /* sums of both would describe no recording */
		json_open_object(json, names[i]);
		put_recording(json, options->sides[i]);
		json_close(json);
	}
}

void flame_put_metadata(struct picture *picture)
{
	struct bytes text = {0};
	struct json json;

	json_init(&json, &text, false);
	json_open_object(&json, NULL);
	flame_put_recording(&json, picture->profile, picture->options);
	put_drawn(&json, picture);
	json_close(&json);
	bytes_put_u8(&text, 0);
	bytes_printf(picture->out, "<metadata>");
	if (text.failed)
		picture->out->failed = true;
	else
		text_put_xml(picture->out, (char *)text.data);
	bytes_printf(picture->out, "</metadata>\n");
	bytes_fini(&text);
}
