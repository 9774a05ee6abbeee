/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/analysis.h"

#include <errno.h>
#include <stdlib.h>

#include "heap/account.h"
#include "heap/clock_skew.h"
#include "heap/event_order.h"
#include "heap/live_blocks.h"
#include "heap/placement.h"
#include "heap/prefetch.h"
#include "heap/report.h"
#include "heap/summed_blocks.h"
#include "model/dictionary.h"
#include "model/memory_reading.h"

#define RECENT 1024u

/* Slots that may be looked at to forget blocks, see may_scan(). */
#define FREE_SCANS (UINT64_C(1) << 24)
#define SCANS_AN_EVENT 64u

/* Inlining everything that runs for each event saves a fifth of the time. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* A block that realloc is moving, until the result is known. */
struct moving {
	struct heap_block block; /* address 0: none */
	uint64_t time_ns;
};

/* A recently used share. */
struct recent {
	uint32_t stack;
	uint32_t thread;
	uint32_t share;
	bool known;
};

struct heap_analysis {
	struct heap_config config;
	struct heap_order order;
	struct heap_live live;
	struct heap_rates rates;
	VEC(struct moving) moving; /* by thread */
	struct heap_clock_skew
		displaced; /* blocks replaced at their address: their frees may still arrive */
	struct heap_clock_skew early; /* unmatched frees: their allocations may still arrive */
	struct recent recent[RECENT];
	uint64_t scanned; /* slots, to forget blocks */
	struct heap_prefetch ahead;
	bool begun;
	struct heap_account account;
	struct heap_placement placement; /* with config.addresses */
	/*
	 * Blocks of pools are inside other blocks, so they are analysed separately, by an analysis
	 * that receives only their events. NULL: none yet.
	 */
	struct heap_analysis *pools;
};

/* The analysis of pools uses the rates of the main one. */
static struct heap_analysis *make(const struct heap_config *config, struct heap_rates *rates)
{
	struct heap_analysis *analysis = calloc(1, sizeof(*analysis));

	if (!analysis)
		return NULL;
	analysis->config = *config;
	if (config->to_ns == 0)
		analysis->config.to_ns = UINT64_MAX;
	heap_account_init(&analysis->account, rates ? rates : &analysis->rates,
			  config->step_ns ? config->step_ns : HEAP_STEP_NS);
	analysis->account.report.begin_ns = config->begin_ns;
	analysis->account.report.spans.slice_ns = config->slice_ns;
	analysis->begun = config->begin_ns > 0;
	analysis->ahead.live = &analysis->live;
	analysis->ahead.report = &analysis->account.report;
	return analysis;
}

static void unmake(struct heap_analysis *analysis)
{
	heap_order_fini(&analysis->order);
	heap_live_fini(&analysis->live);
	heap_rates_fini(&analysis->rates);
	heap_placement_fini(&analysis->placement, &analysis->account.report);
	heap_account_fini(&analysis->account);
	vec_fini(&analysis->moving);
	free(analysis);
}

int heap_analysis_new(const struct heap_config *config, struct heap_analysis **ret)
{
	struct heap_analysis *analysis = make(config, NULL);

	if (!analysis)
		return -ENOMEM;
	if (config->addresses &&
	    heap_placement_init(&analysis->placement, &analysis->account.report) < 0) {
		heap_analysis_free(analysis);
		return -ENOMEM;
	}
	*ret = analysis;
	return 0;
}

void heap_analysis_free(struct heap_analysis *analysis)
{
	if (!analysis)
		return;
	if (analysis->pools)
		unmake(analysis->pools);
	unmake(analysis);
}

const struct heap_live *heap_analysis_live(const struct heap_analysis *analysis)
{
	return &analysis->live;
}

double heap_analysis_weight(struct heap_analysis *analysis, const struct heap_block *block)
{
	return heap_weight(analysis->account.rates, block->rate, block->size);
}

const struct heap_report *heap_analysis_report(const struct heap_analysis *analysis)
{
	return &analysis->account.report;
}

