/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/quantity.h"
#include "base/scope.h"
#include "base/text.h"
#include "model/profile.h"
#include "view/annotate/annotate.h"
#include "view/annotate/annotation.h"

/*
 * The source lines of a function. Without the source only line numbers are shown; with it, also the
 * lines around them. There can be several files: macros and included files have their own lines.
 */

/* Lines shown before and after one with samples. */
#define CONTEXT 5u

struct file_part {
	uint32_t file; /* string id */
	const struct line_row *rows;
	size_t count;
	struct source_file source;
	bool found;
};

static const struct profile_function *function_of(const struct profile *profile,
						  const struct line_row *row)
{
	return &profile->functions.items[row->function];
}

static int by_file_and_line(const void *a, const void *b, void *context)
{
	const struct profile *profile = context;
	const struct line_row *x = a;
	const struct line_row *y = b;
	uint32_t left = function_of(profile, x)->file;
	uint32_t right = function_of(profile, y)->file;

	if (left != right)
		return left < right ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static void put_row(const struct annotation *annotation, const struct line_row *row, uint32_t line,
		    const char *text)
{
	const struct report *report = &annotation->report;

	if (row) {
		report_put_share(report, row->self);
		bytes_printf(report->out, "%s", row->self_inlined > 0 ? " i" : "  ");
		report_put_share(report, row->total);
		annotation_put_bar(annotation, row->total);
	} else {
		bytes_printf(report->out, "%18s", "");
		annotation_put_bar(annotation, 0);
	}
	if (line > 0)
		bytes_printf(report->out, " %6" PRIu32, line);
	else
		bytes_printf(report->out, " %6s", "-");
	if (text) {
		struct bytes spaced = {0};

		for (; *text; text++) /* as an editor shows it */
			bytes_printf(&spaced, "%s", *text == '\t' ? "    " : (char[]){*text, 0});
		bytes_put_u8(&spaced, '\0');
		bytes_printf(report->out, "  ");
		text_put_terminal(report->out, spaced.failed ? "" : (char *)spaced.data);
		bytes_fini(&spaced);
	}
	bytes_put_u8(report->out, '\n');
}

/* Shows the lines around those with samples, and marks gaps. */
static void put_source(const struct annotation *annotation, const struct file_part *part)
{
	uint32_t next = 1;
	size_t i;

	for (i = 0; i < part->count; i++) {
		const struct line_row *row = &part->rows[i];
		uint32_t end = i + 1 < part->count ? part->rows[i + 1].line : UINT32_MAX;
		uint32_t at = row->line > CONTEXT ? row->line - CONTEXT : 1;

		if (i > 0 && at > next)
			bytes_printf(annotation->report.out, "%25s\n", "…");
		if (at < next)
			at = next;
		for (; at < row->line && source_file_line(&part->source, at); at++)
			put_row(annotation, NULL, at, source_file_line(&part->source, at));
		put_row(annotation, row, row->line, source_file_line(&part->source, row->line));
		next = row->line + 1;
		for (; next < end && next - row->line <= CONTEXT &&
		       source_file_line(&part->source, next);
		     next++)
			put_row(annotation, NULL, next, source_file_line(&part->source, next));
	}
}

static void put_text(const struct annotation *annotation, const struct file_part *part)
{
	const struct report *report = &annotation->report;
	const char *path = profile_text(annotation->profile, part->file);
	size_t i;

	bytes_put_u8(report->out, '\n');
	report_color(report, REPORT_BOLD);
	text_put_terminal(report->out, part->found ? part->source.path
				       : *path     ? path
						   : "[file not known]");
	report_plain(report);
	bytes_printf(report->out, "\n%8s%10s%s   line\n", "self", "total",
		     annotation->options->color ? "         " : "");
	if (part->found) {
		put_source(annotation, part);
		return;
	}
	for (i = 0; i < part->count; i++)
		put_row(annotation, &part->rows[i], part->rows[i].line, NULL);
}

static void put_json(struct annotation *annotation, const struct file_part *part)
{
	struct json *json = &annotation->json;
	int64_t total = annotation->report.total;
	size_t i;

	json_open_object(json, NULL);
	json_string(json, "path", profile_text(annotation->profile, part->file));
	json_string(json, "source", part->found ? part->source.path : NULL);
	json_open_array(json, "lines");
	for (i = 0; i < part->count; i++) {
		const struct line_row *row = &part->rows[i];

		json_open_object(json, NULL);
		json_u64(json, "line", row->line);
		json_string(json, "text", source_file_line(&part->source, row->line));
		json_i64(json, "self", row->self);
		json_i64(json, "self_inlined", row->self_inlined);
		json_i64(json, "total", row->total);
		json_double(json, "self_percent", quantity_percent(row->self, total), 3);
		json_double(json, "total_percent", quantity_percent(row->total, total), 3);
		if (report_counts_samples(&annotation->report)) {
			json_u64(json, "self_samples", row->self_samples);
			json_u64(json, "samples", row->samples);
		}
		json_close(json);
	}
	json_close(json);
	json_close(json);
}

static void note_part(struct annotation *annotation, const struct file_part *part)
{
	uint64_t start_ns = annotation->profile->start_realtime_ns;
	size_t i;

	for (i = 0; i < part->count && !annotation->options->json; i++)
		if (part->rows[i].self_inlined > 0)
			annotation_note(annotation, "i: other functions were inlined into this "
						    "line; its share includes their cost");
	if (part->rows[part->count - 1].line == 0)
		annotation_note(
			annotation,
			"line numbers are unknown; to find out why: wick report --missing FILE");
	else if (!part->found && source_lack_text(part->source.lack))
		annotation_note(annotation, "%s", source_lack_text(part->source.lack));
	else if (!part->found)
		annotation_note(annotation, "source not found; give its location with "
					    "--source-path DIR or --path-map FROM=TO");
	else if (start_ns > 0 && part->source.mtime_ns > start_ns)
		annotation_note(annotation, "%s is newer than the recording: lines may have moved",
				part->source.path);
}

static int put_part(struct annotation *annotation, const struct line_row *rows, size_t count)
{
	const struct profile *profile = annotation->profile;
	struct file_part part = {
		.file = function_of(profile, rows)->file, .rows = rows, .count = count};
	int r = source_file_find(&annotation->options->sources, profile, part.file, &part.source);

	if (r == -ENOMEM)
		return r;
	part.found = r == 0;
	if (annotation->options->json)
		put_json(annotation, &part);
	else
		put_text(annotation, &part);
	note_part(annotation, &part);
	source_file_fini(&part.source);
	return 0;
}

int annotation_put_lines(struct annotation *annotation)
{
	const struct profile *profile = annotation->profile;
	SCOPED(mem) struct line_row *rows = NULL;
	size_t count = 0;
	size_t first = 0;
	size_t end;
	int r = line_rows_of(profile, annotation->value, annotation->wanted, &rows, &count,
			     &annotation->sum);

	if (r < 0)
		return r;
	if (count > 0)
		qsort_r(rows, count, sizeof(*rows), by_file_and_line, (void *)(uintptr_t)profile);
	if (annotation->options->json)
		json_open_array(&annotation->json, "files");
	for (; first < count && r == 0; first = end) {
		uint32_t file = function_of(profile, &rows[first])->file;

		end = first + 1;
		while (end < count && function_of(profile, &rows[end])->file == file)
			end++;
		r = put_part(annotation, rows + first, end - first);
	}
	if (annotation->options->json)
		json_close(&annotation->json);
	return r;
}
