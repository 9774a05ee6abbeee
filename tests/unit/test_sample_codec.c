/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/sample_codec.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recording/format.h"

#define COUNT 5000u

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 20;
}

/* Encodes samples, decodes them and compares; returns the size in between. */
static size_t round_trip(const struct coded_sample *samples, size_t n, uint64_t period_ns,
			 uint32_t first_stack)
{
	struct sample_encoder encoder = {0};
	struct sample_decoder decoder = {0};
	struct bytes payload = {0};
	size_t size;

	sample_encoder_begin(&encoder, 3, period_ns, 77, first_stack);
	for (size_t i = 0; i < n; i++)
		sample_encoder_add(&encoder, &samples[i]);
	assert_int_equal(sample_encoder_finish(&encoder, &payload), 0);
	assert_int_equal(sample_decoder_run(&decoder, payload.data, payload.size), 0);
	assert_int_equal(decoder.schema, 3);
	assert_int_equal(decoder.first_sample, 77);
	assert_int_equal(decoder.samples.count, n);
	for (size_t i = 0; i < n; i++) {
		const struct coded_sample *sample = &decoder.samples.items[i];

		assert_int_equal(sample->stack, samples[i].stack);
		assert_int_equal(sample->thread, samples[i].thread);
		assert_int_equal(sample->cpu, samples[i].cpu);
		assert_int_equal(sample->labels, samples[i].labels);
		assert_int_equal(sample->weight, samples[i].weight);
		assert_int_equal(sample->time_ns, samples[i].time_ns / TIME_TICK_NS * TIME_TICK_NS);
	}
	size = payload.size;
	sample_encoder_fini(&encoder);
	sample_decoder_fini(&decoder);
	bytes_fini(&payload);
	return size;
}

static void any_samples_come_back(void **state)
{
	static struct coded_sample samples[COUNT];
	uint64_t random = 1;

	for (size_t i = 0; i < COUNT; i++)
		samples[i] = (struct coded_sample){
			.stack = (uint32_t)(next_random(&random) >> next_random(&random) % 44),
			.thread = (uint32_t)(next_random(&random) % 9),
			.cpu = (uint32_t)(next_random(&random) % RECORDING_MAX_CPUS),
			.labels = (uint32_t)(next_random(&random) % 3),
			.time_ns = next_random(&random) << next_random(&random) % 20,
			.weight = next_random(&random) << next_random(&random) % 20,
		};
	samples[9].weight = UINT64_MAX - 1;
	samples[10].stack = UINT32_MAX - 1;
	samples[11].thread = UINT32_MAX - 1;
	(void)round_trip(samples, COUNT, 1000000, 0);
	(void)round_trip(samples, COUNT, 0, 50);
	(void)round_trip(samples, 1, 1, 0);
}

static void regular_samples_shrink_to_constants(void **state)
{
	static struct coded_sample samples[COUNT];

	for (uint32_t i = 0; i < COUNT; i++)
		samples[i] = (struct coded_sample){.stack = 100 + i,
						   .thread = 4,
						   .time_ns = 1000000000 + i * 1000000ull,
						   .weight = 1000000};
	assert_true(round_trip(samples, COUNT, 1000000, 100) < 3 * COUNT + 100);
	for (uint32_t i = 0; i < COUNT; i++) {
		samples[i].time_ns = 1000000;
		samples[i].weight = 0;
		samples[i].stack = 300;
	}
	assert_true(round_trip(samples, COUNT, 0, 0) < COUNT + 100);
}

static void times_may_go_back(void **state)
{
	struct coded_sample samples[100];

	for (uint32_t i = 0; i < 100; i++)
		samples[i] = (struct coded_sample){.cpu = i % 3, .time_ns = (100 - i) * 5000000ull};
	samples[50].time_ns = UINT64_MAX;
	samples[51].time_ns = 0;
	(void)round_trip(samples, 100, 1000000, 0);
}

static void damaged_columns_are_refused(void **state)
{
	static const struct {
		uint8_t bytes[16];
		size_t size;
	} payloads[] = {
		{{0}, 3},                                         /* an unfinished head */
		{{0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 9}, 13},    /* a column past the end */
		{{0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 5}, 14}, /* fewer codes than samples */
		{{0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 7, 1, 5}, 14}, /* an unknown encoding */
		{{0, 0x81, 0x80, 4, 0, 1, 0, 0, 0, 0, 0, 0}, 12}, /* too many samples */
	};

	for (size_t i = 0; i < ARRAY_SIZE(payloads); i++) {
		struct sample_decoder decoder = {0};

		assert_int_equal(sample_decoder_run(&decoder, payloads[i].bytes, payloads[i].size),
				 -EBADMSG);
		assert_int_equal(decoder.samples.count, 0);
		sample_decoder_fini(&decoder);
	}
}

static void unknown_columns_are_passed_over(void **state)
{
	static const uint8_t payload[] = {0,  1,  0, 1,   0,   0, 0, 0, 0, 0,
					  99, 42, 2, 'x', 'y', 5, 1, 1, 8};
	struct sample_decoder decoder = {0};

	assert_int_equal(sample_decoder_run(&decoder, payload, sizeof(payload)), 0);
	assert_int_equal(decoder.samples.count, 1);
	assert_int_equal(decoder.samples.items[0].weight, 7);
	sample_decoder_fini(&decoder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_samples_come_back),
		cmocka_unit_test(regular_samples_shrink_to_constants),
		cmocka_unit_test(times_may_go_back),
		cmocka_unit_test(damaged_columns_are_refused),
		cmocka_unit_test(unknown_columns_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
