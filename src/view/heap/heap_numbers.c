/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/heap/heap_numbers.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "heap/report.h"
#include "model/profile.h"
#include "view/heap/site_rows.h"

void heap_put_number(struct json *json, const char *key, double value)
{
	json_double(json, key, value > 0 ? value : 0, 0); /* no -0 from sums that cancel out */
}

void heap_put_sum(struct json *json, const char *key, struct heap_sum sum)
{
	json_open_object(json, key);
	heap_put_number(json, "bytes", sum.bytes);
	heap_put_number(json, "blocks", sum.blocks);
	json_close(json);
}

static struct heap_sum errors(struct heap_sum variance)
{
	return (struct heap_sum){sqrt(fmax(variance.bytes, 0)), sqrt(fmax(variance.blocks, 0))};
}

void heap_put_totals(struct json *json, const struct heap_report *report)
{
	const struct heap_totals *totals = &report->totals;

	json_open_object(json, "totals");
	heap_put_sum(json, "allocated", totals->allocated);
	heap_put_sum(json, "freed", totals->freed);
	heap_put_sum(json, "peak", totals->peak);
	json_u64(json, "peak_ns", totals->peak_ns);
	heap_put_sum(json, "live", totals->live);
	heap_put_number(json, "temporary_blocks", totals->temporary_blocks);
	heap_put_number(json, "foreign_blocks", totals->foreign_blocks);
	heap_put_number(json, "moved_blocks", totals->moved_blocks);
	heap_put_number(json, "slack_bytes", totals->slack_bytes);
	json_bool(json, "sampled", report->sampled);
	if (report->sampled) {
		heap_put_sum(json, "allocated_error", errors(totals->allocated_variance));
		heap_put_sum(json, "peak_error", errors(totals->peak_variance));
		heap_put_sum(json, "live_error", errors(totals->live_variance));
	}
	json_close(json);
}

void heap_put_quality(struct json *json, const struct heap_report *report)
{
	json_open_object(json, "quality");
	json_u64(json, "events", report->quality.events);
	json_u64(json, "unknown_frees", report->quality.unknown_frees);
	json_u64(json, "missed_frees", report->quality.missed_frees);
	json_u64(json, "swapped", report->quality.swapped);
	json_u64(json, "out_of_order", report->quality.late + report->quality.backward);
	json_u64(json, "bad", report->quality.bad);
	json_u64(json, "only_totals", report->quality.only_totals);
	json_close(json);
}

void heap_put_lifetimes(struct json *json, const struct heap_lifetimes *lifetimes)
{
	json_open_array(json, "lifetimes");
	for (uint32_t i = 0; i < HEAP_LIFETIMES; i++) {
		if (lifetimes->blocks[i] == 0)
			continue;
		json_open_object(json, NULL);
		json_u64(json, "from_ns", heap_lifetime_low_ns(i));
		heap_put_number(json, "blocks", lifetimes->blocks[i]);
		json_close(json);
	}
	json_close(json);
}

void heap_put_place(struct json *json, const struct profile *profile, const struct site_row *row)
{
	const struct profile_function *function = &profile->functions.items[row->function];
	const struct heap_site *more = &row->more;

	json_string(json, "function_name", profile_text(profile, function->name));
	json_string(json, "module", profile_text(profile, function->module));
	json_string(json, "file", profile_text(profile, row->file));
	json_u64(json, "line", row->line);
	json_u64(json, "stacks", row->stacks);
	heap_put_sum(json, "peak", row->sums.peak);
	heap_put_sum(json, "live", row->sums.live);
	heap_put_sum(json, "allocated", row->sums.allocated);
	json_double(json, "average_bytes", site_row_average(row), 1);
	json_u64(json, "size_min", more->size_min);
	json_u64(json, "size_max", more->size_max);
	heap_put_number(json, "temporary_blocks", row->sums.temporary_blocks);
	heap_put_number(json, "freed_blocks", more->freed_blocks);
	heap_put_number(json, "foreign_blocks", more->foreign_blocks);
	heap_put_number(json, "moved_blocks", more->moved_blocks);
	heap_put_number(json, "reallocs", more->reallocs);
	heap_put_number(json, "slack_bytes", more->slack_bytes);
	json_u64(json, "first_ns", more->first_ns);
	json_u64(json, "last_ns", more->last_ns);
	json_u64(json, "lifetime_median_ns", site_row_lifetime_ns(row));
	heap_put_number(json, "lifetime_mean_ns",
			more->freed_blocks > 0 ? more->lifetime_ns / more->freed_blocks : 0);
	heap_put_lifetimes(json, &row->lifetimes);
}

void heap_doubts_of(const struct profile_quality *file, const struct heap_report *report,
		    struct heap_doubt ret[HEAP_DOUBTS])
{
	const struct heap_quality *quality = &report->quality;
	const struct heap_doubt all[HEAP_DOUBTS] = {
		{file->lost, "events were lost during recording"},
		{file->unreadable, "events are in damaged or missing parts of the file"},
		{file->damaged_chunks, "damaged parts of the file were skipped"},
		{quality->unknown_frees, "frees are of blocks allocated before the recording"},
		{quality->missed_frees, "frees are missing: their addresses were reused"},
		{quality->late + quality->backward, "events are out of order"},
		{quality->bad, "events are inconsistent and were skipped"},
		{quality->only_totals, "blocks were only counted, because memory ran out: when "
				       "they were freed is unknown"},
	};

	memcpy(ret, all, sizeof(all));
}
