/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/analysis.h"

#include <errno.h>
#include <stdlib.h>

#include "base/scope.h"
#include "heap/live.h"
#include "heap/order.h"
#include "heap/report.h"
#include "heap/skew.h"
#include "model/dictionary.h"

/*
 * How far ahead memory is asked for, in events: first for the slot of the block, with what that
 * says for the share, with that for the site.
 */
#define SLOT_AHEAD 18u
#define SHARE_AHEAD 12u
#define SITE_AHEAD 6u
#define GUESSES 32u

/*
 * As long as they are in a near cache there is nothing to be won by asking: that many slots, and
 * that many sites with all that is kept of them.
 */
#define NEAR_SLOTS (32u << 10)
#define NEAR_SITES (32u << 10)

#define RECENT 1024u

/* Rows of the histories of sites and of threads, of 40 bytes. */
#define HISTORY_LIMIT (256u << 10)

/* A block that realloc has taken from a thread, until it is known what became of it. */
struct moving {
	struct heap_block block; /* address 0: none */
	uint64_t time_ns;
};

/* Whose share was looked for. */
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
	VEC(uint8_t) process_rates; /* by process */
	VEC(struct moving) moving;  /* by thread */
	struct heap_skew displaced; /* blocks that others took the place of: their frees may come */
	struct heap_skew early;     /* frees of no block: their allocations may come */
	uint32_t serial;            /* of the step */
	struct recent recent[RECENT];
	uint32_t guesses[GUESSES]; /* of events to come, by their places: their shares */
	bool begun;
	struct heap_report report;
};

int heap_analysis_new(const struct heap_config *config, struct heap_analysis **ret)
{
	struct heap_analysis *analysis = calloc(1, sizeof(*analysis));

	if (!analysis)
		return -ENOMEM;
	analysis->config = *config;
	if (config->to_ns == 0)
		analysis->config.to_ns = UINT64_MAX;
	analysis->report.begin_ns = config->begin_ns;
	analysis->begun = config->begin_ns > 0;
	analysis->report.site_history.limit = HISTORY_LIMIT;
	analysis->report.thread_history.limit = HISTORY_LIMIT;
	heap_timeline_init(&analysis->report.timeline,
			   config->step_ns ? config->step_ns : HEAP_STEP_NS);
	*ret = analysis;
	return 0;
}

void heap_analysis_free(struct heap_analysis *analysis)
{
	if (!analysis)
		return;
	heap_order_fini(&analysis->order);
	heap_live_fini(&analysis->live);
	heap_sites_fini(&analysis->report.sites);
	heap_timeline_fini(&analysis->report.timeline);
	heap_history_fini(&analysis->report.site_history);
	heap_history_fini(&analysis->report.thread_history);
	vec_fini(&analysis->report.threads);
	vec_fini(&analysis->process_rates);
	vec_fini(&analysis->moving);
	free(analysis);
}

const struct heap_live *heap_analysis_live(const struct heap_analysis *analysis)
{
	return &analysis->live;
}

const struct heap_report *heap_analysis_report(const struct heap_analysis *analysis)
{
	return &analysis->report;
}

static uint32_t space_of(const struct heap_thread *thread, uint8_t call)
{
	return thread->space + (call == HEAP_MMAP   ? HEAP_SPACE_MMAP
				: call == HEAP_POOL ? HEAP_SPACE_POOL
						    : HEAP_SPACE_MALLOC);
}

static struct heap_sum sum_of(struct heap_analysis *analysis, const struct heap_block *block)
{
	double weight = heap_weight(&analysis->rates, block->rate, block->size);

	return (struct heap_sum){weight * (double)block->size, weight};
}

static void add(struct heap_sum *sum, struct heap_sum more)
{
	sum->bytes += more.bytes;
	sum->blocks += more.blocks;
}

static struct heap_sum minus(struct heap_sum sum)
{
	return (struct heap_sum){-sum.bytes, -sum.blocks};
}

static struct heap_sum variance_of(struct heap_sum sum)
{
	double variance = heap_weight_variance(sum.blocks);
	double size = sum.blocks > 0 ? sum.bytes / sum.blocks : 0;

	return (struct heap_sum){variance * size * size, variance};
}

