/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/path.h"
#include "base/quantity.h"
#include "base/scope.h"
#include "base/text.h"
#include "base/vec.h"
#include "export/gauges.h"
#include "model/profile.h"
#include "recording/format.h"
#include "view/report/inline_hint.h"
#include "view/report/lock_report.h"
#include "view/report/report_focus.h"
#include "view/report/report_rows.h"
#include "view/report/report_text.h"
#include "view/report/report_values.h"
#include "view/value_choice.h"

/* Longer names shift the next columns, unless the terminal is too narrow. */
#define MAX_NAME_COLUMNS 60u

/* Names are never cut to less, however narrow the terminal. */
#define LEAST_NAME_COLUMNS 16u
#define MAX_MODULE_COLUMNS 30u

/* If the mean interval exceeds the requested one by this factor, the rate was reduced. */
#define RATE_FELL 1.1

static const struct {
	const char *name;
	const char *many;
} kinds[] = {
	[REPORT_BY_FUNCTION] = {"function", "functions"},
	[REPORT_BY_MODULE] = {"module", "modules"},
	[REPORT_BY_THREAD] = {"thread", "threads"},
	[REPORT_BY_STATE] = {"state", "states"},
	[REPORT_BY_LINE] = {"line", "lines"},
	[REPORT_BY_PROCESS] = {"process", "processes"},
	[REPORT_BY_LANGUAGE] = {"language", "languages"},
};

void report_color(const struct report *report, enum report_color color)
{
	if (report->options->color)
		bytes_printf(report->out, "\033[%dm", (int)color);
}

void report_plain(const struct report *report)
{
	if (report->options->color)
		bytes_put(report->out, "\033[0m", 4);
}

void report_put_share(const struct report *report, int64_t part)
{
	double percent = quantity_percent(part, report->total);

	if (percent >= 10)
		report_color(report, REPORT_RED);
	else if (percent >= 2)
		report_color(report, REPORT_YELLOW);
	bytes_printf(report->out, " %7s", quantity_share(part, report->total).text);
	if (percent >= 2)
		report_plain(report);
}

void report_put_name(struct bytes *out, const char *name)
{
	text_put_terminal(out, *name ? name : "[unnamed]");
}

/* Whether rows are groups of samples, whose self equals their total. */
static bool by_group(const struct report *report)
{
	enum report_by by = report->options->by;

	return by == REPORT_BY_THREAD || by == REPORT_BY_STATE || by == REPORT_BY_PROCESS;
}

/* Whether rows are parts of one module each, or modules. */
static bool has_modules(const struct report *report)
{
	return !by_group(report) && report->options->by != REPORT_BY_LANGUAGE;
}

static size_t shown_rows(const struct report *report, const struct rows *rows)
{
	uint32_t limit = report->options->limit;

	return limit && rows->count > limit ? limit : rows->count;
}

/* Text */

/* is_one: the text for one sample; are_many: for several. */
static void put_loss(const struct report *report, uint64_t count, uint64_t of, const char *is_one,
		     const char *are_many)
{
	if (count == 0)
		return;
	report_color(report, REPORT_YELLOW);
	bytes_printf(report->out, "%s sample%s ", quantity_count(count).text,
		     count == 1 ? "" : "s");
	bytes_printf(report->out, "%s (%s)", count == 1 ? is_one : are_many,
		     quantity_share((int64_t)count, (int64_t)of).text);
	report_plain(report);
	bytes_put_u8(report->out, '\n');
}

/* Why an imported file is incomplete; NULL: unknown. */
static const char *why_incomplete(const struct profile *profile)
{
	for (size_t i = 0; i < profile->facts.count; i++)
		if (strcmp(profile_text(profile, profile->facts.items[i].key), RECORDING_DAMAGE) ==
		    0)
			return profile_text(profile, profile->facts.items[i].value);
	return NULL;
}

/* Reports an incomplete file, or damaged parts. */
static void put_damage(const struct report *report)
{
	const struct profile_quality *quality = &report->profile->quality;

	if (quality->damaged_chunks == 0 && !quality->incomplete)
		return;
	report_color(report, REPORT_YELLOW);
	if (quality->damaged_chunks > 0)
		bytes_printf(report->out, "%s %s damaged\n",
			     quantity_count(quality->damaged_chunks).text,
			     quality->damaged_chunks == 1 ? "part of the file is"
							  : "parts of the file are");
	if (quality->incomplete) {
		const char *why = why_incomplete(report->profile);

		bytes_printf(report->out, "the recording is incomplete: ");
		text_put_terminal(report->out,
				  why ? why : "it was cut off, or is still being written");
		bytes_put_u8(report->out, '\n');
	}
	report_plain(report);
}

