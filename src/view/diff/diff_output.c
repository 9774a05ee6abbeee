/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/diff/diff_rows.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/json.h"
#include "base/path.h"
#include "base/quantity.h"
#include "base/text.h"
#include "model/profile.h"
#include "view/diff/diff.h"
#include "view/diff/diff_gate.h"
#include "view/report/report_text.h"

static const char *unit_of(const struct diff *diff)
{
	return diff->sides[1]->value_types[diff->values[1]].unit;
}

static const char *value_of(const struct diff *diff)
{
	return diff->sides[1]->value_types[diff->values[1]].name;
}

/* Text */

#define SURE 0.99 /* changes with this confidence are coloured */

static void put_loss(struct bytes *out, uint64_t count, uint64_t of, const char *what)
{
	if (count > 0)
		bytes_printf(out, ", %s %s", quantity_share((int64_t)count, (int64_t)of).text,
			     what);
}

static void put_side(const struct diff *diff, int side, struct bytes *out)
{
	const struct profile *profile = diff->sides[side];
	const struct profile_quality *quality = &profile->quality;
	uint64_t taken = quality->samples + quality->lost + quality->unreadable;

	bytes_printf(out, "%s ", side ? "after " : "before");
	text_put_terminal(out, diff->names[side]);
	bytes_printf(out, ": ");
	if (profile->duration_ns > 0)
		bytes_printf(
			out, "%s recorded, ",
			quantity_of((int64_t)profile_recorded_ns(profile), "nanoseconds").text);
	if (!diff->exact)
		bytes_printf(out, "%s samples", quantity_count(quality->samples).text);
	if (strcmp(value_of(diff), "samples") != 0) {
		bytes_printf(out, "%s", diff->exact ? "" : ", ");
		text_put_terminal(out, value_of(diff));
		bytes_printf(out, " %s",
			     quantity_of(diff->costs[side].whole.weight, unit_of(diff)).text);
	}
	put_loss(out, quality->lost, taken, "lost");
	put_loss(out, quality->unreadable, taken, "unreadable");
	put_loss(out, quality->truncated, quality->samples, "truncated");
	put_loss(out, quality->unsymbolised, quality->samples, "without symbol");
	if (quality->incomplete)
		bytes_printf(out, ", incomplete");
	bytes_put_u8(out, '\n');
}

static void put_sure(const struct diff *diff, double confidence, struct bytes *out)
{
	bytes_printf(out, " %7s",
		     confidence <= 0 ? "-"
		     : diff->exact   ? "exact"
				     : quantity_confidence(confidence).text);
}

static void put_color(const struct diff_table *table, int code, struct bytes *out)
{
	if (table->options->color)
		bytes_printf(out, "\033[%dm", code);
}

/* A total of both sides. Without is_estimate there is no confidence. */
struct whole {
	const char *name;
	const char *unit;
	int64_t sides[2];
	bool is_estimate;
	double confidence;
};

static size_t list_wholes(const struct diff *diff, struct whole ret[2])
{
	size_t count = 0;

	ret[count++] = (struct whole){
		.name = value_of(diff),
		.unit = unit_of(diff),
		.sides = {diff->costs[0].whole.weight, diff->costs[1].whole.weight},
		.is_estimate = true,
		.confidence = diff_whole_confidence(diff),
	};
	if (diff->sides[0]->duration_ns > 0 && diff->sides[1]->duration_ns > 0)
		ret[count++] = (struct whole){
			.name = "duration",
			.unit = "nanoseconds",
			.sides = {(int64_t)profile_recorded_ns(diff->sides[0]),
				  (int64_t)profile_recorded_ns(diff->sides[1])},
		};
	return count;
}

/* Familiar names. */
static const char *whole_title(const struct whole *whole)
{
	if (strcmp(whole->name, "cpu") == 0)
		return "CPU time";
	if (strcmp(whole->name, "duration") == 0)
		return "wall time";
	return strcmp(whole->name, "wall") == 0 ? "threads' time" : whole->name;
}

static void put_wholes(const struct diff_table *table, struct bytes *out)
{
	struct whole wholes[2];
	size_t count = list_wholes(table->diff, wholes);
	size_t i;

	put_color(table, 1, out);
	bytes_printf(out, "%-14s%10s%10s%11s%10s%8s", "total", "before", "after", "change",
		     "relative", "sure");
	put_color(table, 0, out);
	bytes_put_u8(out, '\n');
	for (i = 0; i < count; i++) {
		const struct whole *whole = &wholes[i];
		const int64_t *sides = whole->sides;
		bool colored = whole->is_estimate && whole->confidence >= SURE;
		size_t start = out->size;

		text_put_terminal(out, whole_title(whole));
		bytes_printf(out, "%*s",
			     out->size - start < 14 ? (int)(14 - (out->size - start)) : 1, "");
		bytes_printf(out, "%10s%10s", quantity_of(sides[0], whole->unit).text,
			     quantity_of(sides[1], whole->unit).text);
		if (colored)
			put_color(table, sides[1] > sides[0] ? 31 : 34, out);
		bytes_printf(out, "%11s%10s",
			     quantity_change(sides[1] - sides[0], whole->unit).text,
			     quantity_relative((double)sides[0], (double)sides[1]).text);
		if (colored)
			put_color(table, 0, out);
		put_sure(table->diff, whole->is_estimate ? whole->confidence : 0, out);
		bytes_put_u8(out, '\n');
	}
	bytes_put_u8(out, '\n');
}