/* Notes that a site and a thread changed in this step. 0 or -ENOMEM. */
static int mark(struct heap_analysis *analysis, uint32_t site, uint32_t thread)
{
	struct heap_report *report = &analysis->report;

	if (report->sites.sites.items[site].mark != analysis->serial) {
		report->sites.sites.items[site].mark = analysis->serial;
		if (vec_push(&report->site_history.changed, site) < 0)
			return -ENOMEM;
	}
	if (report->threads.items[thread].mark != analysis->serial) {
		report->threads.items[thread].mark = analysis->serial;
		return vec_push(&report->thread_history.changed, thread);
	}
	return 0;
}

/* Changes what is live by what a block comes to, or by as much less. 0 or -ENOMEM. */
static int change_live(struct heap_analysis *analysis, const struct heap_block *block,
		       struct heap_sum change)
{
	struct heap_report *report = &analysis->report;
	struct heap_totals *totals = &report->totals;
	struct heap_share *share = &report->sites.shares.items[block->share];
	struct heap_site *site = &report->sites.sites.items[share->site];
	struct heap_thread *thread = &report->threads.items[share->thread];
	uint64_t peak = totals->peak_number;

	heap_level_change(&share->level, peak, change);
	heap_level_change(&report->classes[heap_class_of(block->size)].level, peak, change);
	add(&totals->live, change);
	if (block->rate != 0)
		add(&totals->live_variance,
		    change.blocks > 0 ? variance_of(change) : minus(variance_of(minus(change))));
	add(&thread->live, change);
	site->live_bytes += change.bytes;
	if (thread->live.bytes > thread->most_bytes)
		thread->most_bytes = thread->live.bytes;
	return mark(analysis, share->site, share->thread);
}

