/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_ACCOUNT_H
#define WICK_HEAP_ACCOUNT_H

/*
 * account: adds up blocks in a report: by share, site, thread, size and step.
 *
 * The caller decides which block an event concerns and whether it counts. What runs for each event
 * is inline in this header, because it belongs in the loop over events.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/id_index.h"
#include "heap/live_blocks.h"
#include "heap/report.h"

struct heap_account {
	struct heap_report report;
	struct heap_rates *rates; /* borrowed */
	uint32_t serial;          /* of the current step */
};

void heap_account_init(struct heap_account *account, struct heap_rates *rates, uint64_t step_ns);
void heap_account_fini(struct heap_account *account);

/* Records what changed in the step that ended, and begins the step that contains time_ns. */
int heap_account_end_step(struct heap_account *account, uint64_t time_ns);

/* Computes the sums that need not be updated for each event, because they follow from others. */
void heap_account_add_up(struct heap_account *account);

/* realloc has turned a block that is no longer live into another one. */
void heap_account_moved(struct heap_account *account, const struct heap_block *block);

static inline void heap_sum_add(struct heap_sum *sum, struct heap_sum more)
{
	sum->bytes += more.bytes;
	sum->blocks += more.blocks;
}

static inline struct heap_sum heap_sum_minus(struct heap_sum sum)
{
	return (struct heap_sum){-sum.bytes, -sum.blocks};
}

/* The weighted sum of a block. */
static inline struct heap_sum heap_account_sum(const struct heap_account *account,
					       const struct heap_block *block)
{
	double weight = heap_weight(account->rates, block->rate, block->size);

	return (struct heap_sum){weight * (double)block->size, weight};
}

static inline struct heap_sum heap_account_variance(struct heap_sum sum)
{
	double variance = heap_weight_variance(sum.blocks);
	double size = sum.blocks > 0 ? sum.bytes / sum.blocks : 0;

	return (struct heap_sum){variance * size * size, variance};
}

/* Marks a thread as changed in this step. 0 or -ENOMEM. */
static inline int heap_account_mark(struct heap_account *account, uint32_t thread)
{
	struct heap_report *report = &account->report;

	if (report->threads.items[thread].mark == account->serial)
		return 0;
	report->threads.items[thread].mark = account->serial;
	return vec_push(&report->thread_history.changed, thread);
}

/* Adds the sum of a block to what is live, or subtracts it. 0 or -ENOMEM. */
static inline __attribute__((always_inline)) int heap_account_change(struct heap_account *account,
								     const struct heap_block *block,
								     struct heap_sum change)
{
	struct heap_report *report = &account->report;
	struct heap_totals *totals = &report->totals;
	struct heap_share *share = &report->sites.shares.items[block->share];
	struct heap_site *site = &report->sites.sites.items[share->site];
	struct heap_thread *thread = &report->threads.items[share->thread];
	uint64_t peak = totals->peak_number;

	heap_level_change(&share->level, peak, change);
	heap_level_change(&report->classes[heap_class_of(block->size)].level, peak, change);
	heap_sum_add(&totals->live, change);
	if (block->rate != 0)
		heap_sum_add(&totals->live_variance, change.blocks > 0
							     ? heap_account_variance(change)
							     : heap_sum_minus(heap_account_variance(
								       heap_sum_minus(change))));
	heap_sum_add(&thread->live, change);
	site->live_bytes += change.bytes;
	if (thread->live.bytes > thread->most_bytes)
		thread->most_bytes = thread->live.bytes;
	if (site->mark != account->serial) {
		site->mark = account->serial;
		if (vec_push(&report->site_history.changed, share->site) < 0)
			return -ENOMEM;
	}
	return heap_account_mark(account, share->thread);
}

