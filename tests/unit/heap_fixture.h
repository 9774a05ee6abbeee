/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_HEAP_FIXTURE_H
#define WICK_TESTS_HEAP_FIXTURE_H

/*
 * heap_fixture: a small recording of the heap with something of everything, always the
 * same. Stack k has one frame, at 0x1000 + k. Event i of thread t is at address
 * 0x10000 * t + 16 * …, so that all can be told from each other.
 */

#include <stddef.h>
#include <stdint.h>

#include "model/heap_event.h"
#include "recording_fixture.h"

#define HEAP_FIXTURE_ROUNDS 8u
#define HEAP_FIXTURE_THREADS 3u
#define HEAP_FIXTURE_BATCH 20u
#define HEAP_FIXTURE_EVENTS (HEAP_FIXTURE_ROUNDS * HEAP_FIXTURE_THREADS * HEAP_FIXTURE_BATCH)
#define HEAP_FIXTURE_START_NS 7000000000ull
#define HEAP_FIXTURE_ROUND_NS 100000u

/* What the event is, but for its stack. */
static inline struct heap_event heap_fixture_event(uint32_t round, uint32_t thread, uint32_t i)
{
	uint32_t number = round * HEAP_FIXTURE_BATCH + i;
	struct heap_event event = {
		.address = 0x10000ull * (thread + 1) + 16ull * (number % 7),
		.time_ns = HEAP_FIXTURE_START_NS + round * HEAP_FIXTURE_ROUND_NS + i * 700,
		.stack = UINT32_MAX,
		.cpu = (uint16_t)(number / 9 % 3),
		.op = number % 11 == 0   ? HEAP_RATE
		      : number % 5 == 1  ? HEAP_MOVE
		      : number % 10 == 2 ? HEAP_KEPT
		      : number % 2 == 0  ? HEAP_ALLOC
					 : HEAP_FREE,
		.call = (uint8_t)(number / 3 % HEAP_CALLS),
	};

	if (event.op == HEAP_ALLOC) {
		event.size = 1ull << number % 64;
		event.slack = number % 3 == 0 ? 24 : number;
		event.stack = (number + thread) % 13;
	} else if (event.op == HEAP_RATE) {
		event.size = 512u * 1024 * (number % 2);
		event.address = 0;
	}
	return event;
}

static inline int heap_fixture_stack(const struct sink *sink, uint32_t module, uint32_t k,
				     uint32_t *ret)
{
	struct frame frame = {FRAME_NATIVE, module, 0x1000 + k};

	return sink_stack(sink, &frame, 1, ret);
}

static inline int heap_fixture_batch(const struct sink *sink, uint32_t module, uint32_t round,
				     uint32_t thread_index, uint32_t thread, struct error *err)
{
	struct heap_event events[HEAP_FIXTURE_BATCH];
	struct heap_batch batch = {.thread = thread, .count = HEAP_FIXTURE_BATCH, .events = events};
	int r = 0;

	for (uint32_t i = 0; i < HEAP_FIXTURE_BATCH; i++) {
		events[i] = heap_fixture_event(round, thread_index, i);
		if (events[i].op == HEAP_ALLOC)
			r |= heap_fixture_stack(sink, module, events[i].stack, &events[i].stack);
	}
	return r | sink_heap(sink, &batch, err);
}

/* Writes the recording to fd, which it takes. */
static inline int heap_fixture_write(int fd, uint64_t epoch_bytes, struct error *err)
{
	const struct process process = {.pid = 9, .comm = "shop", .executable = "/usr/bin/shop"};
	const struct module module = {.kind = MODULE_FILE, .path = "/usr/bin/shop"};
	uint32_t threads[HEAP_FIXTURE_THREADS];
	struct recording_writer *writer;
	const struct sink *sink;
	uint32_t process_id;
	uint32_t module_id;
	int r = fixture_begin(fd, epoch_bytes, &writer, err);

	if (r < 0)
		return r;
	sink = recording_writer_sink(writer);
	r = sink_process(sink, &process, &process_id);
	r |= sink_module(sink, &module, &module_id);
	for (uint32_t i = 0; i < HEAP_FIXTURE_THREADS; i++)
		r |= sink_thread(sink, &(struct thread){process_id, 9 + i, "shop"}, &threads[i]);
	for (uint32_t round = 0; round < HEAP_FIXTURE_ROUNDS; round++) {
		for (uint32_t i = 0; i < HEAP_FIXTURE_THREADS; i++)
			r |= heap_fixture_batch(sink, module_id, round, i, threads[i], err);
		r |= sink_heap_until(
			sink, HEAP_FIXTURE_START_NS + (round + 1) * HEAP_FIXTURE_ROUND_NS, err);
		if (round % 2 == 1)
			r |= recording_writer_flush(writer, err);
	}
	return fixture_finish(writer, r, err);
}

#endif
