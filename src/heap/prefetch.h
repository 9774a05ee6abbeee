/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_PREFETCH_H
#define WICK_HEAP_PREFETCH_H

/*
 * prefetch: prefetches the memory that upcoming events will need: first the slot of the block, from
 * that the share, from that the site.
 *
 * While these fit into a near cache, prefetching gains nothing.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id_index.h"
#include "heap/event_order.h"
#include "heap/live_blocks.h"
#include "heap/report.h"

/* How many events ahead. */
#define HEAP_PREFETCH_SLOT 18u
#define HEAP_PREFETCH_SHARE 12u
#define HEAP_PREFETCH_SITE 6u
#define HEAP_PREFETCH_GUESSES 32u

/* This many slots, and this many sites with their data, fit into a near cache. */
#define HEAP_NEAR_SLOTS (32u << 10)
#define HEAP_NEAR_SITES (32u << 10)

struct heap_prefetch {
	const struct heap_live *live;
	const struct heap_report *report;
	uint32_t guesses[HEAP_PREFETCH_GUESSES]; /*
						  * shares of upcoming events, by position
						  */
};

/* The home slot of a block. */
static inline const struct heap_block *heap_prefetch_first(const struct heap_prefetch *ahead,
							   const struct heap_event *event)
{
	const struct heap_thread *thread = &ahead->report->threads.items[heap_event_thread(event)];
	uint32_t space = heap_space_of(thread->space, event->op == HEAP_MOVE ? 0 : event->call);

	return &ahead->live->slots[heap_live_home(ahead->live, space, event->address)];
}

static inline void heap_prefetch_slot(const struct heap_prefetch *ahead,
				      const struct heap_event *event)
{
	__builtin_prefetch(heap_prefetch_first(ahead, event), 1);
}

/*
 * The share that an event probably concerns, ID_NONE if unclear. Whether an event allocates or
 * frees is unpredictable, so this computes both instead of branching.
 */
static inline uint32_t heap_prefetch_guess(const struct heap_prefetch *ahead,
					   const struct heap_event *event)
{
	const struct id_index *index = &ahead->report->sites.share_index;
	const struct heap_block *slot = heap_prefetch_first(ahead, event);
	struct id_probe probe =
		id_index_probe(index, heap_share_hash(event->stack, heap_event_thread(event)));
	struct id_slot allocates = index->slots[probe.at];
	uint32_t of_free = slot->address == event->address ? slot->share : ID_NONE;
	uint32_t of_allocation = allocates.hash == probe.hash ? allocates.id : ID_NONE;

	return event->op == HEAP_ALLOC ? of_allocation : of_free;
}

/* Prefetches what the events after position at need. */
static inline void heap_prefetch_all(struct heap_prefetch *ahead, const struct heap_event *events,
				     size_t at, size_t count)
{
	const struct heap_sites *sites = &ahead->report->sites;
	uint32_t guess;

	if (at + HEAP_PREFETCH_SLOT < count) {
		const struct heap_event *event = &events[at + HEAP_PREFETCH_SLOT];

		heap_prefetch_slot(ahead, event);
		id_index_prefetch(&sites->share_index,
				  heap_share_hash(event->stack, heap_event_thread(event)));
	}
	if (at + HEAP_PREFETCH_SHARE < count) {
		guess = heap_prefetch_guess(ahead, &events[at + HEAP_PREFETCH_SHARE]);
		guess = guess < sites->shares.count ? guess : 0;
		ahead->guesses[(at + HEAP_PREFETCH_SHARE) % HEAP_PREFETCH_GUESSES] = guess;
		__builtin_prefetch(&sites->shares.items[guess], 1);
		__builtin_prefetch(&sites->shares.items[guess].temporary_blocks, 1);
	}
	if (at + HEAP_PREFETCH_SITE < count) {
		const struct heap_event *event = &events[at + HEAP_PREFETCH_SITE];
		uint64_t born_ns =
			ahead->report->begin_ns + heap_prefetch_first(ahead, event)->time_ns;
		uint32_t bucket = heap_lifetime_bucket(event->time_ns - born_ns);
		uint32_t site;

		guess = ahead->guesses[(at + HEAP_PREFETCH_SITE) % HEAP_PREFETCH_GUESSES];
		site = sites->shares.items[guess].site;
		__builtin_prefetch(&sites->sites.items[site], 1);
		__builtin_prefetch(&sites->sites.items[site].slack_bytes, 1);
		__builtin_prefetch(&sites->lifetimes.items[site].blocks[bucket], 1);
	}
}

#endif
