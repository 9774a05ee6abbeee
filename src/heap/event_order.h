/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_EVENT_ORDER_H
#define WICK_HEAP_EVENT_ORDER_H

/*
 * event_order: events of several threads, put in order of time.
 *
 * Each thread's events are in order, those of several threads overlap. They wait until it is
 * known that nothing earlier comes; then threads take turns, and a thread that is alone for
 * a while has its events handed out from where they wait, without a look at each.
 *
 * Events of one time keep the order in which their threads were first heard of.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/heap_event.h"

#define HEAP_ORDER_STAGE 512u

struct heap_queue {
	VEC(struct heap_event) events;
	size_t ready;     /* those before the moment in question */
	size_t head;      /* the first that was not handed out */
	uint64_t last_ns; /* of the newest */
};

/* All zero is an empty one. */
struct heap_order {
	VEC(struct heap_queue) queues;
	VEC(uint32_t) queue_of; /* by thread: its queue; ID_NONE: none yet */
	VEC(uint32_t) turns;    /* queues with ready events: a binary heap by their heads */
	uint64_t until_ns;      /* what was before this is handed out */
	uint64_t late;          /* events that came behind that moment */
	uint64_t backward;      /* events earlier than one before them in their own thread */
	size_t staged;
	struct heap_event stage[HEAP_ORDER_STAGE];
};

/* Gets events in order; heap_event_thread() tells whose they are. 0 or a negative errno. */
typedef int heap_events_fn(void *self, const struct heap_event *events, size_t count);

/* Of events that were handed out. */
static inline uint32_t heap_event_thread(const struct heap_event *event)
{
	return event->zero;
}

/* Takes a copy of a batch. 0 or -ENOMEM. */
int heap_order_add(struct heap_order *order, const struct heap_batch *batch);

/* Hands out all events before time_ns; UINT64_MAX: all. 0, -ENOMEM or what fn returned. */
int heap_order_until(struct heap_order *order, uint64_t time_ns, heap_events_fn *fn, void *self);
void heap_order_fini(struct heap_order *order);

#endif