/* Call after something was added and counted: it may be a new peak. */
static inline void heap_account_peak(struct heap_account *account, uint32_t share, uint64_t time_ns)
{
	struct heap_report *report = &account->report;
	struct heap_totals *totals = &report->totals;
	struct heap_site *site = &report->sites.sites.items[report->sites.shares.items[share].site];

	if (site->live_bytes > site->most_bytes) {
		site->most_bytes = site->live_bytes;
		site->most_ns = time_ns;
	}
	if (totals->live.bytes > totals->peak.bytes) {
		totals->peak = totals->live;
		totals->peak_variance = totals->live_variance;
		totals->peak_ns = time_ns;
		totals->peak_number++;
	}
}

/* Counts a block that is no longer live as freed by a thread (ID_NONE: unknown). */
static inline void heap_account_freed(struct heap_account *account, const struct heap_block *block,
				      uint64_t time_ns, uint32_t by)
{
	struct heap_report *report = &account->report;
	struct heap_sum sum = heap_account_sum(account, block);
	const struct heap_share *share = &report->sites.shares.items[block->share];
	struct heap_site *site = &report->sites.sites.items[share->site];
	uint64_t age_ns = time_ns > block->time_ns ? time_ns - block->time_ns : 0;
	uint32_t bucket = heap_lifetime_bucket(age_ns);

	site->lifetime_ns += sum.blocks * (double)age_ns;
	report->sites.lifetimes.items[share->site].blocks[bucket] += sum.blocks;
	heap_timeline_remove(&report->timeline, report->totals.live, sum);
	if (report->spans.slice_ns > 0)
		heap_spans_add(&report->spans, block->share, block->time_ns, time_ns, sum, 0);
	if (by == ID_NONE)
		return;
	heap_sum_add(&report->threads.items[by].freed, sum);
	if (by != share->thread) {
		site->foreign_blocks += sum.blocks;
		report->totals.foreign_blocks += sum.blocks;
		report->threads.items[by].foreign_blocks += sum.blocks;
	}
}

static inline void heap_account_temporary(struct heap_account *account,
					  const struct heap_block *block, uint64_t time_ns)
{
	struct heap_report *report = &account->report;
	struct heap_share *share = &report->sites.shares.items[block->share];
	double blocks = heap_account_sum(account, block).blocks;

	if (report->spans.slice_ns > 0)
		heap_spans_add(&report->spans, block->share, block->time_ns, time_ns,
			       (struct heap_sum){0}, blocks);
	share->temporary_blocks += blocks;
	report->totals.temporary_blocks += blocks;
	report->threads.items[share->thread].temporary_blocks += blocks;
	report->classes[heap_class_of(block->size)].temporary_blocks += blocks;
}

/* Counts a new block. 0 or -ENOMEM. */
static inline __attribute__((always_inline)) int heap_account_allocated(
	struct heap_account *account, const struct heap_block *block,
	const struct heap_event *event)
{
	struct heap_report *report = &account->report;
	struct heap_totals *totals = &report->totals;
	struct heap_sum sum = heap_account_sum(account, block);
	struct heap_share *share = &report->sites.shares.items[block->share];
	struct heap_site *site = &report->sites.sites.items[share->site];
	int r = heap_account_change(account, block, sum);

	heap_sum_add(&share->allocated, sum);
	heap_sum_add(&report->threads.items[share->thread].allocated, sum);
	heap_sum_add(&report->classes[heap_class_of(block->size)].allocated, sum);
	if (block->rate != 0)
		heap_sum_add(&totals->allocated_variance, heap_account_variance(sum));
	totals->calls[event->call < HEAP_CALLS ? event->call : HEAP_MALLOC] += sum.blocks;
	totals->slack_bytes += sum.blocks * event->slack;
	site->slack_bytes += sum.blocks * event->slack;
	site->last_ns = block->time_ns;
	if (block->size < site->size_min)
		site->size_min = block->size;
	if (block->size > site->size_max)
		site->size_max = block->size;
	if (event->call == HEAP_REALLOC)
		site->reallocs += sum.blocks;
	heap_account_peak(account, block->share, block->time_ns);
	heap_timeline_add(&report->timeline, totals->live, sum);
	return r;
}

#endif
