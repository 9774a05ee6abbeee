/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/heap_codec.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/id_index.h"
#include "recording/format.h"

#define COUNT 20000u

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 20;
}

static void encode(const struct heap_event *events, const uint32_t *threads, size_t n,
		   struct bytes *ret)
{
	struct heap_encoder encoder = {0};

	assert_int_equal(heap_encoder_begin(&encoder, 77), 0);
	for (size_t i = 0; i < n; i++) {
		heap_encoder_thread(&encoder, threads ? threads[i] : 5);
		heap_encoder_add(&encoder, &events[i], &events[i].stack, 1);
	}
	assert_int_equal(heap_encoder_finish(&encoder, 1234, ret), 0);
	heap_encoder_fini(&encoder);
}

static void assert_same_event(const struct heap_event *event, const struct heap_event *truth)
{
	struct heap_event rounded = *truth;

	rounded.time_ns = truth->time_ns / TIME_TICK_NS * TIME_TICK_NS;
	assert_memory_equal(event, &rounded, sizeof(rounded));
}

/* Encodes events, decodes them and compares; returns the size in between. */
static size_t round_trip(const struct heap_event *events, const uint32_t *threads, size_t n)
{
	struct heap_decoder decoder = {0};
	struct bytes payload = {0};
	size_t size;
	size_t at = 0;

	encode(events, threads, n, &payload);
	assert_int_equal(heap_decoder_run(&decoder, payload.data, payload.size, NULL), 0);
	assert_int_equal(decoder.first_event, 77);
	assert_int_equal(decoder.until_ns, 1234 * TIME_TICK_NS);
	assert_int_equal(decoder.events.count, n);
	for (size_t i = 0; i < decoder.runs.count; i++)
		for (size_t k = 0; k < decoder.runs.items[i].count; k++, at++) {
			assert_int_equal(decoder.runs.items[i].thread, threads ? threads[at] : 5);
			assert_same_event(&decoder.events.items[at], &events[at]);
		}
	assert_int_equal(at, n);
	size = payload.size;
	heap_decoder_fini(&decoder);
	bytes_fini(&payload);
	return size;
}

static void any_events_come_back(void **state)
{
	static struct heap_event events[COUNT];
	static uint32_t threads[COUNT];
	uint64_t random = 1;

	for (size_t i = 0; i < COUNT; i++) {
		uint64_t old = i > 0 ? next_random(&random) % i : 0;

		events[i] = (struct heap_event){
			.address = next_random(&random) << next_random(&random) % 30,
			.size = next_random(&random) >> next_random(&random) % 44,
			.time_ns = next_random(&random) << next_random(&random) % 20,
			.stack = (uint32_t)(next_random(&random) >> next_random(&random) % 44),
			.slack = (uint32_t)(next_random(&random) >> next_random(&random) % 44),
			.cpu = (uint16_t)(next_random(&random) >> 40),
			.op = (uint8_t)(next_random(&random) % HEAP_OPS),
			.call = (uint8_t)(next_random(&random) % HEAP_CALLS),
		};
		if (next_random(&random) % 4 > 0)
			events[i].address = events[old].address;
		if (next_random(&random) % 4 == 0)
			events[i].stack = ID_NONE;
		threads[i] = next_random(&random) % 8 > 0 && i > 0
				     ? threads[i - 1]
				     : (uint32_t)(next_random(&random) >> 20);
	}
	(void)round_trip(events, threads, COUNT);
	(void)round_trip(events, NULL, 1);
}

static void extremes_come_back(void **state)
{
	static const struct heap_event events[] = {
		{UINT64_MAX, 1ull << 63, UINT64_MAX, UINT32_MAX - 1, UINT32_MAX, UINT16_MAX,
		 HEAP_ALLOC, HEAP_POOL, 0},
		{0, 0, 0, 0, 0, 0, HEAP_ALLOC, HEAP_MALLOC, 0},
		{0, 0, 0, ID_NONE, 0, 0, HEAP_FREE, HEAP_MALLOC, 0},
		{1, UINT64_MAX - 1, 1, ID_NONE, 0, 1, HEAP_ALLOC, HEAP_CALLOC, 0},
		{1ull << 63, 24, 1000, 1, 0, 1, HEAP_ALLOC, HEAP_NEW, 0},
		{1ull << 63, 0, UINT64_MAX / 2, ID_NONE, 0, 2, HEAP_MOVE, 0, 0},
		{1ull << 63, 0, UINT64_MAX / 2, ID_NONE, 0, 2, HEAP_KEPT, 0, 0},
		{0, 1ull << 62, 0, ID_NONE, 0, 2, HEAP_RATE, 0, 0},
		{0, 0, 0, ID_NONE, 0, 2, HEAP_RATE, 0, 0},
		{UINT64_MAX, 7, 0, 3, 9, 2, HEAP_FREE, HEAP_NEW_ARRAY, 0},
	};
	const uint32_t threads[] = {0, 0, UINT32_MAX - 1, 0, 1, 1, 1, 2, 2, 2};

	(void)round_trip(events, NULL, sizeof(events) / sizeof(*events));
	(void)round_trip(events, threads, sizeof(events) / sizeof(*events));
	(void)round_trip(events, NULL, 0);
}

