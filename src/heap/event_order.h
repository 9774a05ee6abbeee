/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_EVENT_ORDER_H
#define WICK_HEAP_EVENT_ORDER_H

/*
 * event_order: sorts the events of several threads by time.
 *
 * Each thread's events are in order, but those of several threads overlap. Events wait until
 * nothing earlier can arrive; then they are merged. If one thread has the only events for a while,
 * these are passed on in place without looking at each.
 *
 * Events with equal times keep the order in which their threads were first seen.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/heap_event.h"

#define HEAP_ORDER_STAGE 512u

struct heap_queue {
	VEC(struct heap_event) events;
	size_t ready;     /* events before the limit */
	size_t head;      /* the first that was not passed on */
	uint64_t last_ns; /* time of the newest */
};

/* All zero is empty. */
struct heap_order {
	VEC(struct heap_queue) queues;
	VEC(uint32_t) queue_of; /* by thread: its queue; ID_NONE: none yet */
	VEC(uint32_t) turns;    /* queues with ready events: a binary heap by their heads */
	uint64_t until_ns;      /* events before this time were passed on */
	uint64_t late;          /* events that arrived after that */
	uint64_t backward;      /* events earlier than one before them in their own thread */
	size_t staged;
	struct heap_event stage[HEAP_ORDER_STAGE];
};

/* Receives events in order; heap_event_thread() returns their thread. 0 or a negative errno. */
typedef int heap_events_fn(void *self, const struct heap_event *events, size_t count);

/* Only for events that were passed on. */
static inline uint32_t heap_event_thread(const struct heap_event *event)
{
	return event->zero;
}

/* Copies a batch. 0 or -ENOMEM. */
int heap_order_add(struct heap_order *order, const struct heap_batch *batch);

/* Passes on all events before time_ns; UINT64_MAX: all. 0, -ENOMEM or what fn returned. */
int heap_order_until(struct heap_order *order, uint64_t time_ns, heap_events_fn *fn, void *self);
void heap_order_fini(struct heap_order *order);

#endif