static void put_head(const struct diff_table *table, struct bytes *out)
{
	const struct diff *diff = table->diff;

	put_side(diff, 0, out);
	put_side(diff, 1, out);
	bytes_put_u8(out, '\n');
	put_wholes(table, out);
	if (diff->counted)
		bytes_printf(out,
			     "one side has only sample counts, so sample counts are compared\n");
	if (diff->exact)
		bytes_printf(out, "the profiles have no sample counts, so the numbers are treated "
				  "as exact\n");
	bytes_printf(out, "%s\n",
		     diff->absolute ? "comparing amounts; --normalized compares shares of the total"
				    : "comparing shares of the total; --absolute compares amounts");
	bytes_put_u8(out, '\n');
}

static void put_amount(const struct diff *diff, int64_t value, double share, struct bytes *out)
{
	if (diff->absolute)
		bytes_printf(out, " %9s", quantity_of(value, unit_of(diff)).text);
	else
		bytes_printf(out, " %7.1f%%", 100 * share);
}

static void put_change(const struct diff_table *table, const struct diff_change *change,
		       struct bytes *out)
{
	const struct diff *diff = table->diff;
	bool colored = change->confidence >= SURE;
	struct quantity by =
		diff->absolute ? quantity_change(change->after - change->before, unit_of(diff))
			       : quantity_points(change->after_share - change->before_share);

	put_amount(diff, change->before, change->before_share, out);
	put_amount(diff, change->after, change->after_share, out);
	if (colored)
		put_color(table, change->after_value > change->before_value ? 31 : 34, out);
	bytes_printf(out, " %10s %9s", by.text,
		     quantity_relative(change->before_value, change->after_value).text);
	if (colored)
		put_color(table, 0, out);
	put_sure(diff, change->confidence, out);
}

static void put_columns(const struct diff_table *table, struct bytes *out)
{
	int amount = table->diff->absolute ? 10 : 9;
	int half = 2 * amount + 29;
	int i;

	put_color(table, 1, out);
	bytes_printf(out, "%*s%*s\n", half, "------- self", half + 1, "------- total");
	for (i = 0; i < 2; i++)
		bytes_printf(out, "%*s%*s%11s%10s%8s%s", amount, "before", amount, "after",
			     "change", "relative", "sure", i ? "" : " ");
	bytes_printf(out, "  function");
	put_color(table, 0, out);
	bytes_put_u8(out, '\n');
}

static void put_row(const struct diff_table *table, const struct diff_row *row, struct bytes *out)
{
	put_change(table, &row->self, out);
	bytes_put_u8(out, ' ');
	put_change(table, &row->total, out);
	bytes_printf(out, "  ");
	text_put_terminal(out, *row->name ? row->name : "[unnamed]");
	if (*row->module) {
		put_color(table, 2, out);
		bytes_printf(out, " (");
		text_put_terminal(out, path_base_name(row->module));
		bytes_put_u8(out, ')');
		put_color(table, 0, out);
	}
	bytes_put_u8(out, '\n');
}

/* Reports how many rows are left out because their change may be noise. */
static void put_noise(const struct diff_table *table, struct bytes *out)
{
	const char *them = table->noise == 1 ? "it" : "them";

	if (table->noise == 0)
		return;
	if (table->count == 0)
		bytes_printf(out, "no function changed significantly; ");
	if (table->diff->exact)
		bytes_printf(out, "%s function%s did not change; --all shows %s\n",
			     quantity_count(table->noise).text, quantity_s(table->noise), them);
	else
		bytes_printf(out,
			     "%s function%s changed by no more than noise (below %.0f%% "
			     "confidence); --all shows %s\n",
			     quantity_count(table->noise).text, quantity_s(table->noise),
			     100 * DIFF_NOISE, them);
}

void diff_put_text(const struct diff_table *table, struct bytes *out)
{
	size_t i;

	put_head(table, out);
	if (table->count + table->noise == 0) {
		bytes_printf(
			out,
			"no samples: both profiles are empty, or everything was filtered out\n");
		return;
	}
	if (table->count > 0)
		put_columns(table, out);
	for (i = 0; i < table->shown; i++)
		put_row(table, &table->rows[i], out);
	if (table->shown < table->count)
		bytes_printf(out, "%s more function%s; -n 0 shows all\n",
			     quantity_count(table->count - table->shown).text,
			     table->count - table->shown == 1 ? "" : "s");
	put_noise(table, out);
}

/* JSON */

static const char *const states[] = {
	[DIFF_BOTH] = "both", [DIFF_NEW] = "new", [DIFF_GONE] = "gone"};

