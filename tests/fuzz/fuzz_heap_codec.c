/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Feeds the decoder of heap events with whatever comes, and what it makes of that to the
 * encoder: the same events must come out of it.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "recording/format.h"
#include "recording/heap_codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void encode_again(const struct heap_decoder *decoder, struct bytes *out)
{
	static struct heap_encoder encoder;
	const struct heap_event *event = decoder->events.items;

	if (heap_encoder_begin(&encoder, decoder->first_event) < 0)
		abort();
	for (size_t i = 0; i < decoder->runs.count; i++) {
		heap_encoder_thread(&encoder, decoder->runs.items[i].thread);
		for (size_t k = 0; k < decoder->runs.items[i].count; k++, event++)
			heap_encoder_add(&encoder, event, &event->stack, 1);
	}
	if (heap_encoder_finish(&encoder, 0, out) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct heap_decoder first;
	static struct heap_decoder second;
	struct bytes payload = {0};

	if (heap_decoder_run(&first, data, size, NULL) < 0)
		return 0;
	if (first.events.count > CHUNK_MAX_HEAP_EVENTS)
		abort();
	encode_again(&first, &payload);
	if (heap_decoder_run(&second, payload.data, payload.size, NULL) < 0 ||
	    second.events.count != first.events.count)
		abort();
	for (size_t i = 0; i < first.events.count; i++) {
		first.events.items[i].time_ns -= first.events.items[i].time_ns % TIME_TICK_NS;
		if (memcmp(&first.events.items[i], &second.events.items[i],
			   sizeof(struct heap_event)) != 0)
			abort();
	}
	bytes_fini(&payload);
	return 0;
}