/* To be called when something was added and is counted: it may be a peak. */
static void note_peak(struct heap_analysis *analysis, struct heap_site *site, uint64_t time_ns)
{
	struct heap_totals *totals = &analysis->report.totals;

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

/* Counts a block as freed by a thread (ID_NONE: not known which) that is no longer live. */
static void count_freed(struct heap_analysis *analysis, const struct heap_block *block,
			uint64_t time_ns, uint32_t by)
{
	struct heap_report *report = &analysis->report;
	struct heap_sum sum = sum_of(analysis, block);
	const struct heap_share *share = &report->sites.shares.items[block->share];
	struct heap_site *site = &report->sites.sites.items[share->site];
	uint64_t age_ns = time_ns > block->time_ns ? time_ns - block->time_ns : 0;
	uint32_t bucket = heap_lifetime_bucket(age_ns);

	site->lifetime_ns += sum.blocks * (double)age_ns;
	report->sites.lifetimes.items[share->site].blocks[bucket] += sum.blocks;
	heap_timeline_remove(&report->timeline, report->totals.live, sum);
	if (by == ID_NONE)
		return;
	add(&report->threads.items[by].freed, sum);
	if (by != share->thread) {
		site->foreign_blocks += sum.blocks;
		report->totals.foreign_blocks += sum.blocks;
		report->threads.items[by].foreign_blocks += sum.blocks;
	}
}

static void count_temporary(struct heap_analysis *analysis, const struct heap_block *block)
{
	struct heap_report *report = &analysis->report;
	struct heap_share *share = &report->sites.shares.items[block->share];
	double blocks = sum_of(analysis, block).blocks;

	share->temporary_blocks += blocks;
	report->totals.temporary_blocks += blocks;
	report->threads.items[share->thread].temporary_blocks += blocks;
	report->classes[heap_class_of(block->size)].temporary_blocks += blocks;
}

static void count_moved(struct heap_analysis *analysis, const struct heap_block *block)
{
	struct heap_report *report = &analysis->report;
	double blocks = sum_of(analysis, block).blocks;

	report->sites.sites.items[report->sites.shares.items[block->share].site].moved_blocks +=
		blocks;
	report->totals.moved_blocks += blocks;
}

/* What an event may be a half of. */
static struct heap_half half_of(const struct heap_event *event, uint32_t space, uint64_t time_ns)
{
	return (struct heap_half){.address = event->address,
				  .time_ns = time_ns,
				  .space = space,
				  .thread = heap_event_thread(event),
				  .share = ID_NONE};
}

/* A block has been allocated where one is live: the free of that one is missing, or late. */
static int displace(struct heap_analysis *analysis, const struct heap_block *old,
		    const struct heap_event *event, uint64_t time_ns)
{
	struct heap_half half = half_of(event, old->space, time_ns);
	int r;

	half.share = old->share;
	heap_skew_add(&analysis->displaced, &half);
	analysis->report.quality.missed_frees++;
	if (old->share == ID_NONE)
		return 0;
	r = change_live(analysis, old, minus(sum_of(analysis, old)));
	count_freed(analysis, old, time_ns, ID_NONE);
	return r;
}

/*
 * Whether a free is the late one of a block that was displaced: by another thread, within what
 * clocks may differ by. Then it was counted already, but for who has done it.
 */
static bool is_late_free(struct heap_analysis *analysis, const struct heap_half *half)
{
	struct heap_report *report = &analysis->report;
	const struct heap_share *share;
	struct heap_half old;

	if (!heap_skew_take(&analysis->displaced, half, &old))
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

/* What realloc had taken has become another block, or nothing. */
static void settle_moving(struct heap_analysis *analysis, uint32_t thread)
{
	struct moving *moving = &analysis->moving.items[thread];

	if (moving->block.address != 0 && moving->block.share != ID_NONE) {
		count_freed(analysis, &moving->block, moving->time_ns, thread);
		count_moved(analysis, &moving->block);
	}
	moving->block.address = 0;
}

/* Counts a new block. 0 or -ENOMEM. */
static inline __attribute__((always_inline)) int count_allocated(struct heap_analysis *analysis,
								 const struct heap_block *block,
								 const struct heap_event *event)
{
	struct heap_report *report = &analysis->report;
	struct heap_totals *totals = &report->totals;
	struct heap_sum sum = sum_of(analysis, block);
	struct heap_share *share = &report->sites.shares.items[block->share];
	struct heap_site *site = &report->sites.sites.items[share->site];
	int r = change_live(analysis, block, sum);

	add(&share->allocated, sum);
	add(&report->threads.items[share->thread].allocated, sum);
	add(&report->classes[heap_class_of(block->size)].allocated, sum);
	if (block->rate != 0)
		add(&totals->allocated_variance, variance_of(sum));
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
	note_peak(analysis, site, block->time_ns);
	heap_timeline_add(&report->timeline, totals->live, sum);
	return r;
}

/* The share that an allocation goes to: mostly one of those that were looked for lately. */
static int find_share(struct heap_analysis *analysis, const struct heap_event *event,
		      uint64_t time_ns, uint32_t *ret)
{
	uint32_t thread = heap_event_thread(event);
	struct recent *recent = &analysis->recent[(event->stack + thread * 61) % RECENT];

	if (!recent->known || recent->stack != event->stack || recent->thread != thread) {
		*recent = (struct recent){.stack = event->stack, .thread = thread};
		recent->share =
			heap_sites_share(&analysis->report.sites, event->stack, thread, time_ns);
		recent->known = recent->share != ID_NONE;
	}
	*ret = recent->share;
	return *ret == ID_NONE ? -ENOMEM : 0;
}

static uint8_t rate_of(const struct heap_analysis *analysis, const struct heap_thread *thread)
{
	uint32_t process = thread->space / HEAP_SPACES;

	return process < analysis->process_rates.count ? analysis->process_rates.items[process] : 0;
}

/*
 * The block of an allocation; it has a share when it counts. 0 or -ENOMEM. What is
 * done for each event is worth a copy for those few that are taken elsewhere: a tenth of the time.
 */
static inline __attribute__((always_inline)) int make_block(struct heap_analysis *analysis,
							    const struct heap_event *event,
							    uint64_t time_ns,
							    struct heap_block *ret)
{
	uint32_t id = heap_event_thread(event);
	struct heap_thread *thread = &analysis->report.threads.items[id];

	*ret = (struct heap_block){
		.address = event->address,
		.time_ns = time_ns,
		.rate = rate_of(analysis, thread),
		.size = event->size < HEAP_SIZE_MAX ? event->size : HEAP_SIZE_MAX,
		.share = ID_NONE,
		.space = space_of(thread, event->call),
	};
	thread->last_address = event->address;
	if (event->call == HEAP_REALLOC)
		settle_moving(analysis, id);
	if (thread->wanted && event->time_ns >= analysis->config.from_ns)
		return find_share(analysis, event, time_ns, &ret->share);
	add(&analysis->report.totals.unwanted, sum_of(analysis, ret));
	return 0;
}

static int take_allocation(struct heap_analysis *analysis, const struct heap_event *event,
			   uint64_t time_ns)
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
	}
	if (r < 0 || block.share == ID_NONE)
		return r;
	return count_allocated(analysis, &block, event);
}

