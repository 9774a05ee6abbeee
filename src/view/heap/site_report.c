/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/heap/site_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/quantity.h"
#include "base/text.h"
#include "heap/analysis.h"
#include "heap/heap_profile.h"
#include "heap/report.h"
#include "heap/timeline/findings.h"
#include "model/profile.h"
#include "view/heap/heap_numbers.h"
#include "view/heap/site_rows.h"

/* The report of all blocks, or of those of pools. */
struct sheet {
	const struct profile *profile;
	const struct heap_report *report;
	const struct heap_findings *findings; /* NULL for pools */
	const struct sheet *pools;            /* NULL: none */
	struct site_rows rows;
	size_t shown;
	uint64_t from_ns; /* from the options; times of the report count from there */
	struct bytes *out;
};

static struct quantity bytes_of(double bytes)
{
	return quantity_of((int64_t)llround(fmin(bytes, 0x1p62)), "bytes");
}

static struct quantity change_of(double bytes)
{
	return quantity_change((int64_t)llround(fmax(-0x1p62, fmin(bytes, 0x1p62))), "bytes");
}

static struct quantity time_of(uint64_t ns)
{
	return quantity_of((int64_t)ns, "nanoseconds");
}

static struct quantity count_of(double count)
{
	return quantity_count(count > 0 ? (uint64_t)llround(count) : 0);
}

/* Text */

static void put_blocks(struct bytes *out, double blocks)
{
	bytes_printf(out, "%s block%s, ", count_of(blocks).text,
		     quantity_s((uint64_t)llround(blocks)));
}

static void put_totals(const struct sheet *sheet)
{
	const struct heap_totals *totals = &sheet->report->totals;
	struct bytes *out = sheet->out;

	bytes_printf(out, "%s allocated in ", bytes_of(totals->allocated.bytes).text);
	put_blocks(out, totals->allocated.blocks);
	bytes_printf(out, "%s of them temporary\n", count_of(totals->temporary_blocks).text);
	bytes_printf(out, "peak %s in ", bytes_of(totals->peak.bytes).text);
	put_blocks(out, totals->peak.blocks);
	bytes_printf(out, "after %s; ", time_of(sheet->from_ns + totals->peak_ns).text);
	bytes_printf(out, "at the end %s in ", bytes_of(totals->live.bytes).text);
	bytes_printf(out, "%s\n", count_of(totals->live.blocks).text);
	if (sheet->report->sampled) {
		bytes_printf(out, "these are estimates from sampled blocks: allocated ± %s, ",
			     bytes_of(sqrt(totals->allocated_variance.bytes)).text);
		bytes_printf(out, "peak ± %s (one standard error)\n",
			     bytes_of(sqrt(totals->peak_variance.bytes)).text);
	}
}

static void put_head(const struct sheet *sheet)
{
	struct heap_doubt doubts[HEAP_DOUBTS];
	struct bytes *out = sheet->out;

	text_put_terminal(out, *sheet->profile->title ? sheet->profile->title : "(no title)");
	bytes_printf(out, "\n%s recorded, ", time_of(profile_recorded_ns(sheet->profile)).text);
	put_totals(sheet);
	heap_doubts_of(&sheet->profile->quality, sheet->report, doubts);
	for (size_t i = 0; i < HEAP_DOUBTS; i++)
		if (doubts[i].count > 0)
			bytes_printf(out, "%s %s\n", quantity_count(doubts[i].count).text,
				     doubts[i].words);
	bytes_put_u8(out, '\n');
}

static void put_place(const struct sheet *sheet, const struct site_row *row)
{
	const struct profile *profile = sheet->profile;
	const struct profile_function *function = &profile->functions.items[row->function];
	const char *file = profile_text(profile, row->file);

	text_put_terminal(sheet->out, profile_text(profile, function->name));
	if (*file) {
		bytes_printf(sheet->out, "  ");
		text_put_terminal(sheet->out, file);
		if (row->line > 0)
			bytes_printf(sheet->out, ":%u", row->line);
	}
}

/* The row of a site; NULL: filtered out. */
static const struct site_row *row_of(const struct sheet *sheet, uint32_t site)
{
	uint32_t row = sheet->rows.of_site[site];

	return row == ID_NONE ? NULL : &sheet->rows.items[row];
}

static void put_row(const struct sheet *sheet, const struct site_row *row)
{
	const struct heap_site_sums *sums = &row->sums;
	struct bytes *out = sheet->out;

	bytes_printf(out, " %10s", bytes_of(sums->peak.bytes).text);
	bytes_printf(out, " %7s",
		     quantity_share((int64_t)llround(sums->peak.bytes),
				    (int64_t)llround(sheet->report->totals.peak.bytes))
			     .text);
	bytes_printf(out, "  %10s", bytes_of(sums->live.bytes).text);
	bytes_printf(out, "  %10s", bytes_of(sums->allocated.bytes).text);
	bytes_printf(out, "  %12s", count_of(sums->allocated.blocks).text);
	bytes_printf(out, "  %10s", bytes_of(site_row_average(row)).text);
	bytes_printf(out, "  %9s",
		     quantity_share((int64_t)llround(sums->temporary_blocks),
				    (int64_t)llround(sums->allocated.blocks))
			     .text);
	bytes_printf(out, "  %10s  ",
		     row->more.freed_blocks > 0 ? time_of(site_row_lifetime_ns(row)).text : "-");
	put_place(sheet, row);
	bytes_put_u8(out, '\n');
}