/* The half that an event may be. */
static struct heap_half half_of(const struct heap_event *event, uint32_t space, uint64_t time_ns)
{
	return (struct heap_half){.address = event->address,
				  .time_ns = time_ns,
				  .space = space,
				  .thread = heap_event_thread(event),
				  .share = ID_NONE};
}

/* Adds a block to the placement, or removes it with a sign of -1. 0 or -ENOMEM. */
static int place(struct heap_analysis *analysis, const struct heap_block *block, double sign)
{
	if (!analysis->config.addresses)
		return 0;
	return heap_placement_change(
		&analysis->account.report, block,
		sign * heap_weight(analysis->account.rates, block->rate, block->size));
}

/* A block was allocated at the address of a live one, whose free is missing or late. */
static int displace(struct heap_analysis *analysis, const struct heap_block *old,
		    const struct heap_event *event, uint64_t time_ns)
{
	struct heap_half half = half_of(event, old->space, time_ns);
	int r;

	half.share = old->share;
	heap_clock_skew_add(&analysis->displaced, &half);
	analysis->account.report.quality.missed_frees++;
	if (old->share == ID_NONE)
		return 0;
	r = heap_account_change(&analysis->account, old,
				heap_sum_minus(heap_account_sum(&analysis->account, old)));
	heap_account_freed(&analysis->account, old, time_ns, ID_NONE);
	return r;
}

/*
 * Whether a free is the late free of a displaced block: by another thread, within the clock skew.
 * Then it was counted already, except for its thread.
 */
static bool is_late_free(struct heap_analysis *analysis, const struct heap_half *half)
{
	struct heap_report *report = &analysis->account.report;
	const struct heap_share *share;
	struct heap_half old;

	if (!heap_clock_skew_take(&analysis->displaced, half, &old))
		return false;
	report->quality.swapped++;
	report->quality.missed_frees--;
	if (old.share == ID_NONE)
		return true;
	share = &report->sites.shares.items[old.share];
	if (share->thread != half->thread) {
		report->totals.foreign_blocks++;
		report->threads.items[half->thread].foreign_blocks++;
		report->sites.sites.items[share->site].foreign_blocks++;
	}
	return true;
}

/* The block that realloc was moving has become another one, or nothing. */
static void settle_moving(struct heap_analysis *analysis, uint32_t thread)
{
	struct moving *moving = &analysis->moving.items[thread];

	if (moving->block.address != 0 && moving->block.share != ID_NONE) {
		heap_account_freed(&analysis->account, &moving->block, moving->time_ns, thread);
		heap_account_moved(&analysis->account, &moving->block);
	}
	moving->block.address = 0;
}

/* Looks up the share of an allocation. 0 or -ENOMEM. */
static __attribute__((noinline)) int look_up(struct heap_analysis *analysis,
					     const struct heap_event *event, uint64_t time_ns,
					     struct recent *recent)
{
	uint32_t thread = heap_event_thread(event);

	*recent = (struct recent){.stack = event->stack, .thread = thread};
	recent->share =
		heap_sites_share(&analysis->account.report.sites, event->stack, thread, time_ns);
	recent->known = recent->share != ID_NONE;
	return recent->known ? 0 : -ENOMEM;
}

/* Finds the share of an allocation, mostly a recently used one. */
static ALWAYS_INLINE int find_share(struct heap_analysis *analysis, const struct heap_event *event,
				    uint64_t time_ns, uint32_t *ret)
{
	uint32_t thread = heap_event_thread(event);
	struct recent *recent = &analysis->recent[(event->stack + thread * 61) % RECENT];
	int r = 0;

	if (!recent->known || recent->stack != event->stack || recent->thread != thread)
		r = look_up(analysis, event, time_ns, recent);
	*ret = recent->share;
	return r;
}

static uint8_t rate_of(const struct heap_analysis *analysis, const struct heap_thread *thread)
{
	return heap_rates_of(analysis->account.rates, thread->space / HEAP_SPACES);
}

/*
 * Makes the block of an allocation; it has a share if it counts. 0 or -ENOMEM. Inlining it twice
 * saves a tenth of the time.
 */
