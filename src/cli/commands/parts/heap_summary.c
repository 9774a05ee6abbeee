/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/parts/heap_summary.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/file/outfile.h"
#include "base/quantity.h"
#include "cli/commands/parts/record_output.h"
#include "heap/report.h"
#include "model/memory_reading.h"
#include "record/record.h"

/* Every program maps up to this much: buffers of threads and of the loader. */
#define HINT_BYTES (8.0 * 1024 * 1024)

static const char *bytes_text(double bytes, struct quantity *quantity)
{
	*quantity = quantity_of((int64_t)llround(fmin(bytes, 0x1p62)), "bytes");
	return quantity->text;
}

static void print_blocks(FILE *out, double blocks)
{
	(void)fprintf(out, " in %.0f block%s", blocks, quantity_s((uint64_t)llround(blocks)));
}

static void print_totals(FILE *out, const struct heap_totals *totals)
{
	struct quantity text;

	(void)fprintf(out, "  allocated  %s", bytes_text(totals->allocated.bytes, &text));
	print_blocks(out, totals->allocated.blocks);
	(void)fprintf(out, ", %.0f of them temporary\n", totals->temporary_blocks);
	(void)fprintf(out, "  peak       %s", bytes_text(totals->peak.bytes, &text));
	print_blocks(out, totals->peak.blocks);
	(void)fprintf(out, " after %.2f s\n", (double)totals->peak_ns / NS_PER_SEC);
	(void)fprintf(out, "  at the end %s", bytes_text(totals->live.bytes, &text));
	print_blocks(out, totals->live.blocks);
	(void)fputs(" were not freed\n", out);
}

/* Prints how much memory was in use before the recording; it has no stacks. */
static void print_before(FILE *out, const struct engine_stats *stats,
			 const struct heap_totals *totals)
{
	double before = (double)stats->heap.before_bytes;
	struct quantity text;

	(void)fprintf(out, "  before     up to %s", bytes_text(before, &text));
	(void)fprintf(out,
		      " were in use when the recording began (anonymous pages): %.0f %% of that "
		      "plus what is live now\n",
		      100 * before / (before + totals->live.bytes));
}

/* The most memory of a process that belonged to no allocator, file or stack. */
static double most_elsewhere(const struct heap_footprint *footprint)
{
	double most = 0;

	for (size_t i = 0; i < footprint->readings.count; i++) {
		const struct heap_reading *reading = &footprint->readings.items[i];

		if (reading->kind == MEMORY_SPLIT)
			most = fmax(most, reading->other_bytes);
	}
	return most;
}

/* Some runtimes have their own allocators, which map memory: V8, Go, Python's arenas. */
static void hint_maps(FILE *out, const struct record_config *config,
		      const struct heap_report *report)
{
	double elsewhere = most_elsewhere(&report->footprint);
	struct quantity text;

	if (config->sampling.heap.maps || config->sampling.heap.attach || elsewhere < HINT_BYTES ||
	    elsewhere < report->totals.peak.bytes / 2)
		return;
	(void)fprintf(out, "  mapped     up to %s", bytes_text(elsewhere, &text));
	(void)fputs(" more were mapped, not allocated: use --maps to record them\n", out);
}

static const char *why_none(const struct engine_stats *stats)
{
	return stats->why_none[0] ? stats->why_none : "the program allocated no memory";
}

void heap_summary_print(FILE *out, const struct record_config *config,
			const struct record_result *result, const struct heap_report *report)
{
	const struct engine_stats *stats = &result->stats;
	const struct heap_totals *totals = report ? &report->totals : NULL;
	bool to_file = !outfile_is_stdout(config->output);

	record_output_heading(out, "the heap of ", config, result);
	(void)fprintf(out, "  events     %" PRIu64 " allocations and frees, %" PRIu64 " lost",
		      stats->heap.events, stats->samples.lost);
	if (stats->heap.events > 0)
		(void)fprintf(out, "; %.2f bytes per event",
			      (double)result->file_bytes / (double)stats->heap.events);
	(void)fputc('\n', out);
	if (stats->heap.events == 0 && result->killed_by > 0)
		record_output_killed(out, "  nothing    was recorded", result);
	else if (stats->heap.events == 0)
		(void)fprintf(out, "  nothing    was recorded: %s\n", why_none(stats));
	else if (totals)
		print_totals(out, totals);
	if (totals && stats->heap.before_bytes > 0)
		print_before(out, stats, totals);
	if (report)
		hint_maps(out, config, report);
	record_output_refused_python(out, stats);
	record_output_remark(out, stats);
	(void)fprintf(out, "  cost       recorder %.3f s of CPU, %.1f MB",
		      (double)result->own_cpu_ns / NS_PER_SEC, (double)result->own_rss_bytes / 1e6);
	if (stats->heap.calls > 0)
		(void)fprintf(out, "; the process %.3f s of CPU, %.2f us per call",
			      (double)stats->cost.target_ns / NS_PER_SEC,
			      (double)stats->cost.target_ns / 1e3 / (double)stats->heap.calls);
	(void)fputc('\n', out);
	if (to_file && stats->heap.events > 0) {
		(void)fputs("next: wick report --by site ", out);
		record_output_name(out, config->output);
		(void)fputs("   or   wick heap-report ", out);
		record_output_name(out, config->output);
		(void)fputc('\n', out);
	}
}

void heap_summary_leaks(FILE *out, const struct record_result *result)
{
	static const char *const names[LEAK_CLASSES] = {
		[LEAK_DEFINITE] = "definite",   [LEAK_INDIRECT] = "indirect",
		[LEAK_PROBABLE] = "probable",   [LEAK_POSSIBLE] = "possible",
		[LEAK_REACHABLE] = "reachable",
	};

	(void)fputs("wick: leaks:", out);
	for (size_t i = 0; i < LEAK_CLASSES && result->leak_scans > 0; i++)
		(void)fprintf(out, "%s %s %" PRIu64 " byte%s in %" PRIu64 " block%s", i ? "," : "",
			      names[i], result->leaks.sums[i].bytes,
			      quantity_s(result->leaks.sums[i].bytes), result->leaks.sums[i].blocks,
			      quantity_s(result->leaks.sums[i].blocks));
	if (result->leak_scans > 0)
		(void)fprintf(out, " (scan %.3f s of CPU, paused for %.1f ms)\n",
			      (double)result->leaks.cpu_ns / NS_PER_SEC,
			      (double)result->leaks.paused_ns / NS_PER_MS);
	else
		(void)fputs(" no scan was made\n", out);
}