static void json_side(const struct diff *diff, int side, struct json *json)
{
	const struct profile *profile = diff->sides[side];

	json_open_object(json, side ? "after" : "before");
	json_string(json, "file", diff->names[side]);
	json_string(json, "title", profile->title);
	json_u64(json, "duration_ns", profile->duration_ns);
	json_u64(json, "samples", profile->quality.samples);
	json_u64(json, "lost", profile->quality.lost);
	json_u64(json, "unreadable", profile->quality.unreadable);
	json_i64(json, "total", diff->costs[side].whole.weight);
	json_close(json);
}

static void json_change(const struct diff_change *change, const char *key, struct json *json)
{
	json_open_object(json, key);
	json_i64(json, "before", change->before);
	json_i64(json, "after", change->after);
	json_double(json, "before_percent", 100 * change->before_share, 3);
	json_double(json, "after_percent", 100 * change->after_share, 3);
	json_double(json, "change_points", 100 * (change->after_share - change->before_share), 3);
	if (change->before_value != 0)
		json_double(json, "change_percent",
			    100 * (change->after_value / change->before_value - 1), 3);
	else
		json_string(json, "change_percent", NULL);
	json_double(json, "confidence", 100 * change->confidence, 3);
	json_close(json);
}

static void json_wholes(const struct diff *diff, struct json *json)
{
	struct whole wholes[2];
	size_t count = list_wholes(diff, wholes);
	size_t i;

	json_open_array(json, "totals");
	for (i = 0; i < count; i++) {
		const int64_t *sides = wholes[i].sides;

		json_open_object(json, NULL);
		json_string(json, "name", wholes[i].name);
		json_string(json, "unit", wholes[i].unit);
		json_i64(json, "before", sides[0]);
		json_i64(json, "after", sides[1]);
		if (sides[0] != 0)
			json_double(json, "change_percent",
				    100 * ((double)sides[1] / (double)sides[0] - 1), 3);
		else
			json_string(json, "change_percent", NULL);
		if (wholes[i].is_estimate)
			json_double(json, "confidence", 100 * wholes[i].confidence, 3);
		else
			json_string(json, "confidence", NULL);
		json_close(json);
	}
	json_close(json);
}

void diff_put_json(const struct diff_table *table, struct bytes *out)
{
	const struct diff *diff = table->diff;
	struct json json;
	size_t i;

	json_init(&json, out, true);
	json_open_object(&json, NULL);
	json_side(diff, 0, &json);
	json_side(diff, 1, &json);
	json_open_object(&json, "value");
	json_string(&json, "name", value_of(diff));
	json_string(&json, "unit", unit_of(diff));
	json_close(&json);
	json_wholes(diff, &json);
	json_string(&json, "compares", diff->absolute ? "amounts" : "shares");
	json_bool(&json, "exact", diff->exact);
	json_open_array(&json, "rows");
	for (i = 0; i < table->shown; i++) {
		const struct diff_row *row = &table->rows[i];

		json_open_object(&json, NULL);
		json_string(&json, "name", row->name);
		json_string(&json, "module", row->module);
		json_string(&json, "file", row->file);
		json_string(&json, "state", states[row->state]);
		json_change(&row->self, "self", &json);
		json_change(&row->total, "total", &json);
		json_close(&json);
	}
	json_close(&json);
	json_u64(&json, "more", table->count - table->shown);
	json_open_array(&json, "gates");
	for (i = 0; i < table->options->verdict_count; i++)
		diff_verdict_json(&table->options->verdicts[i], &json);
	json_close(&json);
	json_close(&json);
}

/* CSV */

static void csv_change(const struct diff_change *change, struct bytes *out)
{
	bytes_printf(out, ",%" PRId64 ",%" PRId64 ",%.3f,%.3f,%.3f,", change->before, change->after,
		     100 * change->before_share, 100 * change->after_share,
		     100 * (change->after_share - change->before_share));
	if (change->before_value != 0)
		bytes_printf(out, "%.3f", 100 * (change->after_value / change->before_value - 1));
	bytes_printf(out, ",%.3f", 100 * change->confidence);
}

void diff_put_csv(const struct diff_table *table, struct bytes *out)
{
	static const char *const names[] = {"self", "total"};
	size_t i;

	bytes_printf(out, "name,module,file,state");
	for (i = 0; i < 2; i++)
		bytes_printf(out,
			     ",%s_before,%s_after,%s_before_percent,%s_after_percent,"
			     "%s_change_points,%s_change_percent,%s_confidence",
			     names[i], names[i], names[i], names[i], names[i], names[i], names[i]);
	bytes_put_u8(out, '\n');
	for (i = 0; i < table->shown; i++) {
		const struct diff_row *row = &table->rows[i];

		text_put_csv(out, row->name);
		bytes_put_u8(out, ',');
		text_put_csv(out, row->module);
		bytes_put_u8(out, ',');
		text_put_csv(out, row->file);
		bytes_printf(out, ",%s", states[row->state]);
		csv_change(&row->self, out);
		csv_change(&row->total, out);
		bytes_put_u8(out, '\n');
	}
}