static ALWAYS_INLINE int make_block(struct heap_analysis *analysis, const struct heap_event *event,
				    uint64_t time_ns, struct heap_block *ret)
{
	uint32_t id = heap_event_thread(event);
	struct heap_thread *thread = &analysis->account.report.threads.items[id];

	*ret = (struct heap_block){
		.address = event->address,
		.time_ns = time_ns,
		.rate = rate_of(analysis, thread),
		.size = event->size < HEAP_SIZE_MAX ? event->size : HEAP_SIZE_MAX,
		.slack = event->slack < HEAP_SLACK_MAX ? event->slack : HEAP_SLACK_MAX,
		.share = ID_NONE,
		.space = heap_space_of(thread->space, event->call),
	};
	thread->last_address = event->address;
	if (event->call == HEAP_REALLOC)
		settle_moving(analysis, id);
	if (thread->wanted && event->time_ns >= analysis->config.from_ns)
		return find_share(analysis, event, time_ns, &ret->share);
	heap_sum_add(&analysis->account.report.totals.unwanted,
		     heap_account_sum(&analysis->account, ret));
	return 0;
}

static ALWAYS_INLINE int take_allocation(struct heap_analysis *analysis,
					 const struct heap_event *event, uint64_t time_ns)
{
	struct heap_block block;
	struct heap_block *slot;
	int r = make_block(analysis, event, time_ns, &block);

	if (r < 0 || heap_live_reserve(&analysis->live) < 0)
		return -ENOMEM;
	slot = heap_live_slot(&analysis->live, block.space, block.address);
	if (slot->address == 0) {
		heap_live_fill(&analysis->live, slot, &block);
	} else {
		struct heap_block old = *slot;

		*slot = block;
		r = displace(analysis, &old, event, time_ns);
		if (r == 0)
			r = place(analysis, &old, -1);
	}
	if (r == 0)
		r = place(analysis, &block, 1);
	if (r < 0 || block.share == ID_NONE)
		return r;
	return heap_account_allocated(&analysis->account, &block, event);
}

/*
 * Handles an allocation while unmatched frees are pending. If it was already freed, it is allocated
 * and freed at once; a block at its address now is newer. 1, 0 if it was not freed, or -ENOMEM.
 */
static __attribute__((noinline)) int take_passing(struct heap_analysis *analysis,
						  const struct heap_event *event, uint64_t time_ns)
{
	struct heap_report *report = &analysis->account.report;
	struct heap_half half = half_of(
		event,
		heap_space_of(report->threads.items[heap_event_thread(event)].space, event->call),
		time_ns);
	struct heap_block block;

	if (!heap_clock_skew_take(&analysis->early, &half, &half))
		return 0;
	report->quality.swapped++;
	report->quality.unknown_frees -= half.counted;
	heap_misuses_matched(&report->misuses, half.space, half.address);
	if (make_block(analysis, event, time_ns, &block) < 0)
		return -ENOMEM;
	if (block.share == ID_NONE)
		return 1;
	if (heap_account_allocated(&analysis->account, &block, event) < 0 ||
	    heap_account_change(&analysis->account, &block,
				heap_sum_minus(heap_account_sum(&analysis->account, &block))) < 0)
		return -ENOMEM;
	heap_account_freed(&analysis->account, &block, time_ns, half.thread);
	return 1;
}