static void put_finding(const struct sheet *sheet, const struct heap_finding *finding)
{
	struct bytes *out = sheet->out;

	bytes_printf(out, "%-8s %10s", heap_finding_name(finding->kind),
		     time_of(sheet->from_ns + finding->from_ns).text);
	bytes_printf(out, " to %10s", time_of(sheet->from_ns + finding->to_ns).text);
	bytes_printf(out, "  %10s", bytes_of(finding->level_bytes).text);
	if (finding->kind != HEAP_PLATEAU)
		bytes_printf(out, "  %11s", change_of(finding->change_bytes).text);
	for (uint32_t i = 0; i < finding->cause_count; i++) {
		bytes_printf(out, "\n    %45s  ", change_of(finding->causes[i].bytes).text);
		put_place(sheet, &sheet->rows.items[finding->causes[i].group]);
	}
	bytes_put_u8(out, '\n');
}

/* Whether a site grew as steadily as a leak, and by more than a little. */
static bool is_growing(const struct sheet *sheet, const struct heap_growth *growth)
{
	double seconds = (double)sheet->report->end_ns / (double)NS_PER_SEC;

	return growth->trend.fit >= 0.8 && sheet->report->timeline.steps.count >= 10 &&
	       growth->trend.bytes_per_second * seconds > 0.01 * sheet->report->totals.peak.bytes;
}

/* The row of a growing site; NULL: it does not grow, or is filtered out. */
static const struct site_row *growing_row(const struct sheet *sheet, size_t growth)
{
	const struct heap_growth *item = &sheet->findings->growths.items[growth];

	return is_growing(sheet, item) ? row_of(sheet, item->site) : NULL;
}

/* A row has one line, regardless of how many of its stacks grow: with the first of them. */
static void put_growth(const struct sheet *sheet, size_t at)
{
	const struct site_row *row = growing_row(sheet, at);
	double rate = 0;

	for (size_t i = 0; row && i < at; i++)
		if (growing_row(sheet, i) == row)
			return;
	for (size_t i = at; row && i < sheet->findings->growths.count; i++)
		if (growing_row(sheet, i) == row)
			rate += sheet->findings->growths.items[i].trend.bytes_per_second;
	if (!row)
		return;
	bytes_printf(sheet->out, "grows steadily by %s per second  ", bytes_of(rate).text);
	put_place(sheet, row);
	bytes_put_u8(sheet->out, '\n');
}

static void put_findings(const struct sheet *sheet)
{
	const struct heap_findings *findings = sheet->findings;
	struct bytes *out = sheet->out;

	if (findings->items.count > 0)
		bytes_printf(out, "\nover time, with the sites responsible\n");
	for (size_t i = 0; i < findings->items.count; i++)
		put_finding(sheet, &findings->items.items[i]);
	for (size_t i = 0; i < findings->growths.count; i++)
		put_growth(sheet, i);
}

static void put_rows(const struct sheet *sheet)
{
	double rest = 0;

	bytes_printf(sheet->out, " %10s %7s  %10s  %10s  %12s  %10s  %9s  %10s  %s\n", "at peak",
		     "share", "at end", "allocated", "blocks", "average", "temporary", "lifetime",
		     "where");
	for (size_t i = 0; i < sheet->shown; i++)
		put_row(sheet, &sheet->rows.items[i]);
	for (size_t i = sheet->shown; i < sheet->rows.count; i++)
		rest += sheet->rows.items[i].sums.peak.bytes;
	if (sheet->shown < sheet->rows.count) {
		bytes_printf(sheet->out, "%s more",
			     quantity_count(sheet->rows.count - sheet->shown).text);
		bytes_printf(sheet->out, " with %s at the peak\n", bytes_of(rest).text);
	}
}

static void put_text(const struct sheet *sheet)
{
	put_head(sheet);
	if (sheet->rows.count == 0)
		bytes_printf(sheet->out, "no allocations, or everything was filtered out\n");
	else
		put_rows(sheet);
	if (sheet->pools) {
		bytes_printf(sheet->out, "\nthe program's own pools, included above: ");
		put_totals(sheet->pools);
		put_rows(sheet->pools);
	}
	if (sheet->rows.count > 0)
		put_findings(sheet);
}

/* JSON */