/*
 * An allocation while frees of unknown blocks are kept in mind. One that has been freed already
 * comes and goes; what is there by now has come after it. 1, 0 when it has not, or -ENOMEM.
 */
static __attribute__((noinline)) int take_passing(struct heap_analysis *analysis,
						  const struct heap_event *event, uint64_t time_ns)
{
	struct heap_report *report = &analysis->report;
	struct heap_half half = half_of(
		event, space_of(&report->threads.items[heap_event_thread(event)], event->call),
		time_ns);
	struct heap_block block;

	if (!heap_skew_take(&analysis->early, &half, &half))
		return 0;
	report->quality.swapped++;
	report->quality.unknown_frees -= half.counted;
	if (make_block(analysis, event, time_ns, &block) < 0)
		return -ENOMEM;
	if (block.share == ID_NONE)
		return 1;
	if (count_allocated(analysis, &block, event) < 0 ||
	    change_live(analysis, &block, minus(sum_of(analysis, &block))) < 0)
		return -ENOMEM;
	count_freed(analysis, &block, time_ns, half.thread);
	return 1;
}

/* Takes a block out of those that are live. 1, 0 when there is nothing to be done, or -ENOMEM. */
static int take_block(struct heap_analysis *analysis, const struct heap_event *event,
		      uint64_t time_ns, struct heap_block *ret)
{
	const struct heap_thread *thread =
		&analysis->report.threads.items[heap_event_thread(event)];
	uint32_t space = space_of(thread, event->op == HEAP_FREE ? event->call : HEAP_MALLOC);
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

		half.counted = rate_of(analysis, thread) == 0;
		analysis->report.quality.unknown_frees += half.counted;
		heap_skew_add(&analysis->early, &half);
		return 0;
	}
	*ret = *slot;
	heap_live_remove(&analysis->live, slot);
	if (ret->share == ID_NONE)
		return 1;
	return change_live(analysis, ret, minus(sum_of(analysis, ret))) < 0 ? -ENOMEM : 1;
}

