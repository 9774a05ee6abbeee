/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/event_order.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/id_index.h"

/* Shorter runs of one thread are collected, because the receiver looks ahead in each batch. */
#define DIRECT_RUN 64u

void heap_order_fini(struct heap_order *order)
{
	for (size_t i = 0; i < order->queues.count; i++)
		vec_fini(&order->queues.items[i].events);
	vec_fini(&order->queues);
	vec_fini(&order->queue_of);
	vec_fini(&order->turns);
}

static struct heap_queue *queue_of(struct heap_order *order, uint32_t thread)
{
	while (order->queue_of.count <= thread)
		if (vec_push(&order->queue_of, ID_NONE) < 0)
			return NULL;
	if (order->queue_of.items[thread] == ID_NONE) {
		if (vec_push(&order->queues, (struct heap_queue){0}) < 0)
			return NULL;
		order->queue_of.items[thread] = (uint32_t)order->queues.count - 1;
	}
	return &order->queues.items[order->queue_of.items[thread]];
}

int heap_order_add(struct heap_order *order, const struct heap_batch *batch)
{
	struct heap_queue *queue = queue_of(order, batch->thread);
	struct heap_event *to;

	if (!queue || vec_reserve(&queue->events, queue->events.count + batch->count) < 0)
		return -ENOMEM;
	to = queue->events.items + queue->events.count;
	for (size_t i = 0; i < batch->count; i++) {
		to[i] = batch->events[i];
		to[i].zero = batch->thread;
		if (to[i].time_ns < queue->last_ns) {
			order->backward++;
			to[i].time_ns = queue->last_ns;
		}
		queue->last_ns = to[i].time_ns;
		order->late += to[i].time_ns < order->until_ns;
	}
	queue->events.count += batch->count;
	return 0;
}

static uint64_t head_ns(const struct heap_order *order, uint32_t queue)
{
	const struct heap_queue *at = &order->queues.items[queue];

	return at->events.items[at->head].time_ns;
}

static bool comes_before(const struct heap_order *order, uint32_t a, uint32_t b)
{
	uint64_t a_ns = head_ns(order, a);
	uint64_t b_ns = head_ns(order, b);

	return a_ns != b_ns ? a_ns < b_ns : a < b;
}

/* Sifts an item of the binary heap down. */
static void sink(struct heap_order *order, size_t at)
{
	uint32_t *turns = order->turns.items;

	for (;;) {
		size_t first = at;
		uint32_t moved = turns[at];

		for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++)
			if (child < order->turns.count &&
			    comes_before(order, turns[child], turns[first]))
				first = child;
		if (first == at)
			return;
		turns[at] = turns[first];
		turns[first] = moved;
		at = first;
	}
}

static int flush(struct heap_order *order, heap_events_fn *fn, void *self)
{
	size_t count = order->staged;

	order->staged = 0;
	return count > 0 ? fn(self, order->stage, count) : 0;
}

static int public_error(struct heap_order *order, const struct heap_event *events, size_t count,
			heap_events_fn *fn, void *self)
{
	int r = 0;

	if (count < DIRECT_RUN) {
		if (order->staged + count > HEAP_ORDER_STAGE)
			r = flush(order, fn, self);
		memcpy(order->stage + order->staged, events, count * sizeof(*events));
		order->staged += count;
		return r;
	}
	r = flush(order, fn, self);
	return r < 0 ? r : fn(self, events, count);
}

/* How many events of the queue come before those of all others. */
static size_t run_length(const struct heap_order *order, const struct heap_queue *queue,
			 uint64_t until_ns)
{
	size_t end = queue->head + 1;

	if (order->turns.count == 1)
		return queue->ready - queue->head;
	while (end < queue->ready && queue->events.items[end].time_ns < until_ns)
		end++;
	return end - queue->head;
}

static int take_turns(struct heap_order *order, heap_events_fn *fn, void *self)
{
	uint32_t *turns = order->turns.items;
	int r = 0;

	for (size_t i = order->turns.count / 2; i-- > 0;)
		sink(order, i);
	while (order->turns.count > 0 && r == 0) {
		struct heap_queue *queue = &order->queues.items[turns[0]];
		size_t first = queue->head;
		uint64_t next_ns = UINT64_MAX;
		size_t count;

		for (size_t i = 1; i <= 2 && i < order->turns.count; i++)
			if (head_ns(order, turns[i]) < next_ns)
				next_ns = head_ns(order, turns[i]);
		count = run_length(order, queue, next_ns);
		queue->head += count;
		if (queue->head == queue->ready)
			turns[0] = turns[--order->turns.count];
		sink(order, 0);
		r = public_error(order, queue->events.items + first, count, fn, self);
	}
	return r < 0 ? r : flush(order, fn, self);
}

/* Drops events that were passed on; moves the rest to the front. */
static void forget(struct heap_order *order)
{
	for (size_t i = 0; i < order->queues.count; i++) {
		struct heap_queue *queue = &order->queues.items[i];
		size_t left = queue->events.count - queue->head;

		if (left > 0 && queue->head > 0)
			memmove(queue->events.items, queue->events.items + queue->head,
				left * sizeof(*queue->events.items));
		queue->head = 0;
		queue->events.count = left;
		if (left == 0 && order->queues.count > 1) /* thousands of threads may have ended */
			vec_fini(&queue->events);
	}
}

static size_t count_ready(const struct heap_queue *queue, uint64_t time_ns)
{
	size_t low = 0;
	size_t high = queue->events.count;

	while (low < high && time_ns != UINT64_MAX) {
		size_t middle = low + (high - low) / 2;

		if (queue->events.items[middle].time_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return high;
}

int heap_order_until(struct heap_order *order, uint64_t time_ns, heap_events_fn *fn, void *self)
{
	int r;

	if (vec_reserve(&order->turns, order->queues.count) < 0)
		return -ENOMEM;
	order->turns.count = 0;
	for (uint32_t i = 0; i < order->queues.count; i++) {
		struct heap_queue *queue = &order->queues.items[i];

		queue->ready = count_ready(queue, time_ns);
		if (queue->ready > 0)
			order->turns.items[order->turns.count++] = i;
	}
	if (time_ns > order->until_ns)
		order->until_ns = time_ns;
	r = take_turns(order, fn, self);
	forget(order);
	return r;
}
