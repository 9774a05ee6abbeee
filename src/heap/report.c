/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/report.h"

#include "heap/placement.h"

static void add(struct heap_sum *sum, struct heap_sum more)
{
	sum->bytes += more.bytes;
	sum->blocks += more.blocks;
}

uint32_t heap_thread_process(const struct heap_thread *thread)
{
	return thread->space / SPACES;
}

int heap_report_end_step(struct heap_report *report)
{
	struct heap_moment moment = {.time_ns = report->timeline.end_ns};
	uint64_t step_ns = report->timeline.step_ns;
	int r = 0;

	for (size_t i = 0; i < report->site_history.changed.count && r == 0; i++) {
		struct heap_site *site =
			&report->sites.sites.items[report->site_history.changed.items[i]];

		moment.id = report->site_history.changed.items[i];
		moment.live_bytes = site->live_bytes;
		if (site->told_bytes != site->live_bytes)
			r = heap_history_add(&report->site_history, &moment, step_ns);
		site->told_bytes = site->live_bytes;
	}
	for (size_t i = 0; i < report->thread_history.changed.count && r == 0; i++) {
		struct heap_thread *thread =
			&report->threads.items[report->thread_history.changed.items[i]];

		moment.id = report->thread_history.changed.items[i];
		moment.live_bytes = thread->live.bytes;
		moment.allocated_bytes = thread->allocated.bytes - thread->told_allocated;
		moment.freed_bytes = thread->freed.bytes - thread->told_freed;
		thread->told_allocated = thread->allocated.bytes;
		thread->told_freed = thread->freed.bytes;
		r = heap_history_add(&report->thread_history, &moment, step_ns);
	}
	report->site_history.changed.count = 0;
	report->thread_history.changed.count = 0;
	return r;
}

void heap_report_add_up(struct heap_report *report)
{
	struct heap_totals *totals = &report->totals;

	for (size_t i = 0; i < report->threads.count; i++)
		add(&totals->allocated, report->threads.items[i].allocated);
	totals->freed = totals->allocated;
	totals->freed.bytes -= totals->live.bytes;
	totals->freed.blocks -= totals->live.blocks;
	for (size_t i = 0; i < report->sites.sites.count; i++)
		for (uint32_t bucket = 0; bucket < HEAP_LIFETIMES; bucket++) {
			double blocks = report->sites.lifetimes.items[i].blocks[bucket];

			report->sites.sites.items[i].freed_blocks += blocks;
			report->lifetimes.blocks[bucket] += blocks;
		}
}
