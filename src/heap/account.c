/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/account.h"

/* Limit for rows of the histories of sites and of threads, 40 bytes each. */
#define HISTORY_LIMIT (256u << 10)

void heap_account_init(struct heap_account *account, struct heap_rates *rates, uint64_t step_ns)
{
	*account = (struct heap_account){.rates = rates};
	account->report.site_history.limit = HISTORY_LIMIT;
	account->report.thread_history.limit = HISTORY_LIMIT;
	heap_timeline_init(&account->report.timeline, step_ns);
}

void heap_account_fini(struct heap_account *account)
{
	heap_sites_fini(&account->report.sites);
	heap_misuses_fini(&account->report.misuses);
	heap_timeline_fini(&account->report.timeline);
	heap_spans_fini(&account->report.spans);
	heap_history_fini(&account->report.site_history);
	heap_history_fini(&account->report.thread_history);
	vec_fini(&account->report.threads);
}

void heap_account_moved(struct heap_account *account, const struct heap_block *block)
{
	struct heap_report *report = &account->report;
	double blocks = heap_account_sum(account, block).blocks;

	report->sites.sites.items[report->sites.shares.items[block->share].site].moved_blocks +=
		blocks;
	report->totals.moved_blocks += blocks;
}

int heap_account_end_step(struct heap_account *account, uint64_t time_ns)
{
	struct heap_report *report = &account->report;
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
	account->serial++;
	return r < 0 ? r : heap_timeline_advance(&report->timeline, time_ns);
}

void heap_account_add_up(struct heap_account *account)
{
	struct heap_report *report = &account->report;
	struct heap_totals *totals = &report->totals;

	for (size_t i = 0; i < report->threads.count; i++)
		heap_sum_add(&totals->allocated, report->threads.items[i].allocated);
	totals->freed = totals->allocated;
	heap_sum_add(&totals->freed, heap_sum_minus(totals->live));
	for (size_t i = 0; i < report->sites.sites.count; i++)
		for (uint32_t bucket = 0; bucket < HEAP_LIFETIMES; bucket++) {
			double blocks = report->sites.lifetimes.items[i].blocks[bucket];

			report->sites.sites.items[i].freed_blocks += blocks;
			report->lifetimes.blocks[bucket] += blocks;
		}
}
