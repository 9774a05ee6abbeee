/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/scope.h"
#include "base/text.h"
#include "base/vec.h"
#include "model/call_tally.h"
#include "model/profile.h"
#include "view/line_rows.h"
#include "view/quantity.h"
#include "view/report_text.h"
#include "view/value_choice.h"

/* Longer names push what follows instead of being cut. */
#define MAX_NAME_COLUMNS 60u

struct row {
	const char *name;
	const char *module; /* NULL: has none */
	const char *file;   /* NULL: has none */
	int64_t self;
	int64_t total;
	uint64_t self_samples;
	uint64_t samples;
};

struct rows {
	struct row *items;
	size_t count;
};

static const struct {
	const char *name;
	const char *many;
} kinds[] = {
	[REPORT_BY_FUNCTION] = {"function", "functions"},
	[REPORT_BY_MODULE] = {"module", "modules"},
	[REPORT_BY_THREAD] = {"thread", "threads"},
	[REPORT_BY_STATE] = {"state", "states"},
	[REPORT_BY_LINE] = {"line", "lines"},
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

const char *report_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Rows */

static int tally_rows(const struct report *report, struct rows *rows)
{
	const struct profile *profile = report->profile;
	bool by_module = report->options->by == REPORT_BY_MODULE;
	SCOPED(mem) struct call_tally *tallies = NULL;
	size_t i;
	int r = call_tally_new(profile, report->tree,
			       by_module ? CALL_TALLY_MODULE : CALL_TALLY_FUNCTION, &tallies,
			       &rows->count);

	if (r < 0)
		return r;
	rows->items = calloc(rows->count + 1, sizeof(*rows->items));
	if (!rows->items)
		return -ENOMEM;
	for (i = 0; i < rows->count; i++) {
		const struct call_tally *tally = &tallies[i];
		struct row row = {.self = tally->self,
				  .total = tally->total,
				  .self_samples = tally->self_samples,
				  .samples = tally->samples};

		if (by_module) {
			row.module = profile_text(profile, tally->key);
			row.name = *row.module ? report_base_name(row.module) : "[unknown]";
		} else {
			struct profile_function function = profile->functions.items[tally->key];

			row.name = profile_text(profile, function.name);
			row.module = profile_text(profile, function.module);
			row.file = profile_text(profile, function.file);
		}
		rows->items[i] = row;
	}
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a;
	const struct row *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* The groups of a tree by thread. */
static int thread_rows(const struct report *report, struct rows *rows)
{
	const struct call_node *nodes = call_tree_nodes(report->tree);
	uint32_t count = call_tree_count(report->tree);
	uint32_t node;

	rows->count = 0;
	for (node = 1; node < count; node = nodes[node].end)
		rows->count++;
	rows->items = calloc(rows->count + 1, sizeof(*rows->items));
	if (!rows->items)
		return -ENOMEM;
	rows->count = 0;
	for (node = 1; node < count; node = nodes[node].end)
		rows->items[rows->count++] =
			(struct row){.name = call_tree_name(report->tree, node),
				     .self = nodes[node].total,
				     .total = nodes[node].total,
				     .self_samples = nodes[node].samples,
				     .samples = nodes[node].samples};
	qsort(rows->items, rows->count, sizeof(*rows->items), compare_rows);
	return 0;
}

static int state_rows(const struct report *report, struct rows *rows)
{
	const struct profile *profile = report->profile;
	uint32_t counted = call_tree_samples_value(profile);
	size_t i;

	rows->count = profile->states.count;
	rows->items = calloc(rows->count + 1, sizeof(*rows->items));
	if (!rows->items)
		return -ENOMEM;
	for (i = 0; i < rows->count; i++) {
		const int64_t *values = profile->state_values.items + i * profile->value_count;
		const char *name = profile_text(profile, profile->states.items[i].name);
		int64_t value = values[report->options->value];

		rows->items[i] = (struct row){
			.name = *name ? name : "[unknown]",
			.self = value,
			.total = value,
			.samples = counted == ID_NONE ? 0 : (uint64_t)values[counted],
		};
		rows->items[i].self_samples = rows->items[i].samples;
	}
	qsort(rows->items, rows->count, sizeof(*rows->items), compare_rows);
	return 0;
}

/* "file.c:12", or the function where lines are not known. */
static int line_rows(struct report *report, struct rows *rows)
{
	const struct profile *profile = report->profile;
	SCOPED(mem) struct line_row *lines = NULL;
	int r = line_rows_new(profile, report->options->value, &lines, &rows->count);

	if (r < 0)
		return r;
	rows->items = calloc(rows->count + 1, sizeof(*rows->items));
	if (!rows->items)
		return -ENOMEM;
	for (size_t i = 0; i < rows->count; i++) {
		struct profile_function function = profile->functions.items[lines[i].function];
		const char *name = profile_text(profile, function.name);
		struct bytes text = {0};

		if (lines[i].line > 0) {
			bytes_printf(&text, "%s:%" PRIu32, profile_text(profile, lines[i].file),
				     lines[i].line);
			name = text.failed ? NULL
					   : arena_strndup(&report->arena, (const char *)text.data,
							   text.size);
			bytes_fini(&text);
		}
		if (!name)
			return -ENOMEM;
		rows->items[i] = (struct row){
			.name = name,
			.module = profile_text(profile, function.module),
			.file = profile_text(profile, lines[i].file),
			.self = lines[i].self,
			.total = lines[i].total,
			.self_samples = lines[i].self_samples,
			.samples = lines[i].samples,
		};
	}
	return 0;
}

static int make_rows(struct report *report, struct rows *rows)
{
	static int (*const makers[])(const struct report *report, struct rows *rows) = {
		[REPORT_BY_FUNCTION] = tally_rows,
		[REPORT_BY_MODULE] = tally_rows,
		[REPORT_BY_THREAD] = thread_rows,
		[REPORT_BY_STATE] = state_rows,
	};

	if (report->options->by == REPORT_BY_LINE)
		return line_rows(report, rows);
	return makers[report->options->by](report, rows);
}

/* Whether rows are groups of samples, of which there is no self apart from the total. */
static bool by_group(const struct report *report)
{
	return report->options->by == REPORT_BY_THREAD || report->options->by == REPORT_BY_STATE;
}

static size_t shown_rows(const struct report *report, const struct rows *rows)
{
	uint32_t limit = report->options->limit;

	return limit && rows->count > limit ? limit : rows->count;
}

/* Text */

static void put_loss(const struct report *report, uint64_t count, uint64_t of, const char *what)
{
	if (count == 0)
		return;
	report_color(report, REPORT_YELLOW);
	bytes_printf(report->out, "%s samples %s (%s)", quantity_count(count).text, what,
		     quantity_share((int64_t)count, (int64_t)of).text);
	report_plain(report);
	bytes_put_u8(report->out, '\n');
}

/* A file without its end, or with parts that could not be used. */
static void put_damage(const struct report *report)
{
	const struct profile_quality *quality = &report->profile->quality;

	if (quality->damaged_chunks == 0 && !quality->incomplete)
		return;
	report_color(report, REPORT_YELLOW);
	if (quality->damaged_chunks > 0)
		bytes_printf(report->out, "%s parts of the file are damaged\n",
			     quantity_count(quality->damaged_chunks).text);
	if (quality->incomplete)
		bytes_printf(report->out,
			     "the recording is incomplete: it was cut off, or is still "
			     "being written\n");
	report_plain(report);
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
	bytes_printf(out, "\n%s recorded, %s samples",
		     quantity_of((int64_t)profile->duration_ns, "nanoseconds").text,
		     quantity_count(quality->samples).text);
	if (profile->period_ns)
		bytes_printf(out, ", one every %s",
			     quantity_of((int64_t)profile->period_ns, "nanoseconds").text);
	bytes_put(out, ", ", 2);
	text_put_terminal(out, profile->value_types[report->options->value].name);
	bytes_printf(out, " %s\n", quantity_of(report->total, report->unit).text);
	put_loss(report, quality->lost, taken, "were lost and are not in these numbers");
	put_loss(report, quality->unreadable, taken,
		 "were in damaged parts of the file and are not in these numbers");
	put_damage(report);
	put_loss(report, quality->truncated, quality->samples,
		 "have stacks that were cut before their root");
	put_loss(report, quality->unsymbolised, quality->samples, "ended in code without a name");
	put_loss(report, quality->corrupted, quality->samples, "of these are in damaged files");
	put_loss(report, quality->invalid, quality->samples, "of these are in no module");
	bytes_put_u8(out, '\n');
}

/* Columns that text takes in a terminal, if each character takes one. */
static uint32_t columns(const struct bytes *text)
{
	uint32_t count = 0;
	size_t i;

	for (i = 0; i < text->size; i++)
		count += (text->data[i] & 0xc0) != 0x80;
	return count;
}

static uint32_t name_columns(const struct rows *rows, size_t shown)
{
	struct bytes text = {0};
	uint32_t widest = 8;
	size_t i;

	for (i = 0; i < shown; i++) {
		uint32_t width;

		bytes_clear(&text);
		text_put_terminal(&text, rows->items[i].name);
		width = columns(&text);
		if (width > widest)
			widest = width < MAX_NAME_COLUMNS ? width : MAX_NAME_COLUMNS;
	}
	bytes_fini(&text);
	return widest;
}

static void put_row(const struct report *report, const struct row *row, uint32_t name_width)
{
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
	bytes_printf(out, "  %10s  %9s  ", quantity_of(row->total, report->unit).text,
		     quantity_count(row->samples).text);
	text_put_terminal(&name, row->name);
	bytes_put(out, name.data, name.size);
	if (row->module && *row->module) {
		width = columns(&name);
		bytes_printf(out, "%*s  ", width < name_width ? (int)(name_width - width) : 0, "");
		report_color(report, REPORT_DIM);
		text_put_terminal(out, report->options->by == REPORT_BY_MODULE
					       ? row->module
					       : report_base_name(row->module));
		report_plain(report);
	}
	bytes_put_u8(out, '\n');
	bytes_fini(&name);
}

static void put_columns(const struct report *report, uint32_t name_width)
{
	enum report_by by = report->options->by;

	report_color(report, REPORT_BOLD);
	if (by_group(report))
		bytes_printf(report->out, "%8s  %10s  %9s  %s", "share", "total", "samples",
			     kinds[by].name);
	else
		bytes_printf(report->out, "%8s%8s  %10s  %10s  %9s  %-*s  %s", "self", "total",
			     "self", "total", "samples", (int)name_width, kinds[by].name,
			     by == REPORT_BY_MODULE ? "path" : "module");
	report_plain(report);
	bytes_put_u8(report->out, '\n');
}

static int put_table(struct report *report)
{
	struct rows rows = {0};
	int64_t rest = 0;
	uint32_t name_width;
	size_t shown;
	size_t i;
	int r = make_rows(report, &rows);

	if (r < 0) {
		free(rows.items);
		return r;
	}
	shown = shown_rows(report, &rows);
	name_width = name_columns(&rows, shown);
	put_columns(report, name_width);
	for (i = 0; i < shown; i++)
		put_row(report, &rows.items[i], name_width);
	for (; i < rows.count; i++)
		rest += rows.items[i].self;
	if (shown < rows.count)
		bytes_printf(report->out, "%s more %s with %s self in all\n",
			     quantity_count(rows.count - shown).text,
			     kinds[report->options->by].many,
			     quantity_share(rest, report->total).text);
	free(rows.items);
	return 0;
}

static int put_text(struct report *report)
{
	put_head(report);
	if (report->profile->entries.count == 0) {
		bytes_printf(report->out, "no samples: the program was idle, ended too soon, or "
					  "everything was filtered out\n");
		return 0;
	}
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
}

static int json_table(struct report *report, struct json *json)
{
	struct rows rows = {0};
	size_t shown;
	size_t i;
	int r = make_rows(report, &rows);

	if (r < 0) {
		free(rows.items);
		return r;
	}
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
		json_close(json);
	}
	json_close(json);
	json_u64(json, "more", rows.count - shown);
	free(rows.items);
	return 0;
}

static int put_json(struct report *report)
{
	struct json json;
	int r;

	json_init(&json, report->out, true);
	json_open_object(&json, NULL);
	json_head(report, &json);
	r = report->options->tree ? report_tree_json(report, &json) : json_table(report, &json);
	json_close(&json);
	return r;
}

int report_write(const struct profile *profile, const struct report_options *options,
		 struct bytes *out, struct error *err)
{
	struct report_options chosen = *options;
	struct report report = {.profile = profile, .options = &chosen, .out = out};
	struct call_tree_options tree_options = {.collapse_recursion = options->collapse_recursion};
	SCOPED(call_tree) struct call_tree *tree = NULL;
	int r = value_choose(profile, options->value_name, options->value, &chosen.value, err);

	if (r < 0)
		return r;
	chosen.color = chosen.color && !chosen.json;
	tree_options.value = chosen.value;
	if (chosen.tree) {
		tree_options.group = chosen.group;
		tree_options.inverted = chosen.inverted;
	} else if (chosen.by == REPORT_BY_THREAD) {
		tree_options.group = CALL_TREE_BY_THREAD;
	}
	r = call_tree_new(profile, &tree_options, &tree);
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
