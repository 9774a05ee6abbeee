/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/timeline/block_spans.h"

#include "heap_stream.h"

#define SLICE_NS 10000000u

static const struct heap_spans *spans_of(const struct stream *stream)
{
	return &heap_analysis_report(stream->analysis)->spans;
}

/* What was born from one slice on and before another, and died from the third on. */
static double bytes_of(const struct heap_spans *spans, uint32_t from, uint32_t to, uint32_t died)
{
	double bytes = 0;

	for (size_t i = 0; i < spans->items.count; i++) {
		const struct heap_span *span = &spans->items.items[i];

		if (span->born >= from && span->born < to && span->died >= died)
			bytes += span->sum.bytes;
	}
	return bytes;
}

static void parts_of_the_time_add_up(void **state)
{
	struct stream stream;
	const struct heap_spans *spans;
	double temporary = 0;

	(void)state;
	stream_open(&stream, (struct heap_config){.slice_ns = SLICE_NS});
	stream_alloc(&stream, 0, 0, 0x1000, 100, 1);           /* slice 0 to 3 */
	stream_alloc(&stream, 0, 2 * SLICE_NS, 0x2000, 20, 1); /* never freed */
	stream_free(&stream, 0, 3 * SLICE_NS, 0x1000);
	stream_alloc(&stream, 1, 3 * SLICE_NS + 5, 0x3000, 7, 2); /* at once */
	stream_free(&stream, 1, 3 * SLICE_NS + 6, 0x3000);
	assert_int_equal(heap_analysis_finish(stream.analysis), 0);
	spans = spans_of(&stream);
	assert_int_equal(spans->items.count, 3);
	assert_true(bytes_of(spans, 0, 4, 0) == 127); /* allocated */
	assert_true(bytes_of(spans, 0, 3, 3) == 120); /* live before slice 3 */
	assert_true(bytes_of(spans, 1, 4, 4) == 20);  /* of what came since slice 1, at the end */
	for (size_t i = 0; i < spans->items.count; i++)
		temporary += spans->items.items[i].temporary_blocks;
	assert_true(temporary == 1);
	assert_int_equal(heap_analysis_lengthen_slices(stream.analysis, 4 * SLICE_NS), 0);
	assert_int_equal(spans->slice_ns, 4 * SLICE_NS);
	assert_true(bytes_of(spans, 0, 1, 0) == 127 && bytes_of(spans, 0, 1, 1) == 20);
	stream_close(&stream);
}

static void there_is_an_end_to_how_many_there_are(void **state)
{
	struct heap_spans spans = {.slice_ns = 1};
	double bytes = 0;

	(void)state;
	for (uint32_t i = 0; i < 3 * HEAP_SPANS_LIMIT; i++)
		heap_spans_add(&spans, i % 3000, i % 7919, i % 7919 + i % 911,
			       (struct heap_sum){1, 1}, 0);
	assert_false(spans.failed);
	assert_true(spans.items.count <= HEAP_SPANS_LIMIT + 1);
	for (size_t i = 0; i < spans.items.count; i++) {
		assert_true(spans.items.items[i].died < HEAP_SPANS_SLICES);
		bytes += spans.items.items[i].sum.bytes;
	}
	assert_true(bytes == 3 * HEAP_SPANS_LIMIT);
	heap_spans_fini(&spans);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_the_time_add_up),
		cmocka_unit_test(there_is_an_end_to_how_many_there_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