static void json_place(const struct sheet *sheet, struct json *json, const struct site_row *row)
{
	const struct profile *profile = sheet->profile;
	const struct profile_function *function = &profile->functions.items[row->function];

	json_string(json, "function_name", profile_text(profile, function->name));
	json_string(json, "module", profile_text(profile, function->module));
	json_string(json, "file", profile_text(profile, row->file));
	json_u64(json, "line", row->line);
}

static void json_finding(const struct sheet *sheet, struct json *json,
			 const struct heap_finding *finding)
{
	json_open_object(json, NULL);
	json_string(json, "kind", heap_finding_name(finding->kind));
	json_u64(json, "from_ns", finding->from_ns);
	json_u64(json, "to_ns", finding->to_ns);
	heap_put_number(json, "level_bytes", finding->level_bytes);
	json_double(json, "change_bytes", finding->change_bytes, 0);
	json_open_array(json, "causes");
	for (uint32_t i = 0; i < finding->cause_count; i++) {
		json_open_object(json, NULL);
		json_place(sheet, json, &sheet->rows.items[finding->causes[i].group]);
		json_double(json, "change_bytes", finding->causes[i].bytes, 0);
		json_close(json);
	}
	json_close(json);
	json_close(json);
}

static void json_findings(const struct sheet *sheet, struct json *json)
{
	const struct heap_findings *findings = sheet->findings;

	json_open_array(json, "findings");
	for (size_t i = 0; i < findings->items.count; i++)
		json_finding(sheet, json, &findings->items.items[i]);
	json_close(json);
	json_open_array(json, "growths");
	for (size_t i = 0; i < findings->growths.count; i++) {
		const struct heap_growth *growth = &findings->growths.items[i];
		const struct site_row *row = row_of(sheet, growth->site);

		if (!row)
			continue;
		json_open_object(json, NULL);
		json_place(sheet, json, row);
		heap_put_number(json, "live_bytes", growth->live_bytes);
		json_double(json, "bytes_per_second", growth->trend.bytes_per_second, 0);
		json_double(json, "fit", growth->trend.fit, 3);
		json_close(json);
	}
	json_close(json);
}

static void json_rows(const struct sheet *sheet, struct json *json)
{
	json_open_array(json, "rows");
	for (size_t i = 0; i < sheet->shown; i++) {
		json_open_object(json, NULL);
		heap_put_place(json, sheet->profile, &sheet->rows.items[i]);
		json_close(json);
	}
	json_close(json);
	json_u64(json, "more", sheet->rows.count - sheet->shown);
}

static void put_json(const struct sheet *sheet)
{
	struct json json;

	json_init(&json, sheet->out, true);
	json_open_object(&json, NULL);
	json_string(&json, "title", sheet->profile->title);
	json_u64(&json, "duration_ns", sheet->profile->duration_ns);
	json_string(&json, "by", "site");
	heap_put_totals(&json, sheet->report);
	heap_put_quality(&json, sheet->report);
	json_rows(sheet, &json);
	if (sheet->pools) {
		json_open_object(&json, "pools");
		heap_put_totals(&json, sheet->pools->report);
		json_rows(sheet->pools, &json);
		json_close(&json);
	}
	json_findings(sheet, &json);
	json_close(&json);
}

static int sheet_init(struct sheet *sheet, const struct site_report_options *options,
		      const uint32_t *stacks)
{
	int r = site_rows_init(sheet->profile, sheet->report, stacks, &sheet->rows);

	sheet->shown = options->limit && options->limit < sheet->rows.count ? options->limit
									    : sheet->rows.count;
	return r;
}

int site_report_write(const struct heap_profile *heap, const struct site_report_options *options,
		      struct bytes *out, struct error *err)
{
	struct heap_findings findings = {0};
	struct sheet sheet = {.profile = heap->profile,
			      .report = heap_analysis_report(heap->analysis),
			      .findings = &findings,
			      .from_ns = options->from_ns,
			      .out = out};
	struct sheet pools = {.profile = heap->profile,
			      .report = sheet.report->pools,
			      .from_ns = options->from_ns,
			      .out = out};
	struct heap_groups groups;
	int r = sheet_init(&sheet, options, heap->stacks);

	groups = (struct heap_groups){sheet.rows.of_site, sheet.rows.count};
	if (r == 0 && pools.report) {
		r = sheet_init(&pools, options, heap->pool_stacks);
		sheet.pools = pools.rows.count > 0 ? &pools : NULL;
	}
	if (r == 0)
		r = heap_findings_make(sheet.report, &groups, &findings);
	if (r == 0 && options->json)
		put_json(&sheet);
	else if (r == 0)
		put_text(&sheet);
	heap_findings_fini(&findings);
	site_rows_fini(&pools.rows);
	site_rows_fini(&sheet.rows);
	if (r < 0 || out->failed)
		return error_set(err, r < 0 ? r : -ENOMEM, "cannot write the report: no memory");
	return 0;
}
