/* SPDX-License-Identifier: BSD-2-Clause */
/* Any events of a heap at all: sums must stay what they are of, and nothing may be lost. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "heap/address_map.h"
#include "heap/analysis.h"
#include "heap/report.h"
#include "heap/timeline/findings.h"
#include "model/dictionary.h"
#include "model/heap_event.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define THREADS 6u
#define PROCESSES 2u

static void check(const struct heap_report *report)
{
	struct heap_site_sums *sums = heap_sites_sums(&report->sites, report->totals.peak_number);
	double live = 0;
	double peak = 0;

	if (!sums)
		abort();
	for (size_t i = 0; i < report->sites.sites.count; i++) {
		live += sums[i].live.blocks;
		peak += sums[i].peak.bytes;
	}
	free(sums);
	if (report->sampled)
		return;
	if (live != report->totals.live.blocks || live < 0)
		abort();
	/* Beyond 2^53 the last digits are gone; of blocks that were only added up there may be so
	 * many. */
	if (fabs(live - (report->totals.allocated.blocks - report->totals.freed.blocks)) >
	    1e-15 * report->totals.allocated.blocks)
		abort();
	if (fabs(peak - report->totals.peak.bytes) > 1e-9 * peak)
		abort();
}

static struct heap_event read_event(struct cursor *cursor, uint64_t *now_ns)
{
	uint8_t kind = cursor_u8(cursor);
	uint8_t shape = cursor_u8(cursor);
	struct heap_event event = {
		.op = kind % 8 < HEAP_OPS ? kind % 8 : HEAP_FREE,
		.call = kind >> 3 & 15,
		.address = (uint64_t)(shape & 15) << (shape & 64 ? 60 : 4),
		.stack = shape >> 4 & 3,
		.size = cursor_varint(cursor),
	};

	*now_ns += shape & 128 ? cursor_varint(cursor) : kind >> 6;
	event.time_ns = *now_ns;
	return event;
}

/* What is live in the map is what blocks come to. */
static void check_map(const struct heap_report *report)
{
	double held = 0;
	double live = 0;

	for (size_t i = 0; i < report->footprint.held.count; i++)
		held += report->footprint.held.items[i].block_bytes +
			report->footprint.held.items[i].mapped_bytes;
	for (uint32_t i = 0; i < report->map->row_count; i++)
		live += report->map->rows[i].live_bytes;
	if (report->map->row_count > HEAP_MAP_ROWS || report->map->column_count > HEAP_MAP_COLUMNS)
		abort();
	/* Blocks that reach beyond all addresses are cut there. */
	if (live > held + 1 + 1e-9 * held)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor cursor = cursor_of(data, size);
	struct heap_analysis *analysis = NULL;
	struct heap_findings findings = {0};
	struct dictionary dictionary;
	uint64_t now_ns = 0;

	if (dictionary_init(&dictionary) < 0)
		return 0;
	/* The second has what the first had; of a third process there are only threads. */
	for (uint32_t i = 0; i < PROCESSES; i++)
		(void)dictionary_process(&dictionary, &(struct process){.pid = i + 1,
									.parent_pid = i,
									.comm = "",
									.executable = ""});
	for (uint32_t i = 0; i < THREADS; i++)
		(void)dictionary_thread(&dictionary,
					&(struct thread){.process = i / 2, .tid = i, .comm = ""});
	if (heap_analysis_new(&(struct heap_config){.dictionary = &dictionary, .addresses = true},
			      &analysis) < 0)
		abort();
	while (cursor_left(&cursor) > 0 && !cursor.failed) {
		uint8_t thread = cursor_u8(&cursor);
		struct heap_event event = read_event(&cursor, &now_ns);

		if (heap_analysis_batch(
			    analysis, &(struct heap_batch){thread % (THREADS + 1), 1, &event}) < 0)
			abort();
		if (thread >= 240 && heap_analysis_until(analysis, now_ns) < 0)
			abort();
	}
	if (heap_analysis_finish(analysis) < 0 ||
	    heap_findings_make(heap_analysis_report(analysis), NULL, &findings) < 0)
		abort();
	check(heap_analysis_report(analysis));
	check_map(heap_analysis_report(analysis));
	heap_findings_fini(&findings);
	heap_analysis_free(analysis);
	dictionary_fini(&dictionary);
	return 0;
}
