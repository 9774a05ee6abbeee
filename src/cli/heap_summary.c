/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/heap_summary.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "cli/record_summary.h"
#include "pipeline/record.h"

void heap_summary_print(FILE *out, const struct record_config *config,
			const struct record_result *result)
{
	const struct engine_stats *stats = &result->stats;

	(void)fputs("wick: recorded the heap of ", out);
	record_summary_print_name(out, config->title);
	(void)fprintf(out,
		      " for %.2f s\n  events     %" PRIu64 " allocations and frees, %" PRIu64
		      " lost\n",
		      (double)result->duration_ns / NS_PER_SEC, stats->heap_events, stats->lost);
	if (stats->remark[0])
		(void)fprintf(out, "  note       %s\n", stats->remark);
	(void)fprintf(out, "  cost       recorder %.3f s of CPU, %.1f MB\n  file       ",
		      (double)result->own_cpu_ns / NS_PER_SEC, (double)result->own_rss_bytes / 1e6);
	record_summary_print_name(out, config->output);
	(void)fprintf(out, ", %.1f MB", (double)result->file_bytes / 1e6);
	if (stats->heap_events > 0)
		(void)fprintf(out, ", %.2f bytes an event",
			      (double)result->file_bytes / (double)stats->heap_events);
	(void)fputc('\n', out);
}