bool report_counts_samples(const struct report *report)
{
	return call_tree_samples_value(report->profile) != ID_NONE;
}

/* Gauges that programs reported: levels, not sums. */
static void put_gauges(const struct report *report)
{
	const struct profile *profile = report->profile;
	size_t i;

	for (i = 0; i < profile->gauges.count; i++) {
		const struct profile_gauge *gauge = &profile->gauges.items[i];
		const char *unit = profile_text(profile, gauge->unit);
		/* A double cannot represent INT64_MAX exactly. */
		int64_t mean = gauge->mean < (double)INT64_MAX ? (int64_t)gauge->mean : INT64_MAX;

		bytes_printf(report->out, "gauge ");
		text_put_terminal(report->out, profile_text(profile, gauge->name));
		bytes_printf(report->out, " of ");
		text_put_terminal(report->out, profile_text(profile, gauge->process_comm));
		bytes_printf(report->out, "/%u: last %s", gauge->pid,
			     quantity_of(gauge->last, unit).text);
		bytes_printf(report->out, ", lowest %s", quantity_of(gauge->lowest, unit).text);
		bytes_printf(report->out, ", highest %s", quantity_of(gauge->highest, unit).text);
		bytes_printf(report->out, ", mean %s (reported %s time%s)\n",
			     quantity_of(mean, unit).text, quantity_count(gauge->times).text,
			     gauge->times == 1 ? "" : "s");
	}
}

/*
 * The interval of samples: as requested, or, if the rate was reduced, the actual mean. For CPU
 * time, the weight of a sample is the time since the previous one.
 */
static void put_interval(const struct report *report)
{
	const struct profile *profile = report->profile;
	const struct value_type *type = &profile->value_types[report->options->value];
	uint64_t samples = profile->quality.samples;
	double mean_ns = samples > 0 ? (double)report->total / (double)samples : 0;

	if (profile->period_ns == 0)
		return;
	if (strcmp(type->name, "cpu") == 0 && mean_ns > RATE_FELL * (double)profile->period_ns)
		bytes_printf(report->out, ", one every %s on average",
			     quantity_of((int64_t)mean_ns, "nanoseconds").text);
	else
		bytes_printf(report->out, ", one every %s",
			     quantity_of((int64_t)profile->period_ns, "nanoseconds").text);
}

static void put_head(const struct report *report)
{
	const struct profile *profile = report->profile;
	const struct profile_quality *quality = &profile->quality;
	uint64_t taken = quality->samples + quality->lost + quality->unreadable;
	struct bytes *out = report->out;

	report_color(report, REPORT_BOLD);
	text_put_terminal(out, *profile->title ? profile->title : "(no title)");
	report_plain(report);
	bytes_put_u8(out, '\n');
	if (report_counts_samples(report) || profile->duration_ns > 0)
		bytes_printf(
			out, "%s recorded, ",
			quantity_of((int64_t)profile_recorded_ns(profile), "nanoseconds").text);
	if (report_counts_samples(report))
		bytes_printf(out, "%s sample%s", quantity_count(quality->samples).text,
			     quality->samples == 1 ? "" : "s");
	put_interval(report);
	bytes_printf(out, "%s", report_counts_samples(report) ? ", " : "");
	text_put_terminal(out, profile->value_types[report->options->value].name);
	bytes_printf(out, " %s\n", quantity_of(report->total, report->unit).text);
	report_values_put_head(report);
	put_gauges(report);
	put_loss(report, quality->lost, taken, "was lost and is not in these numbers",
		 "were lost and are not in these numbers");
	put_loss(report, quality->unreadable, taken,
		 "was in a damaged part of the file and is not in these numbers",
		 "were in damaged parts of the file and are not in these numbers");
	put_damage(report);
	put_loss(report, quality->truncated, quality->samples, "has a truncated stack",
		 "have truncated stacks");
	put_loss(report, quality->unsymbolised, quality->samples, "ended in code without a symbol",
		 "ended in code without a symbol");
	put_loss(report, quality->corrupted, quality->samples, "among these is in a damaged file",
		 "among these are in damaged files");
	put_loss(report, quality->invalid, quality->samples, "among these is outside any module",
		 "among these are outside any module");
	bytes_put_u8(out, '\n');
}