/* A chunk whose events all differ in what they can, and whose frees come late. */
static void a_full_chunk_of_new_things_comes_back(void **state)
{
	size_t n = CHUNK_MAX_HEAP_EVENTS;
	struct heap_event *events = calloc(n, sizeof(*events));
	uint32_t *threads = calloc(n, sizeof(*threads));

	assert_non_null(events);
	assert_non_null(threads);
	for (size_t i = 0; i < n; i++) {
		bool is_old = i >= n / 2;

		events[i] = (struct heap_event){
			.address = 0x7f0000000000 + (is_old ? i - n / 2 : i) * 48,
			.size = is_old ? 0 : i,
			.slack = is_old ? 0 : 1,
			.stack = is_old ? ID_NONE : (uint32_t)i,
			.op = is_old ? HEAP_FREE : HEAP_ALLOC,
			.time_ns = i * 500,
		};
		threads[i] = (uint32_t)i;
	}
	(void)round_trip(events, NULL, n);
	(void)round_trip(events, threads, n);
	for (size_t i = 0; i < n; i++) {
		events[i].stack = (uint32_t)i;
		events[i].op = HEAP_ALLOC;
	}
	(void)round_trip(events, NULL, n);
	free(events);
	free(threads);
}

/* As programs do: the same few sizes from the same places, freed soon, places used again. */
static size_t make_program(struct heap_event *events, size_t n)
{
	uint64_t live[64];
	size_t live_count = 0;
	uint64_t random = 3;
	uint64_t time_ns = 1000000000;

	for (size_t i = 0; i < n; i++) {
		uint32_t stack = (uint32_t)(i / 2 % 40);

		time_ns += next_random(&random) % 500;
		events[i] = (struct heap_event){.time_ns = time_ns, .stack = ID_NONE, .cpu = 1};
		if (live_count < 2 || (live_count < 20 && i % 2 == 0)) {
			events[i].size = 16 + stack * 8;
			events[i].slack = stack % 2 == 0 ? 8 : 0;
			events[i].stack = stack;
			events[i].address = 0x5000 + live_count * 512;
			live[live_count++] = events[i].address;
		} else {
			events[i].op = HEAP_FREE;
			events[i].address = live[--live_count];
		}
	}
	return n;
}

static void what_programs_do_takes_few_bytes(void **state)
{
	static struct heap_event events[COUNT];
	size_t n = make_program(events, COUNT);

	/* A byte for the site and one for the address; sizes, slacks, times of some. */
	assert_true(round_trip(events, NULL, n) < 4 * n);
}

/* Each payload is a legal one with something wrong in it. */
static void what_cannot_be_is_refused(void **state)
{
	static const uint8_t many[] = {0x81, 0x80, 4, 0, 1, 0};
	static const uint8_t no_columns[] = {1, 0, 1, 0};
	static const uint8_t no_site[] = {1, 0, 1, 0, 1, 3, 0, 1, 0, 4, 1, 2, 8, 1, 255};
	static const uint8_t no_thread[] = {1, 0, 1, 0, 2, 1, 1, 4, 1, 1, 8, 1, 255, 9, 1, 0};
	static const uint8_t no_event_before[] = {1, 0, 1, 0, 1, 3, 0, 1,  0, 2, 1,
						  1, 4, 1, 1, 8, 1, 1, 10, 1, 0};
	static const uint8_t bad_op[] = {1, 0, 1, 0, 1, 3,   0, 1, 0, 2,  1, 7,
					 4, 1, 1, 8, 1, 255, 9, 1, 0, 10, 1, 0};
	static const uint8_t good[] = {1, 0, 1, 0, 1, 3,   0, 1, 0, 2,  1, 1,
				       4, 1, 1, 8, 1, 255, 9, 1, 2, 10, 1, 0};
	static const uint8_t bad_time[] = {1, 0, 1, 0, 1, 3,   0, 1, 0, 2,  1, 1,
					   4, 1, 1, 8, 1, 255, 9, 1, 2, 10, 1, 1};
	const struct {
		const uint8_t *data;
		size_t size;
	} bad[] = {{many, sizeof(many)},
		   {no_columns, sizeof(no_columns)},
		   {no_site, sizeof(no_site)},
		   {no_thread, sizeof(no_thread)},
		   {no_event_before, sizeof(no_event_before)},
		   {bad_op, sizeof(bad_op)},
		   {bad_time, sizeof(bad_time)}};
	struct heap_decoder decoder = {0};

	assert_int_equal(heap_decoder_run(&decoder, good, sizeof(good), NULL), 0);
	assert_int_equal(decoder.events.count, 1);
	assert_int_equal(decoder.events.items[0].address, 16);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(heap_decoder_run(&decoder, bad[i].data, bad[i].size, NULL),
				 -EBADMSG);
		assert_int_equal(decoder.events.count, 0);
	}
	heap_decoder_fini(&decoder);
}

static void cut_and_changed_payloads_do_no_harm(void **state)
{
	static struct heap_event events[300];
	struct heap_decoder decoder = {0};
	struct bytes payload = {0};
	uint64_t random = 9;

	encode(events, NULL, make_program(events, 300), &payload);
	for (size_t n = 0; n < payload.size; n++) {
		uint8_t *copy = malloc(n + 1); /* so that a look beyond its end shows */

		assert_non_null(copy);
		memcpy(copy, payload.data, n);
		(void)heap_decoder_run(&decoder, copy, n, NULL);
		free(copy);
	}
	for (size_t i = 0; i < 4000; i++) {
		size_t at = next_random(&random) % payload.size;
		uint8_t was = payload.data[at];

		payload.data[at] = (uint8_t)next_random(&random);
		(void)heap_decoder_run(&decoder, payload.data, payload.size, NULL);
		for (size_t k = 0; k < decoder.events.count; k++)
			assert_true(decoder.events.items[k].op < HEAP_OPS);
		payload.data[at] = was;
	}
	heap_decoder_fini(&decoder);
	bytes_fini(&payload);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_events_come_back),
		cmocka_unit_test(extremes_come_back),
		cmocka_unit_test(a_full_chunk_of_new_things_comes_back),
		cmocka_unit_test(what_programs_do_takes_few_bytes),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(cut_and_changed_payloads_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