/* Removes a live block. 1, 0 if there is nothing to do, or -ENOMEM. */
static ALWAYS_INLINE int take_block(struct heap_analysis *analysis, const struct heap_event *event,
				    uint64_t time_ns, struct heap_block *ret)
{
	const struct heap_thread *thread =
		&analysis->account.report.threads.items[heap_event_thread(event)];
	uint32_t space =
		heap_space_of(thread->space, event->op == HEAP_FREE ? event->call : HEAP_MALLOC);
	struct heap_block *slot;

	if (analysis->displaced.count > 0) {
		struct heap_half half = half_of(event, space, time_ns);

		if (is_late_free(analysis, &half))
			return 0;
	}
	if (heap_live_reserve(&analysis->live) < 0)
		return -ENOMEM;
	slot = heap_live_slot(&analysis->live, space, event->address);
	if (slot->address == 0) {
		struct heap_half half = half_of(event, space, time_ns);

		half.counted = rate_of(analysis, thread) == 0 &&
			       analysis->account.report.quality.only_totals == 0;
		analysis->account.report.quality.unknown_frees += half.counted;
		heap_clock_skew_add(&analysis->early, &half);
		return half.counted && event->stack != ID_NONE
			       ? heap_misuses_unmatched(&analysis->account.report.misuses,
							analysis->config.dictionary, event, &half)
			       : 0;
	}
	*ret = *slot;
	heap_live_remove(&analysis->live, slot);
	if (place(analysis, ret, -1) < 0)
		return -ENOMEM;
	if (event->stack != ID_NONE &&
	    heap_misuses_freed(&analysis->account.report.misuses, event, ret,
			       &analysis->account.report.sites, time_ns) < 0)
		return -ENOMEM;
	if (ret->share == ID_NONE)
		return 1;
	return heap_account_change(&analysis->account, ret,
				   heap_sum_minus(heap_account_sum(&analysis->account, ret))) < 0
		       ? -ENOMEM
		       : 1;
}

/* Whether a block is freed by its own thread, which has not allocated since. */
static bool is_temporary(const struct heap_analysis *analysis, const struct heap_block *block,
			 const struct heap_event *event)
{
	const struct heap_report *report = &analysis->account.report;
	uint32_t thread = heap_event_thread(event);

	/* Between two sampled blocks there may have been any number of others. */
	if (block->rate != 0)
		return (event->slack & HEAP_FREE_AT_ONCE) != 0;
	return report->threads.items[thread].last_address == event->address &&
	       report->sites.shares.items[block->share].thread == thread;
}

static ALWAYS_INLINE int take_free(struct heap_analysis *analysis, const struct heap_event *event,
				   uint64_t time_ns)
{
	uint32_t id = heap_event_thread(event);
	struct heap_block block;
	int r = take_block(analysis, event, time_ns, &block);

	if (r <= 0 || block.share == ID_NONE)
		return r < 0 ? r : 0;
	heap_account_freed(&analysis->account, &block, time_ns, id);
	if (is_temporary(analysis, &block, event))
		heap_account_temporary(&analysis->account, &block, time_ns);
	return heap_account_mark(&analysis->account, id);
}

static int take_move(struct heap_analysis *analysis, const struct heap_event *event,
		     uint64_t time_ns)
{
	uint32_t id = heap_event_thread(event);
	struct moving *moving = &analysis->moving.items[id];
	struct heap_block block;
	int r;

	settle_moving(analysis, id); /* of a realloc that a signal interrupted for good */
	r = take_block(analysis, event, time_ns, &block);
	if (r <= 0)
		return r;
	*moving = (struct moving){.block = block, .time_ns = time_ns};
	return 0;
}

/* realloc failed: the block stays. */
static int take_kept(struct heap_analysis *analysis, const struct heap_event *event,
		     uint64_t time_ns)
{
	struct moving *moving = &analysis->moving.items[heap_event_thread(event)];
	struct heap_report *report = &analysis->account.report;
	struct heap_block *slot;
	int r;

	if (moving->block.address == 0)
		return 0;
	if (heap_live_reserve(&analysis->live) < 0)
		return -ENOMEM;
	slot = heap_live_slot(&analysis->live, moving->block.space, moving->block.address);
	if (slot->address != 0) { /* should not happen: another block is there now */
		report->quality.bad++;
		settle_moving(analysis, heap_event_thread(event));
		return 0;
	}
	heap_live_fill(&analysis->live, slot, &moving->block);
	moving->block.address = 0;
	if (place(analysis, slot, 1) < 0)
		return -ENOMEM;
	if (slot->share == ID_NONE)
		return 0;
	r = heap_account_change(&analysis->account, slot,
				heap_account_sum(&analysis->account, slot));
	heap_account_peak(&analysis->account, slot->share, time_ns);
	heap_timeline_add(&report->timeline, report->totals.live, (struct heap_sum){0});
	return r;
}