/* The width of text on a terminal, if each character has one column; escapes have none. */
static uint32_t columns(const uint8_t *text, size_t size)
{
	uint32_t count = 0;
	bool escape = false;
	size_t i;

	for (i = 0; i < size; i++) {
		escape = escape || text[i] == '\033';
		count += !escape && (text[i] & 0xc0) != 0x80;
		escape = escape && text[i] != 'm';
	}
	return count;
}

/* Where a column of plain text begins. */
static size_t column_start(const struct bytes *text, uint32_t column)
{
	size_t i;

	for (i = 0; i < text->size; i++)
		if ((text->data[i] & 0xc0) != 0x80 && column-- == 0)
			break;
	return i;
}

/* Appends a name, without its middle if it does not fit. Returns its width. */
static uint32_t put_fitting(struct bytes *out, const struct bytes *name, uint32_t room)
{
	uint32_t width = columns(name->data, name->size);
	uint32_t head = room / 2;
	size_t tail;

	if (width <= room) {
		bytes_put(out, name->data, name->size);
		return width;
	}
	tail = column_start(name, width - (room - head - 1));
	bytes_put(out, name->data, column_start(name, head));
	bytes_printf(out, "…");
	bytes_put(out, name->data + tail, name->size - tail);
	return room;
}

/* The column of names, and that of modules after it. */
struct layout {
	uint32_t name;   /* its width; a longer name shifts the next columns, */
	uint32_t most;   /* but is cut to this */
	uint32_t module; /* width of the widest */
};

static const char *module_of(const struct report *report, const struct row *row)
{
	if (!row->module)
		return "";
	return report->options->by == REPORT_BY_MODULE ? row->module : path_base_name(row->module);
}

static struct layout measure(const struct report *report, const struct rows *rows, size_t shown)
{
	struct layout layout = {.name = 8, .most = UINT32_MAX, .module = strlen("module")};
	struct bytes text = {0};
	size_t i;

	for (i = 0; i < shown; i++) {
		uint32_t width;

		bytes_clear(&text);
		report_put_name(&text, rows->items[i].name);
		width = columns(text.data, text.size);
		if (width > layout.name)
			layout.name = width < MAX_NAME_COLUMNS ? width : MAX_NAME_COLUMNS;
		bytes_clear(&text);
		text_put_terminal(&text, module_of(report, &rows->items[i]));
		width = columns(text.data, text.size);
		if (width > layout.module)
			layout.module = width < MAX_MODULE_COLUMNS ? width : MAX_MODULE_COLUMNS;
	}
	bytes_fini(&text);
	return layout;
}

/* Gives names the columns of the terminal that the figures leave. */
static void fit(const struct report *report, uint32_t figures, struct layout *layout)
{
	uint32_t others = figures + (has_modules(report) ? 2 + layout->module : 0);

	if (report->options->columns == 0)
		return;
	layout->most = report->options->columns > others + LEAST_NAME_COLUMNS
			       ? report->options->columns - others
			       : LEAST_NAME_COLUMNS;
	if (layout->name > layout->most)
		layout->name = layout->most;
}

static void put_row(const struct report *report, const struct rows *rows, size_t at,
		    const struct layout *layout)
{
	const struct row *row = &rows->items[at];
	const char *module = module_of(report, row);
	struct bytes *out = report->out;
	struct bytes name = {0};
	uint32_t width;

	if (!by_group(report)) {
		report_put_share(report, row->self);
		report_put_share(report, row->total);
		bytes_printf(out, "  %10s", quantity_of(row->self, report->unit).text);
	} else {
		report_put_share(report, row->total);
	}
	bytes_printf(out, "  %10s  ", quantity_of(row->total, report->unit).text);
	if (report_counts_samples(report))
		bytes_printf(out, "%9s  ", quantity_count(row->samples).text);
	if (rows->cells)
		report_values_put(report, rows, at);
	report_put_name(&name, row->name);
	width = put_fitting(out, &name, layout->most);
	if (*module) {
		bytes_printf(out, "%*s  ", width < layout->name ? (int)(layout->name - width) : 0,
			     "");
		report_color(report, REPORT_DIM);
		text_put_terminal(out, module);
		report_plain(report);
	}
	bytes_put_u8(out, '\n');
	bytes_fini(&name);
}

