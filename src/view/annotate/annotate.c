/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/annotate/annotate.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/quantity.h"
#include "base/text.h"
#include "model/profile.h"
#include "view/annotate/annotation.h"

#define BAR_COLUMNS 8

void annotation_note(struct annotation *annotation, const char *format, ...)
{
	va_list args;
	char *text = NULL;
	size_t i;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	for (i = 0; n >= 0 && i < annotation->notes.count; i++)
		if (strcmp(annotation->notes.items[i], text) == 0) {
			free(text);
			return;
		}
	if (n < 0 || vec_push(&annotation->notes, text) < 0) {
		annotation->report.out->failed = true;
		if (n >= 0)
			free(text);
	}
}

void annotation_put_bar(const struct annotation *annotation, int64_t part)
{
	double share = quantity_percent(part, annotation->report.total) / 100;
	int filled = (int)(share * BAR_COLUMNS + 0.5);
	int i;

	if (!annotation->options->color)
		return;
	bytes_put_u8(annotation->report.out, ' ');
	report_color(&annotation->report, REPORT_RED);
	for (i = 0; i < BAR_COLUMNS; i++)
		bytes_printf(annotation->report.out, "%s", i < filled ? "█" : " ");
	report_plain(&annotation->report);
}

static int64_t whole_total(const struct annotation *annotation)
{
	const struct profile *profile = annotation->profile;
	int64_t total = 0;
	size_t i;

	for (i = 0; i < profile->entries.count; i++)
		total += profile_entry_values(profile, i)[annotation->value];
	return total;
}

static void put_head(struct annotation *annotation, const char *name)
{
	const struct report *report = &annotation->report;
	const struct line_row *sum = &annotation->sum;
	int64_t whole = whole_total(annotation);
	struct value_type type = annotation->profile->value_types[annotation->value];

	report_color(report, REPORT_BOLD);
	text_put_terminal(report->out, name);
	report_plain(report);
	bytes_printf(report->out, "\n%s total, %s self: ", quantity_share(sum->total, whole).text,
		     quantity_share(sum->self, whole).text);
	text_put_terminal(report->out, type.name);
	bytes_printf(report->out, " %s of %s\n", quantity_of(sum->total, type.unit).text,
		     quantity_of(whole, type.unit).text);
}

static void put_json_head(struct annotation *annotation, const char *name)
{
	struct value_type type = annotation->profile->value_types[annotation->value];
	struct json *json = &annotation->json;
	int64_t whole = whole_total(annotation);

	json_string(json, "function", name);
	json_string(json, "title", annotation->profile->title);
	json_open_object(json, "value");
	json_string(json, "name", type.name);
	json_string(json, "unit", type.unit);
	json_i64(json, "total", whole);
	json_close(json);
	json_i64(json, "self", annotation->sum.self);
	json_i64(json, "total", annotation->sum.total);
	json_double(json, "self_percent", quantity_percent(annotation->sum.self, whole), 3);
	json_double(json, "total_percent", quantity_percent(annotation->sum.total, whole), 3);
}

static void put_notes(struct annotation *annotation)
{
	size_t i;

	if (annotation->options->json)
		json_open_array(&annotation->json, "notes");
	else if (annotation->notes.count > 0)
		bytes_put_u8(annotation->report.out, '\n');
	for (i = 0; i < annotation->notes.count; i++) {
		if (annotation->options->json) {
			json_string(&annotation->json, NULL, annotation->notes.items[i]);
			continue;
		}
		bytes_printf(annotation->report.out, "note: ");
		text_put_terminal(annotation->report.out, annotation->notes.items[i]);
		bytes_put_u8(annotation->report.out, '\n');
	}
	if (annotation->options->json)
		json_close(&annotation->json);
}

static int put_all(struct annotation *annotation, const char *name)
{
	struct bytes *out = annotation->report.out;
	int r;

	if (annotation->options->json) {
		json_init(&annotation->json, out, true);
		json_open_object(&annotation->json, NULL);
		put_json_head(annotation, name);
	} else {
		put_head(annotation, name);
	}
	r = annotation->assembly ? annotation_put_instructions(annotation)
				 : annotation_put_lines(annotation);
	put_notes(annotation);
	if (annotation->options->json)
		json_close(&annotation->json);
	return r;
}

/* Whether some of its code is in a file that can be disassembled. */
static bool has_code(const struct profile *profile, const uint8_t *wanted)
{
	size_t i;
	uint32_t k;

	for (i = 0; i < profile->locations.count; i++) {
		const struct profile_location *location = &profile->locations.items[i];

		for (k = 0; k < location->line_count; k++)
			if (wanted[profile->lines.items[location->first_line + k].function] &&
			    *profile_text(profile, location->module) == '/')
				return true;
	}
	return false;
}

static bool has_lines(const struct line_row *rows, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (rows[i].line > 0)
			return true;
	return false;
}

int annotate_write(const struct profile *profile, const uint8_t *wanted, const char *name,
		   const struct annotate_options *options, struct bytes *out, struct error *err)
{
	struct annotation annotation = {
		.profile = profile,
		.options = options,
		.wanted = wanted,
		.value = profile->main_value,
		.report = {.profile = profile, .out = out},
		.report_options = {.color = options->color && !options->json},
	};
	struct line_row *rows = NULL;
	size_t count;
	size_t i;
	int r = line_rows_of(profile, annotation.value, wanted, &rows, &count, &annotation.sum);

	annotation.assembly = options->assembly;
	if (r == 0 && !options->assembly && !options->json && !has_lines(rows, count) &&
	    has_code(profile, wanted)) {
		annotation.assembly = true;
		annotation_note(&annotation,
				"its line numbers are unknown, so instructions are shown; build it "
				"with -g, or install its debug information");
	}
	free(rows); /* only the sum is needed */
	annotation.report.options = &annotation.report_options;
	annotation.report.unit = profile->value_types[annotation.value].unit;
	annotation.report.total = annotation.sum.total;
	if (r == 0)
		r = put_all(&annotation, name);
	for (i = 0; i < annotation.notes.count; i++)
		free(annotation.notes.items[i]);
	vec_fini(&annotation.notes);
	if (r == 0 && out->failed)
		r = -ENOMEM;
	return r < 0 ? error_errno(err, r, "cannot annotate %s", name) : 0;
}