static int take_free(struct heap_analysis *analysis, const struct heap_event *event,
		     uint64_t time_ns)
{
	uint32_t id = heap_event_thread(event);
	struct heap_thread *thread = &analysis->report.threads.items[id];
	struct heap_block block;
	int r = take_block(analysis, event, time_ns, &block);

	if (r <= 0 || block.share == ID_NONE)
		return r < 0 ? r : 0;
	count_freed(analysis, &block, time_ns, id);
	if (thread->last_address == event->address &&
	    analysis->report.sites.shares.items[block.share].thread == id)
		count_temporary(analysis, &block);
	if (thread->mark == analysis->serial)
		return 0;
	thread->mark = analysis->serial;
	return vec_push(&analysis->report.thread_history.changed, id);
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

/* The block stays where it was. */
static int take_kept(struct heap_analysis *analysis, const struct heap_event *event,
		     uint64_t time_ns)
{
	struct moving *moving = &analysis->moving.items[heap_event_thread(event)];
	struct heap_report *report = &analysis->report;
	struct heap_block *slot;
	int r;

	if (moving->block.address == 0)
		return 0;
	if (heap_live_reserve(&analysis->live) < 0)
		return -ENOMEM;
	slot = heap_live_slot(&analysis->live, moving->block.space, moving->block.address);
	if (slot->address != 0) { /* it cannot be, but there is another block by now */
		report->quality.bad++;
		settle_moving(analysis, heap_event_thread(event));
		return 0;
	}
	heap_live_fill(&analysis->live, slot, &moving->block);
	moving->block.address = 0;
	if (slot->share == ID_NONE)
		return 0;
	r = change_live(analysis, slot, sum_of(analysis, slot));
	note_peak(analysis,
		  &report->sites.sites.items[report->sites.shares.items[slot->share].site],
		  time_ns);
	heap_timeline_add(&report->timeline, report->totals.live, (struct heap_sum){0});
	return r;
}

static int take_rate(struct heap_analysis *analysis, const struct heap_event *event)
{
	uint32_t process =
		analysis->report.threads.items[heap_event_thread(event)].space / HEAP_SPACES;

	while (analysis->process_rates.count <= process)
		if (vec_push(&analysis->process_rates, 0) < 0)
			return -ENOMEM;
	analysis->process_rates.items[process] = heap_rate_of(&analysis->rates, event->size);
	analysis->report.sampled = analysis->report.sampled || event->size > 0;
	return 0;
}

/* Tells of what changed in the step that is over, and begins the one that time_ns is in. */
static int end_step(struct heap_analysis *analysis, uint64_t time_ns)
{
	struct heap_report *report = &analysis->report;
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
	analysis->serial++;
	return r < 0 ? r : heap_timeline_advance(&report->timeline, time_ns);
}

static int take_event(struct heap_analysis *analysis, const struct heap_event *event)
{
	struct heap_report *report = &analysis->report;
	uint64_t time_ns =
		event->time_ns > report->begin_ns ? event->time_ns - report->begin_ns : 0;
	int r;

	if (event->time_ns >= analysis->config.to_ns)
		return 0;
	report->quality.events++;
	if (time_ns > HEAP_TIME_MAX || event->op >= HEAP_OPS ||
	    (event->address == 0 && event->op < HEAP_KEPT)) {
		report->quality.bad++;
		return 0;
	}
	if (heap_timeline_is_over(&report->timeline, time_ns) && end_step(analysis, time_ns) < 0)
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
	case HEAP_OPS:
		break;
	}
	return 0;
}

static uint32_t event_space(const struct heap_analysis *analysis, const struct heap_event *event)
{
	return space_of(&analysis->report.threads.items[heap_event_thread(event)],
			event->op == HEAP_MOVE ? HEAP_MALLOC : event->call);
}

/* The slot where a block is, if it is where it belongs first. */
static const struct heap_block *first_slot(const struct heap_analysis *analysis,
					   const struct heap_event *event)
{
	return &analysis->live.slots[heap_live_home(&analysis->live, event_space(analysis, event),
						    event->address)];
}

/*
 * What share an event is probably about, ID_NONE when that is not clear. Whether events allocate
 * or free is a toss-up, so both are looked at rather than asked for.
 */
static uint32_t guess_share(const struct heap_analysis *analysis, const struct heap_event *event)
{
	const struct id_index *index = &analysis->report.sites.share_index;
	const struct heap_block *slot = first_slot(analysis, event);
	struct id_probe probe =
		id_index_probe(index, heap_share_hash(event->stack, heap_event_thread(event)));
	struct id_slot allocates = index->slots[probe.at];
	uint32_t of_free = slot->address == event->address ? slot->share : ID_NONE;
	uint32_t of_allocation = allocates.hash == probe.hash ? allocates.id : ID_NONE;

	return event->op == HEAP_ALLOC ? of_allocation : of_free;
}

static void fetch_slot(const struct heap_analysis *analysis, const struct heap_event *event)
{
	__builtin_prefetch(first_slot(analysis, event), 1);
}

/* Asks for the memory that events to come are going to need. */
static void look_ahead(struct heap_analysis *analysis, const struct heap_event *events, size_t at,
		       size_t count)
{
	const struct heap_sites *sites = &analysis->report.sites;
	uint32_t guess;

	if (at + SLOT_AHEAD < count) {
		const struct heap_event *event = &events[at + SLOT_AHEAD];

		fetch_slot(analysis, event);
		id_index_prefetch(&sites->share_index,
				  heap_share_hash(event->stack, heap_event_thread(event)));
	}
	if (at + SHARE_AHEAD < count) {
		guess = guess_share(analysis, &events[at + SHARE_AHEAD]);
		guess = guess < sites->shares.count ? guess : 0;
		analysis->guesses[(at + SHARE_AHEAD) % GUESSES] = guess;
		__builtin_prefetch(&sites->shares.items[guess], 1);
		__builtin_prefetch(&sites->shares.items[guess].temporary_blocks, 1);
	}
	if (at + SITE_AHEAD < count) {
		const struct heap_event *event = &events[at + SITE_AHEAD];
		uint64_t born_ns = analysis->report.begin_ns + first_slot(analysis, event)->time_ns;
		uint32_t bucket = heap_lifetime_bucket(event->time_ns - born_ns);
		uint32_t site;

		guess = analysis->guesses[(at + SITE_AHEAD) % GUESSES];
		site = sites->shares.items[guess].site;
		__builtin_prefetch(&sites->sites.items[site], 1);
		__builtin_prefetch(&sites->sites.items[site].slack_bytes, 1);
		__builtin_prefetch(&sites->lifetimes.items[site].blocks[bucket], 1);
	}
}