static void put_columns(const struct report *report, struct layout *layout)
{
	enum report_by by = report->options->by;
	size_t start = report->out->size;

	report_color(report, REPORT_BOLD);
	if (by_group(report))
		bytes_printf(report->out, "%8s  %10s  ", "share", "total");
	else
		bytes_printf(report->out, "%8s%8s  %10s  %10s  ", "self", "total", "self", "total");
	if (report_counts_samples(report))
		bytes_printf(report->out, "%9s  ", "samples");
	report_values_put_names(report);
	if (!report->out->failed)
		fit(report, columns(report->out->data + start, report->out->size - start), layout);
	if (has_modules(report))
		bytes_printf(report->out, "%-*s  %s", (int)layout->name, kinds[by].name,
			     by == REPORT_BY_MODULE ? "path" : "module");
	else
		bytes_printf(report->out, "%s", kinds[by].name);
	report_plain(report);
	bytes_put_u8(report->out, '\n');
}

/* Makes the rows, with all values if the profile has several. */
static int make_rows(struct report *report, struct rows *rows)
{
	int r = report_rows_make(report, rows);

	if (r == 0 && report_has_values(report))
		r = report_rows_add_values(report, rows);
	if (r < 0)
		report_rows_free(rows);
	return r;
}

/* Says that a function is spread over many rows, and how to see it in one. */
static int put_hint(const struct report *report)
{
	const struct profile *profile = report->profile;
	struct inline_hint hint;

	if (report->options->by != REPORT_BY_FUNCTION)
		return 0;
	if (inline_hint_find(profile, report->options->value, &hint) < 0)
		return -ENOMEM;
	if (hint.function == ID_NONE)
		return 0;
	report_put_name(report->out,
			profile_text(profile, profile->functions.items[hint.function].name));
	bytes_printf(report->out,
		     " has %s self cost, spread over %u rows of functions inlined into it; "
		     "--no-inline shows it in one row\n",
		     quantity_share(hint.self, report->total).text, hint.rows);
	return 0;
}

static int put_table(struct report *report)
{
	struct rows rows = {0};
	int64_t rest = 0;
	struct layout layout;
	size_t shown;
	size_t i;
	int r = make_rows(report, &rows);

	if (r < 0)
		return r;
	shown = shown_rows(report, &rows);
	if (rows.count == 0)
		bytes_printf(report->out,
			     "these samples have no stacks, so there is no %s to list; use --by "
			     "thread to see which threads they come from\n",
			     kinds[report->options->by].name);
	layout = measure(report, &rows, shown);
	if (rows.count > 0)
		put_columns(report, &layout);
	for (i = 0; i < shown; i++)
		put_row(report, &rows, i, &layout);
	for (; i < rows.count; i++)
		rest += rows.items[i].self;
	if (shown < rows.count)
		bytes_printf(report->out, "%s more %s with %s self in total\n",
			     quantity_count(rows.count - shown).text,
			     rows.count - shown == 1 ? kinds[report->options->by].name
						     : kinds[report->options->by].many,
			     quantity_share(rest, report->total).text);
	report_rows_free(&rows);
	return put_hint(report);
}

static int put_text(struct report *report)
{
	put_head(report);
	if (report->profile->entries.count == 0 && report->profile->why_empty) {
		text_put_terminal(report->out, report->profile->why_empty);
		bytes_put_u8(report->out, '\n');
		return 0;
	}
	if (report->profile->entries.count == 0) {
		bytes_printf(report->out, "no samples: the program was idle, ended too soon, or "
					  "everything was filtered out\n");
		return 0;
	}
	if (report->options->by == REPORT_BY_LOCK)
		return lock_report_text(report);
	if (report->options->focus)
		return report_focus(report, NULL);
	return report->options->tree ? report_tree_text(report) : put_table(report);
}

/* JSON */

