/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/site_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/scope.h"
#include "base/text.h"
#include "heap/analysis.h"
#include "heap/heap_profile.h"
#include "heap/report.h"
#include "model/profile.h"
#include "view/heap_numbers.h"
#include "view/quantity.h"
#include "view/site_rows.h"

struct sheet {
	const struct profile *profile;
	const struct heap_report *report;
	const struct site_row *rows;
	size_t count;
	size_t shown;
	struct bytes *out;
};

static struct quantity bytes_of(double bytes)
{
	return quantity_of((int64_t)llround(fmin(bytes, 0x1p62)), "bytes");
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

static void put_head(const struct sheet *sheet)
{
	const struct heap_totals *totals = &sheet->report->totals;
	struct heap_doubt doubts[HEAP_DOUBTS];
	struct bytes *out = sheet->out;

	text_put_terminal(out, *sheet->profile->title ? sheet->profile->title : "(no title)");
	bytes_printf(out, "\n%s recorded, ", time_of(sheet->profile->duration_ns).text);
	bytes_printf(out, "%s allocated in ", bytes_of(totals->allocated.bytes).text);
	bytes_printf(out, "%s blocks, ", count_of(totals->allocated.blocks).text);
	bytes_printf(out, "%s of them temporary\n", count_of(totals->temporary_blocks).text);
	bytes_printf(out, "at most %s live in ", bytes_of(totals->peak.bytes).text);
	bytes_printf(out, "%s blocks, ", count_of(totals->peak.blocks).text);
	bytes_printf(out, "after %s; ", time_of(totals->peak_ns).text);
	bytes_printf(out, "at the end %s in ", bytes_of(totals->live.bytes).text);
	bytes_printf(out, "%s\n", count_of(totals->live.blocks).text);
	if (sheet->report->sampled) {
		bytes_printf(out, "these are estimates of sampled blocks: allocated ± %s, ",
			     bytes_of(sqrt(totals->allocated_variance.bytes)).text);
		bytes_printf(out, "at most ± %s (one standard error)\n",
			     bytes_of(sqrt(totals->peak_variance.bytes)).text);
	}
	heap_doubts_of(sheet->report, doubts);
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
	bytes_put_u8(sheet->out, '\n');
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
		     row->more.freed_blocks > 0
			     ? time_of(heap_lifetimes_quantile_ns(&row->lifetimes, 0.5)).text
			     : "-");
	put_place(sheet, row);
}

static void put_text(const struct sheet *sheet)
{
	double rest = 0;

	put_head(sheet);
	if (sheet->count == 0) {
		bytes_printf(sheet->out, "no allocations, or everything was filtered out\n");
		return;
	}
	bytes_printf(sheet->out, " %10s %7s  %10s  %10s  %12s  %10s  %9s  %10s  %s\n", "at peak",
		     "share", "at end", "allocated", "blocks", "average", "temporary", "lifetime",
		     "where");
	for (size_t i = 0; i < sheet->shown; i++)
		put_row(sheet, &sheet->rows[i]);
	for (size_t i = sheet->shown; i < sheet->count; i++)
		rest += sheet->rows[i].sums.peak.bytes;
	if (sheet->shown < sheet->count) {
		bytes_printf(sheet->out, "%s more",
			     quantity_count(sheet->count - sheet->shown).text);
		bytes_printf(sheet->out, " with %s at the peak\n", bytes_of(rest).text);
	}
}

/* JSON */

static void put_json(const struct sheet *sheet)
{
	struct json json;

	json_init(&json, sheet->out, true);
	json_open_object(&json, NULL);
	json_string(&json, "title", sheet->profile->title);
	json_u64(&json, "duration_ns", sheet->profile->duration_ns);
	json_string(&json, "by", "site");
	heap_put_totals(&json, sheet->report);
	json_open_array(&json, "rows");
	for (size_t i = 0; i < sheet->shown; i++) {
		json_open_object(&json, NULL);
		heap_put_place(&json, sheet->profile, &sheet->rows[i]);
		json_close(&json);
	}
	json_close(&json);
	json_u64(&json, "more", sheet->count - sheet->shown);
	json_close(&json);
}

int site_report_write(const struct heap_profile *heap, const struct site_report_options *options,
		      struct bytes *out, struct error *err)
{
	SCOPED(mem) struct site_row *rows = NULL;
	struct sheet sheet = {.profile = heap->profile,
			      .report = heap_analysis_report(heap->analysis),
			      .out = out};
	int r = site_rows_new(heap, &rows, &sheet.count, NULL);

	if (r == 0) {
		sheet.rows = rows;
		sheet.shown = options->limit && options->limit < sheet.count ? options->limit
									     : sheet.count;
		if (options->json)
			put_json(&sheet);
		else
			put_text(&sheet);
	}
	if (r < 0 || out->failed)
		return error_set(err, r < 0 ? r : -ENOMEM, "cannot write the report: no memory");
	return 0;
}
