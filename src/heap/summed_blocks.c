/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/summed_blocks.h"

#include "base/id_index.h"
#include "heap/event_order.h"
#include "heap/report.h"

static struct heap_sum sum_of(const struct heap_event *event)
{
	return (struct heap_sum){.bytes = (double)event->size, .blocks = (double)event->address};
}

static void add(struct heap_sum *sum, struct heap_sum more)
{
	sum->bytes += more.bytes;
	sum->blocks += more.blocks;
}

bool heap_total_is_wanted(struct heap_report *report, const struct heap_event *event,
			  uint64_t from_ns)
{
	if (event->stack == ID_NONE) {
		report->quality.bad++;
		return false;
	}
	report->quality.only_totals += event->address;
	if (report->threads.items[heap_event_thread(event)].wanted && event->time_ns >= from_ns)
		return true;
	add(&report->totals.unwanted, sum_of(event));
	return false;
}

void heap_total_count(struct heap_report *report, const struct heap_event *event, uint32_t share,
		      uint64_t time_ns)
{
	struct heap_share *to = &report->sites.shares.items[share];
	struct heap_site *site = &report->sites.sites.items[to->site];

	add(&to->allocated, sum_of(event));
	add(&report->threads.items[to->thread].allocated, sum_of(event));
	report->totals.calls[HEAP_MALLOC] += sum_of(event).blocks;
	site->last_ns = time_ns;
	if (site->size_min == UINT64_MAX) /* only an average is known */
		site->size_min = site->size_max = event->size / event->address;
	heap_timeline_add(&report->timeline, report->totals.live, sum_of(event));
}