static int take_rate(struct heap_analysis *analysis, const struct heap_event *event)
{
	struct heap_report *report = &analysis->account.report;
	uint32_t process = report->threads.items[heap_event_thread(event)].space / HEAP_SPACES;

	report->sampled = report->sampled || event->size > 0 || event->address > 0;
	if (event->address > 0 && event->address <= UINT32_MAX)
		return heap_rates_set(&analysis->rates, process, HEAP_RATE_CHANCE | event->address,
				      0);
	return heap_rates_set(&analysis->rates, process, event->size & ~HEAP_RATE_CHANCE,
			      event->slack);
}

/*
 * Whether there was enough work to justify a look at all blocks. A program allocates what it
 * forgets; a file that forgets after each block of another process would take forever.
 */
static bool may_scan(struct heap_analysis *analysis)
{
	uint64_t limit = FREE_SCANS + SCANS_AN_EVENT * analysis->account.report.quality.events;

	analysis->scanned += analysis->live.capacity;
	return analysis->scanned <= limit;
}

/* Frees all live blocks of a process. 0 or -ENOMEM. */
static int forget_blocks(struct heap_analysis *analysis, uint32_t process, uint64_t time_ns)
{
	struct heap_live *live = &analysis->live;

	if (live->count > 0 && !may_scan(analysis)) {
		analysis->account.report.quality.bad++;
		return 0;
	}
	for (size_t i = 0; i < live->capacity && live->count > 0;) {
		struct heap_block block = live->slots[i];

		if (block.address == 0 || block.space / HEAP_SPACES != process) {
			i++;
			continue;
		}
		heap_live_remove(live, &live->slots[i]); /* may move the next one here */
		if (place(analysis, &block, -1) < 0)
			return -ENOMEM;
		if (block.share == ID_NONE)
			continue;
		if (heap_account_change(
			    &analysis->account, &block,
			    heap_sum_minus(heap_account_sum(&analysis->account, &block))) < 0)
			return -ENOMEM;
		heap_account_freed(&analysis->account, &block, time_ns, ID_NONE);
	}
	return 0;
}

static int take_forget(struct heap_analysis *analysis, const struct heap_event *event,
		       uint64_t time_ns)
{
	uint32_t id = heap_event_thread(event);
	uint32_t process = analysis->account.report.threads.items[id].space / HEAP_SPACES;
	int r = forget_blocks(analysis, process, time_ns);

	return r == 0 && analysis->pools ? forget_blocks(analysis->pools, process, time_ns) : r;
}

static int take_total(struct heap_analysis *analysis, const struct heap_event *event,
		      uint64_t time_ns)
{
	uint32_t share;

	if (!heap_total_is_wanted(&analysis->account.report, event, analysis->config.from_ns))
		return 0;
	if (find_share(analysis, event, time_ns, &share) < 0)
		return -ENOMEM;
	heap_total_count(&analysis->account.report, event, share, time_ns);
	heap_spans_add(&analysis->account.report.spans, share, time_ns, time_ns,
		       (struct heap_sum){(double)event->size, (double)event->address}, 0);
	return 0;
}

static ALWAYS_INLINE int take_event(struct heap_analysis *analysis, const struct heap_event *event)
{
	struct heap_report *report = &analysis->account.report;
	uint64_t time_ns =
		event->time_ns > report->begin_ns ? event->time_ns - report->begin_ns : 0;
	int r;

	if (event->time_ns >= analysis->config.to_ns)
		return 0;
	report->quality.events++;
	if (time_ns > HEAP_TIME_MAX || event->op >= HEAP_OPS ||
	    (event->address == 0 && (event->op < HEAP_KEPT || event->op == HEAP_TOTAL))) {
		report->quality.bad++;
		return 0;
	}
	if (heap_timeline_is_over(&report->timeline, time_ns) &&
	    heap_account_end_step(&analysis->account, time_ns) < 0)
		return -ENOMEM;
	if (analysis->config.addresses &&
	    heap_placement_advance(&analysis->placement, report, time_ns) < 0)
		return -ENOMEM;
	if (time_ns > report->end_ns)
		report->end_ns = time_ns;
	switch ((enum heap_op)event->op) {
	case HEAP_ALLOC:
		r = analysis->early.count > 0 ? take_passing(analysis, event, time_ns) : 0;
		return r == 0 ? take_allocation(analysis, event, time_ns) : r < 0 ? r : 0;
	case HEAP_FREE:
		return take_free(analysis, event, time_ns);
	case HEAP_MOVE:
		return take_move(analysis, event, time_ns);
	case HEAP_KEPT:
		return take_kept(analysis, event, time_ns);
	case HEAP_RATE:
		return take_rate(analysis, event);
	case HEAP_TOTAL:
		return take_total(analysis, event, time_ns);
	case HEAP_FORGET:
		return take_forget(analysis, event, time_ns);
	case HEAP_OPS:
		break;
	}
	return 0;
}

