/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/report/report_values.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/json.h"
#include "base/quantity.h"
#include "base/text.h"
#include "model/profile.h"
#include "view/report/report.h"
#include "view/report/report_rows.h"
#include "view/report/report_text.h"
#include "view/value_ratio.h"

#define COLUMN_WIDTH 12u /* at least; names are not cut */

bool report_has_values(const struct report *report)
{
	uint32_t i;

	for (i = 0; i < report->profile->value_count; i++)
		if (report_is_beside(report, i))
			return true;
	return false;
}

static int width_of(const char *name)
{
	size_t n = strlen(name);

	return (int)(n > COLUMN_WIDTH ? n < 64 ? n : 64 : COLUMN_WIDTH);
}

/* Values first, then ratios. */
void report_values_put_names(const struct report *report)
{
	const struct profile *profile = report->profile;
	struct value_ratio ratios[VALUE_RATIOS_MAX];
	size_t count = value_ratios_of(profile, ratios);
	uint32_t i;

	for (i = 0; i < profile->value_count; i++) {
		const char *name = profile->value_types[i].name;

		if (!report_is_beside(report, i))
			continue;
		bytes_printf(report->out, "%*s", width_of(name) - (int)strlen(name), "");
		text_put_terminal(report->out, name);
		bytes_put(report->out, "  ", 2);
	}
	for (i = 0; i < count; i++)
		bytes_printf(report->out, "%*s  ", width_of(ratios[i].name), ratios[i].name);
}

size_t report_values_width(const struct report *report)
{
	struct value_ratio ratios[VALUE_RATIOS_MAX];
	size_t count = value_ratios_of(report->profile, ratios);
	size_t width = 0;
	uint32_t i;

	for (i = 0; i < report->profile->value_count; i++)
		if (report_is_beside(report, i))
			width += (size_t)width_of(report->profile->value_types[i].name) + 2;
	for (i = 0; i < count; i++)
		width += (size_t)width_of(ratios[i].name) + 2;
	return width;
}

static struct quantity ratio_text(const struct value_ratio *ratio, int64_t part, int64_t whole)
{
	struct quantity text;

	if (whole == 0)
		return (struct quantity){"-"};
	if (ratio->is_share)
		return quantity_share(part, whole);
	(void)snprintf(text.text, sizeof(text.text), "%.2f",
		       (double)part / (double)whole); /* both have at most 19 digits */
	return text;
}

void report_values_put(const struct report *report, const struct rows *rows, size_t row)
{
	const struct profile *profile = report->profile;
	const struct report_cell *cells = rows->cells + row * profile->value_count;
	struct value_ratio ratios[VALUE_RATIOS_MAX];
	size_t count = value_ratios_of(profile, ratios);
	uint32_t i;

	for (i = 0; i < profile->value_count; i++) {
		struct value_type type = profile->value_types[i];

		if (report_is_beside(report, i))
			bytes_printf(report->out, "%*s  ", width_of(type.name),
				     quantity_of(cells[i].total, type.unit).text);
	}
	for (i = 0; i < count; i++)
		bytes_printf(report->out, "%*s  ", width_of(ratios[i].name),
			     ratio_text(&ratios[i], cells[ratios[i].part].total,
					cells[ratios[i].whole].total)
				     .text);
}

/* The total of a value in the profile. */
static int64_t whole_of(const struct profile *profile, uint32_t value)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < profile->entries.count; i++)
		sum += profile_entry_values(profile, i)[value];
	return sum;
}

static const char *left_out(const struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->facts.count; i++)
		if (strcmp(profile_text(profile, profile->facts.items[i].key), "values left out") ==
		    0)
			return profile_text(profile, profile->facts.items[i].value);
	return NULL;
}

void report_values_put_head(const struct report *report)
{
	const struct profile *profile = report->profile;
	const char *missing = left_out(profile);
	struct value_ratio ratios[VALUE_RATIOS_MAX];
	size_t count = value_ratios_of(profile, ratios);
	const char *between = "also: ";
	uint32_t i;

	for (i = 0; i < profile->value_count; i++) {
		struct value_type type = profile->value_types[i];

		if (!report_is_beside(report, i))
			continue;
		bytes_printf(report->out, "%s", between);
		text_put_terminal(report->out, type.name);
		bytes_printf(report->out, " %s", quantity_of(whole_of(profile, i), type.unit).text);
		between = ", ";
	}
	for (i = 0; i < count; i++)
		bytes_printf(report->out, ", %s %s", ratios[i].name,
			     ratio_text(&ratios[i], whole_of(profile, ratios[i].part),
					whole_of(profile, ratios[i].whole))
				     .text);
	if (strcmp(between, ", ") == 0)
		bytes_put_u8(report->out, '\n');
	if (!missing)
		return;
	report_color(report, REPORT_YELLOW);
	bytes_printf(report->out, "too many to show: ");
	text_put_terminal(report->out, missing);
	bytes_printf(report->out, "; choose one with --event\n");
	report_plain(report);
}

/* JSON */

static void json_ratio(struct json *json, const struct value_ratio *ratio, int64_t part,
		       int64_t whole)
{
	if (whole != 0)
		json_double(json, ratio->key, (double)part / (double)whole, 6);
	else
		json_string(json, ratio->key, NULL);
}

void report_values_json_head(const struct report *report, struct json *json)
{
	const struct profile *profile = report->profile;
	struct value_ratio ratios[VALUE_RATIOS_MAX];
	size_t count = value_ratios_of(profile, ratios);
	uint32_t i;

	json_open_array(json, "values");
	for (i = 0; i < profile->value_count; i++) {
		json_open_object(json, NULL);
		json_string(json, "name", profile->value_types[i].name);
		json_string(json, "unit", profile->value_types[i].unit);
		json_i64(json, "total", whole_of(profile, i));
		json_close(json);
	}
	json_close(json);
	json_open_object(json, "ratios");
	for (i = 0; i < count; i++)
		json_ratio(json, &ratios[i], whole_of(profile, ratios[i].part),
			   whole_of(profile, ratios[i].whole));
	json_close(json);
	if (left_out(profile))
		json_string(json, "values_left_out", left_out(profile));
}

void report_values_json(const struct report *report, const struct rows *rows, size_t row,
			struct json *json)
{
	const struct profile *profile = report->profile;
	const struct report_cell *cells = rows->cells + row * profile->value_count;
	struct value_ratio ratios[VALUE_RATIOS_MAX];
	size_t count = value_ratios_of(profile, ratios);
	uint32_t i;

	json_open_object(json, "values");
	for (i = 0; i < profile->value_count; i++) {
		if (!report_is_beside(report, i))
			continue;
		json_open_object(json, profile->value_types[i].name);
		json_i64(json, "self", cells[i].self);
		json_i64(json, "total", cells[i].total);
		json_close(json);
	}
	json_close(json);
	json_open_object(json, "ratios");
	for (i = 0; i < count; i++)
		json_ratio(json, &ratios[i], cells[ratios[i].part].total,
			   cells[ratios[i].whole].total);
	json_close(json);
}
