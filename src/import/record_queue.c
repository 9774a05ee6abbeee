/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/record_queue.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

/*
 * A round of frame-pointer samples is some megabytes on a large machine; copied stacks need more.
 */
#define LIMIT_BYTES (64u << 20)

void record_queue_init(struct record_queue *queue, record_queue_fn *fn, void *self)
{
	*queue = (struct record_queue){.limit_bytes = LIMIT_BYTES, .fn = fn, .self = self};
}

void record_queue_fini(struct record_queue *queue)
{
	vec_fini(&queue->records);
	bytes_fini(&queue->data);
	bytes_fini(&queue->spare);
}

/* Records with equal times stay in order of arrival. */
static int compare(const void *a, const void *b)
{
	const struct queued_record *x = a;
	const struct queued_record *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void sort(struct record_queue *queue)
{
	const struct queued_record *items = queue->records.items;
	bool sorted = true;
	size_t i;

	for (i = 1; i < queue->records.count && sorted; i++)
		sorted = compare(&items[i - 1], &items[i]) < 0;
	if (!sorted)
		qsort(queue->records.items, queue->records.count, sizeof(*items), compare);
}

static const struct perf_event_header *record_at(const struct record_queue *queue, size_t i)
{
	return (const void *)(queue->data.data + queue->records.items[i].offset);
}

/* Drops the first n records. */
static int drop(struct record_queue *queue, size_t n)
{
	struct bytes kept = queue->spare;
	size_t i;

	bytes_clear(&kept);
	for (i = n; i < queue->records.count; i++) {
		const struct perf_event_header *record = record_at(queue, i);
		size_t size = ((size_t)record->size + 7) / 8 * 8;

		queue->records.items[i - n] = (struct queued_record){
			.time_ns = queue->records.items[i].time_ns, .offset = kept.size};
		bytes_put(&kept, record, size);
	}
	queue->records.count -= n;
	queue->spare = queue->data;
	queue->data = kept;
	return kept.failed ? -ENOMEM : 0;
}

/* Delivers records that are not newer than this, but at least this many. */
static int public_error(struct record_queue *queue, uint64_t until_ns, size_t least)
{
	size_t i;
	int r = 0;

	sort(queue);
	for (i = 0; i < queue->records.count && r == 0; i++) {
		if (i >= least && queue->records.items[i].time_ns > until_ns)
			break;
		r = queue->fn(queue->self, record_at(queue, i));
	}
	return r < 0 ? r : drop(queue, i);
}

int record_queue_put(struct record_queue *queue, uint64_t time_ns, const uint8_t *record,
		     size_t size)
{
	struct queued_record item = {.time_ns = time_ns, .offset = queue->data.size};
	size_t padded = (size + 7) / 8 * 8;
	uint8_t *place = bytes_reserve(&queue->data, padded);
	int r = place ? vec_push(&queue->records, item) : -ENOMEM;

	if (r < 0)
		return r;
	memcpy(place, record, size);
	memset(place + size, 0, padded - size);
	queue->data.size += padded;
	if (time_ns > queue->newest_ns)
		queue->newest_ns = time_ns;
	if (queue->data.size < queue->limit_bytes)
		return 0;
	return public_error(queue, 0, queue->records.count / 2 + 1);
}

int record_queue_round(struct record_queue *queue)
{
	int r = public_error(queue, queue->round_ns, 0);

	queue->round_ns = queue->newest_ns;
	return r;
}

int record_queue_end(struct record_queue *queue)
{
	return public_error(queue, UINT64_MAX, 0);
}