/* Creates the state of a thread. 0 or -ENOMEM. */
static int meet(struct heap_analysis *analysis, uint32_t id)
{
	struct heap_report *report = &analysis->account.report;

	while (report->threads.count <= id)
		if (vec_push(&report->threads, (struct heap_thread){.mark = UINT32_MAX}) < 0)
			return -ENOMEM;
	while (analysis->moving.count <= id)
		if (vec_push(&analysis->moving, (struct moving){0}) < 0)
			return -ENOMEM;
	return 0;
}

/* Whether an event concerns a block of a pool. */
static bool is_pooled(const struct heap_event *event)
{
	return event->call == HEAP_POOL && event->op <= HEAP_FREE;
}

/*
 * Handles an event of a pool; its analysis begins at the same time and has the same threads. 0 or
 * -ENOMEM.
 */
static __attribute__((noinline)) int take_pooled(struct heap_analysis *analysis,
						 const struct heap_event *event)
{
	uint32_t id = heap_event_thread(event);
	struct heap_analysis *pools = analysis->pools;
	struct heap_thread *thread;

	if (!pools) {
		pools = make(&analysis->config, analysis->account.rates);
		if (!pools)
			return -ENOMEM;
		pools->begun = true;
		pools->config.addresses = false; /* they are inside other blocks */
		pools->account.report.begin_ns = analysis->account.report.begin_ns;
		analysis->pools = pools;
	}
	if (meet(pools, id) < 0)
		return -ENOMEM;
	thread = &pools->account.report.threads.items[id];
	thread->space = analysis->account.report.threads.items[id].space;
	thread->wanted = analysis->account.report.threads.items[id].wanted;
	return take_event(pools, event);
}

static int take_events(void *self, const struct heap_event *events, size_t count)
{
	struct heap_analysis *analysis = self;
	bool far_sites = analysis->account.report.sites.sites.count > HEAP_NEAR_SITES;
	bool far_slots = analysis->live.capacity > HEAP_NEAR_SLOTS;
	int r = 0;

	if (!analysis->begun) {
		analysis->begun = true;
		analysis->account.report.begin_ns = events[0].time_ns;
	}
	for (size_t i = 0; i < count && r == 0; i++) {
		if (far_sites)
			heap_prefetch_all(&analysis->ahead, events, i, count);
		else if (far_slots && i + HEAP_PREFETCH_SHARE < count)
			heap_prefetch_slot(&analysis->ahead, &events[i + HEAP_PREFETCH_SHARE]);
		if (__builtin_expect(is_pooled(&events[i]), 0))
			r = take_pooled(analysis, &events[i]);
		else
			r = take_event(analysis, &events[i]);
	}
	return r;
}

/* Handles a thread that is seen for the first time. 0 or -ENOMEM. */
static int greet(struct heap_analysis *analysis, uint32_t id)
{
	const struct heap_config *config = &analysis->config;
	struct heap_thread *thread;

	if (meet(analysis, id) < 0)
		return -ENOMEM;
	thread = &analysis->account.report.threads.items[id];
	if (thread->known)
		return 0;
	thread->known = true;
	thread->space = config->dictionary->threads.items[id].process * HEAP_SPACES;
	thread->wanted = !config->wants || config->wants(config->self, id);
	return 0;
}