static int take_events(void *self, const struct heap_event *events, size_t count)
{
	struct heap_analysis *analysis = self;
	bool far_sites = analysis->report.sites.sites.count > NEAR_SITES;
	bool far_slots = analysis->live.capacity > NEAR_SLOTS;
	int r = 0;

	if (!analysis->begun) {
		analysis->begun = true;
		analysis->report.begin_ns = events[0].time_ns;
	}
	for (size_t i = 0; i < count && r == 0; i++) {
		if (far_sites)
			look_ahead(analysis, events, i, count);
		else if (far_slots && i + SHARE_AHEAD < count)
			fetch_slot(analysis, &events[i + SHARE_AHEAD]);
		r = take_event(analysis, &events[i]);
	}
	return r;
}

/* Makes what is kept of a thread. 0 or -ENOMEM. */
static int meet(struct heap_analysis *analysis, uint32_t id)
{
	const struct dictionary *dictionary = analysis->config.dictionary;
	struct heap_report *report = &analysis->report;
	struct heap_thread *thread;

	while (report->threads.count <= id)
		if (vec_push(&report->threads, (struct heap_thread){.mark = UINT32_MAX}) < 0)
			return -ENOMEM;
	while (analysis->moving.count <= id)
		if (vec_push(&analysis->moving, (struct moving){0}) < 0)
			return -ENOMEM;
	thread = &report->threads.items[id];
	if (thread->known)
		return 0;
	thread->known = true;
	thread->space = dictionary->threads.items[id].process * HEAP_SPACES;
	thread->wanted =
		!analysis->config.wants || analysis->config.wants(analysis->config.self, id);
	return 0;
}

int heap_analysis_batch(struct heap_analysis *analysis, const struct heap_batch *batch)
{
	if (batch->thread >= analysis->config.dictionary->threads.count) {
		analysis->report.quality.bad += batch->count;
		return 0;
	}
	if (meet(analysis, batch->thread) < 0)
		return -ENOMEM;
	return heap_order_add(&analysis->order, batch);
}

int heap_analysis_until(struct heap_analysis *analysis, uint64_t time_ns)
{
	return heap_order_until(&analysis->order, time_ns, take_events, analysis);
}

/* What need not be kept while events come, for it is in what is kept. */
static void add_up(struct heap_report *report)
{
	struct heap_totals *totals = &report->totals;

	for (size_t i = 0; i < report->threads.count; i++)
		add(&totals->allocated, report->threads.items[i].allocated);
	totals->freed = totals->allocated;
	add(&totals->freed, minus(totals->live));
	for (size_t i = 0; i < report->sites.sites.count; i++)
		for (uint32_t bucket = 0; bucket < HEAP_LIFETIMES; bucket++) {
			double blocks = report->sites.lifetimes.items[i].blocks[bucket];

			report->sites.sites.items[i].freed_blocks += blocks;
			report->lifetimes.blocks[bucket] += blocks;
		}
}

int heap_analysis_finish(struct heap_analysis *analysis)
{
	struct heap_report *report = &analysis->report;
	int r = heap_analysis_until(analysis, UINT64_MAX);

	for (uint32_t i = 0; i < analysis->moving.count; i++)
		settle_moving(analysis, i);
	add_up(report);
	report->quality.late = analysis->order.late;
	report->quality.backward = analysis->order.backward;
	/* The last step is as long as the others, though events end within it. */
	return r < 0 ? r : end_step(analysis, report->timeline.end_ns);
}