static void json_head(const struct report *report, struct json *json)
{
	const struct profile *profile = report->profile;
	const struct profile_quality *quality = &profile->quality;
	struct value_type type = profile->value_types[report->options->value];

	json_string(json, "title", profile->title);
	json_u64(json, "duration_ns", profile->duration_ns);
	json_u64(json, "period_ns", profile->period_ns);
	json_u64(json, "samples", quality->samples);
	json_u64(json, "lost", quality->lost);
	json_u64(json, "unreadable", quality->unreadable);
	json_u64(json, "damaged_chunks", quality->damaged_chunks);
	json_bool(json, "incomplete", quality->incomplete);
	json_u64(json, "truncated", quality->truncated);
	json_u64(json, "resolved", quality->resolved);
	json_u64(json, "name_only", quality->name_only);
	json_u64(json, "unsymbolised", quality->unsymbolised);
	json_u64(json, "corrupted", quality->corrupted);
	json_u64(json, "invalid", quality->invalid);
	json_open_object(json, "value");
	json_string(json, "name", type.name);
	json_string(json, "unit", type.unit);
	json_i64(json, "total", report->total);
	json_close(json);
	if (report_has_values(report))
		report_values_json_head(report, json);
	gauges_put_json(report->profile, json);
}

static int json_table(struct report *report, struct json *json)
{
	struct rows rows = {0};
	size_t shown;
	size_t i;
	int r = make_rows(report, &rows);

	if (r < 0)
		return r;
	shown = shown_rows(report, &rows);
	json_string(json, "by", kinds[report->options->by].name);
	json_open_array(json, "rows");
	for (i = 0; i < shown; i++) {
		const struct row *row = &rows.items[i];

		json_open_object(json, NULL);
		json_string(json, "name", row->name);
		if (row->module)
			json_string(json, "module", row->module);
		if (row->file)
			json_string(json, "file", row->file);
		json_i64(json, "self", row->self);
		json_i64(json, "total", row->total);
		json_double(json, "self_percent", quantity_percent(row->self, report->total), 3);
		json_double(json, "total_percent", quantity_percent(row->total, report->total), 3);
		json_u64(json, "self_samples", row->self_samples);
		json_u64(json, "samples", row->samples);
		if (rows.cells)
			report_values_json(report, &rows, i, json);
		json_close(json);
	}
	json_close(json);
	json_u64(json, "more", rows.count - shown);
	report_rows_free(&rows);
	return 0;
}

static int put_json(struct report *report)
{
	struct json json;
	int r;

	json_init(&json, report->out, true);
	json_open_object(&json, NULL);
	json_head(report, &json);
	if (report->options->by == REPORT_BY_LOCK)
		r = lock_report_json(report, &json);
	else if (report->options->focus)
		r = report_focus(report, &json);
	else
		r = report->options->tree ? report_tree_json(report, &json)
					  : json_table(report, &json);
	json_close(&json);
	return r;
}

int report_write(const struct profile *profile, const struct report_options *options,
		 struct bytes *out, struct error *err)
{
	struct report_options chosen = *options;
	struct report report = {.profile = profile, .options = &chosen, .out = out};
	SCOPED(call_tree) struct call_tree *tree = NULL;
	int r = value_choose(profile, options->value_name, options->value, &chosen.value, err);

	if (r < 0)
		return r;
	if (options->by == REPORT_BY_LOCK && lock_report_check(profile, err) < 0)
		return -EINVAL;
	if (options->by == REPORT_BY_SITE)
		return error_advise(
			err,
			error_set(
				err, -EINVAL,
				"the profile has no allocation sites: it is not a heap recording"),
			"record one with wick heap, then: wick report --by site FILE");
	chosen.color = chosen.color && !chosen.json;
	if (chosen.sort == REPORT_SORT_USUAL)
		chosen.sort = chosen.tree ? REPORT_SORT_TOTAL : REPORT_SORT_SELF;
	r = report_tree_of(profile, &chosen, &tree);
	if (r < 0)
		return error_errno(err, r, "cannot build the call tree");
	report.tree = tree;
	report.total = call_tree_nodes(tree)[0].total;
	report.unit = profile->value_types[chosen.value].unit;
	r = chosen.json ? put_json(&report) : put_text(&report);
	arena_fini(&report.arena);
	if (r < 0 || out->failed)
		return error_set(err, r < 0 ? r : -ENOMEM, "cannot write the report: no memory");
	return 0;
}
