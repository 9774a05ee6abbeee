/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/heap_log.h"

#include <errno.h>

#include "base/error.h"
#include "model/dictionary.h"
#include "recording/dictionary_encoder.h"
#include "recording/format.h"

/* Events that are coded together. */
#define AT_ONCE 64u

void heap_log_fini(struct heap_log *log)
{
	heap_encoder_fini(&log->encoder);
}

int heap_log_check(const struct heap_batch *batch, struct error *err)
{
	int bad = 0;
	size_t i;

	for (i = 0; i < batch->count; i++) /* without branches */
		bad |= (batch->events[i].op >= HEAP_OPS) | (batch->events[i].call >= HEAP_CALLS) |
		       (batch->events[i].size == UINT64_MAX);
	if (!bad)
		return 0;
	return error_advise(err, error_set(err, -EINVAL, "the recording has an invalid allocation"),
			    RECORDING_REPORT);
}

static int begin_chunk(struct heap_log *log)
{
	int r = log->begun ? 0 : heap_encoder_begin(&log->encoder, log->count);

	if (r == 0)
		log->begun = true;
	return r;
}

/* Encodes some events. Looks up the numbers of all stacks first, because their tables are large. */
static void add_some(struct heap_log *log, struct dictionary_encoder *dictionary,
		     const struct heap_event *events, size_t n)
{
	uint32_t stacks[AT_ONCE];
	size_t i;

	for (i = 0; i < n; i++)
		stacks[i] = events[i].stack == ID_NONE
				    ? ID_NONE
				    : dictionary_encoder_stack(dictionary, events[i].stack);
	heap_encoder_add(&log->encoder, events, stacks, n);
}

int heap_log_add(struct heap_log *log, struct dictionary_encoder *dictionary,
		 const struct heap_batch *batch, size_t max_pending_bytes, size_t *at)
{
	bool is_full = false;
	int r = begin_chunk(log);

	if (r < 0)
		return r;
	heap_encoder_thread(&log->encoder, dictionary_encoder_thread(dictionary, batch->thread));
	while (*at < batch->count && !is_full) {
		size_t room = CHUNK_MAX_HEAP_EVENTS - log->encoder.count;
		size_t n = batch->count - *at;

		if (n > room)
			n = room;
		if (n > AT_ONCE)
			n = AT_ONCE;
		add_some(log, dictionary, batch->events + *at, n);
		*at += n;
		log->count += n;
		is_full = n == room || dictionary_encoder_pending(dictionary) > max_pending_bytes;
	}
	return is_full;
}

/* In clock ticks, rounded down as for events, so that a later event is never before it. */
void heap_log_until(struct heap_log *log, uint64_t time_ns)
{
	uint64_t ticks = time_ns / TIME_TICK_NS;

	if (ticks <= log->until_ticks)
		return;
	log->until_ticks = ticks;
	log->until_waits = true;
}

int heap_log_encode(struct heap_log *log, struct bytes *out)
{
	int r;

	if (!log->begun && !log->until_waits)
		return 0;
	r = begin_chunk(log);
	if (r == 0)
		r = heap_encoder_finish(&log->encoder, log->until_ticks, out);
	if (r < 0)
		return r;
	log->begun = false;
	log->until_waits = false;
	return 1;
}