int heap_analysis_batch(struct heap_analysis *analysis, const struct heap_batch *batch)
{
	if (batch->thread >= analysis->config.dictionary->threads.count) {
		analysis->account.report.quality.bad += batch->count;
		return 0;
	}
	if (greet(analysis, batch->thread) < 0)
		return -ENOMEM;
	return heap_order_add(&analysis->order, batch);
}

int heap_analysis_until(struct heap_analysis *analysis, uint64_t time_ns)
{
	return heap_order_until(&analysis->order, time_ns, take_events, analysis);
}

int heap_analysis_memory(struct heap_analysis *analysis, uint32_t process,
			 const struct memory_reading *reading)
{
	uint64_t begin_ns = analysis->account.report.begin_ns;

	if (!analysis->config.addresses || reading->time_ns < begin_ns ||
	    reading->time_ns >= analysis->config.to_ns)
		return 0;
	return heap_placement_read(&analysis->placement, process, reading->time_ns - begin_ns,
				   reading);
}

/* Adds the spans of live blocks, which have no end. */
static void end_spans(struct heap_analysis *analysis)
{
	struct heap_spans *spans = &analysis->account.report.spans;

	for (size_t i = 0; i < analysis->live.capacity && spans->slice_ns > 0; i++) {
		const struct heap_block *block = &analysis->live.slots[i];

		if (block->address != 0 && block->share != ID_NONE)
			heap_spans_add(spans, block->share, block->time_ns, UINT64_MAX,
				       heap_account_sum(&analysis->account, block), 0);
	}
}

int heap_analysis_lengthen_slices(struct heap_analysis *analysis, uint64_t slice_ns)
{
	struct heap_spans *spans = &analysis->account.report.spans;
	struct heap_spans *pools = analysis->pools ? &analysis->pools->account.report.spans : NULL;

	if (pools && pools->slice_ns > slice_ns)
		slice_ns = pools->slice_ns;
	heap_spans_lengthen(spans, slice_ns);
	if (pools)
		heap_spans_lengthen(pools, spans->slice_ns);
	return spans->failed || (pools && pools->failed) ? -ENOMEM : 0;
}

/* Finishes after the last event. 0 or -ENOMEM. */
static int finish(struct heap_analysis *analysis, uint64_t end_ns)
{
	struct heap_report *report = &analysis->account.report;

	for (uint32_t i = 0; i < analysis->moving.count; i++)
		settle_moving(analysis, i);
	end_spans(analysis);
	heap_account_add_up(&analysis->account);
	if (analysis->config.addresses && heap_placement_finish(&analysis->placement, report) < 0)
		return -ENOMEM;
	report->end_ns = end_ns;
	if (heap_timeline_is_over(&report->timeline, end_ns) &&
	    heap_account_end_step(&analysis->account, end_ns) < 0)
		return -ENOMEM;
	/* The last step is as long as the others, though events end within it. */
	return heap_account_end_step(&analysis->account, report->timeline.end_ns);
}

/* Pools end at the same time as the main analysis. */
static int finish_pools(struct heap_analysis *analysis, uint64_t end_ns)
{
	struct heap_report *report = &analysis->account.report;
	struct heap_report *pools = &analysis->pools->account.report;

	report->pools = pools;
	report->quality.events += pools->quality.events;
	report->quality.unknown_frees += pools->quality.unknown_frees;
	report->quality.missed_frees += pools->quality.missed_frees;
	report->quality.swapped += pools->quality.swapped;
	report->quality.bad += pools->quality.bad;
	pools->sampled = report->sampled;
	return finish(analysis->pools, end_ns);
}

int heap_analysis_finish(struct heap_analysis *analysis)
{
	struct heap_report *report = &analysis->account.report;
	int r = heap_analysis_until(analysis, UINT64_MAX);
	uint64_t end_ns = report->end_ns;

	if (r == 0)
		r = heap_misuses_finish(&report->misuses);
	if (analysis->pools && analysis->pools->account.report.end_ns > end_ns)
		end_ns = analysis->pools->account.report.end_ns;
	if (r == 0 && analysis->pools)
		r = finish_pools(analysis, end_ns);
	report->quality.late = analysis->order.late;
	report->quality.backward = analysis->order.backward;
	return r < 0 ? r : finish(analysis, end_ns);
}
