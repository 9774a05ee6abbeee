/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/footprint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "heap_stream.h"
#include "model/memory_reading.h"

#define KIB 1024u

static void read_sum(struct stream *stream, uint64_t time_ns, uint64_t resident_bytes)
{
	struct memory_reading reading = {.time_ns = STREAM_NS + time_ns,
					 .kind = MEMORY_SUM,
					 .resident_bytes = resident_bytes};

	assert_int_equal(heap_analysis_memory(stream->analysis, 0, &reading), 0);
}

/* 100 KiB of [heap] of which 60 are there, and two regions: 0x10000 and 0x40000000. */
static struct memory_reading split_at(uint64_t time_ns)
{
	static const struct memory_region regions[] = {{0x10000, 64 * KIB, 40 * KIB},
						       {0x40000000, 256 * KIB, 200 * KIB}};

	return (struct memory_reading){
		.time_ns = STREAM_NS + time_ns,
		.kind = MEMORY_SPLIT,
		.resident_bytes = (60 + 16 + 500 + 30 + 4 + 40 + 200) * KIB,
		.split = {100 * KIB, 60 * KIB, 16 * KIB, 500 * KIB, 30 * KIB, 4 * KIB},
		.regions = regions,
		.region_count = 2,
	};
}

/* A region is the allocator's once a block of malloc has been in it. */
static void memory_is_told_apart_by_blocks(void **state)
{
	struct stream stream;
	const struct heap_report *report;
	struct memory_reading reading = split_at(30);
	struct heap_memory_sum *sums;

	(void)state;
	stream_open(&stream, (struct heap_config){.addresses = true});
	/* Readings are told before the events of their time, and mean those up to it. */
	read_sum(&stream, 15, 700 * KIB);
	assert_int_equal(heap_analysis_memory(stream.analysis, 0, &reading), 0);
	stream_alloc(&stream, 0, 10, 0x500, 20 * KIB, 1);
	/* Eight pages of the first region; of the other none is the allocator's. */
	stream_put(&stream, 0,
		   (struct heap_event){.time_ns = 20,
				       .address = 0x11010,
				       .size = 29 * KIB,
				       .slack = KIB,
				       .stack = 1});
	stream_put(&stream, 1,
		   (struct heap_event){.time_ns = 25,
				       .address = 0x40000000,
				       .size = 64 * KIB,
				       .call = HEAP_MMAP,
				       .stack = 1});
	stream_alloc(&stream, 0, 40, 0x9000, 1000 * KIB, 1);
	report = stream_finish(&stream);
	assert_int_equal(report->footprint.readings.count, 2);
	sums = heap_footprint_sums(&report->footprint);
	assert_int_equal(sums[0].time_ns, 15);
	assert_false(sums[0].is_split);
	assert_float_equal(sums[0].resident_bytes, 700 * KIB, 0);
	assert_int_equal(sums[1].time_ns, 30);
	assert_true(sums[1].is_split);
	assert_float_equal(sums[1].heap_bytes, (60 + 32) * KIB, 0);
	assert_float_equal(sums[1].heap_size_bytes, (100 + 32) * KIB, 0);
	assert_float_equal(sums[1].tracked_bytes, (20 + 30 + 64) * KIB, 0);
	assert_float_equal(sums[1].fragmentation, 42 / 92.0, 1e-9);
	assert_float_equal(sums[1].untracked_bytes, (42 + 4 + 8 + 200 - 64) * KIB, 0);
	assert_float_equal(sums[1].tracked_bytes + sums[1].untracked_bytes + sums[1].stack_bytes +
				   sums[1].file_bytes + sums[1].own_bytes,
			   sums[1].resident_bytes, 0);
	free(sums);
	stream_close(&stream);
}

/* Blocks that were never written to are not resident: no more is tracked than there is. */
static void parts_are_never_negative(void **state)
{
	struct stream stream;
	const struct heap_report *report;
	struct memory_reading reading = split_at(30);
	struct heap_memory_sum *sums;

	(void)state;
	stream_open(&stream, (struct heap_config){.addresses = true});
	stream_alloc(&stream, 0, 10, 0x10010, 1u << 29, 1);
	assert_int_equal(heap_analysis_memory(stream.analysis, 0, &reading), 0);
	report = stream_finish(&stream);
	sums = heap_footprint_sums(&report->footprint);
	assert_float_equal(sums[0].tracked_bytes, 100 * KIB, 0);
	assert_float_equal(sums[0].fragmentation, 0, 0);
	assert_float_equal(sums[0].untracked_bytes, 204 * KIB, 0);
	free(sums);
	stream_close(&stream);
}

/* A large block of glibc is a mapping of its own, and gone when it is freed. */
static void what_is_given_back_is_not_held(void **state)
{
	struct memory_reading reading = split_at(30);
	struct heap_memory_sum *sums;
	struct stream stream;

	(void)state;
	stream_open(&stream, (struct heap_config){.addresses = true});
	stream_alloc(&stream, 0, 10, 0x10010, 4 * 4096 - 16, 1);
	stream_free(&stream, 0, 20, 0x10010);
	stream_alloc(&stream, 0, 22, 0x15000, 4096, 1); /* this one the allocator keeps */
	stream_free(&stream, 0, 24, 0x15000);
	assert_int_equal(heap_analysis_memory(stream.analysis, 0, &reading), 0);
	sums = heap_footprint_sums(&stream_finish(&stream)->footprint);
	assert_float_equal(sums[0].heap_bytes, (60 + 4) * KIB, 0);
	assert_float_equal(sums[0].fragmentation, 1, 0);
	free(sums);
	stream_close(&stream);
}

/* Where blocks are sampled, one stands for all memory around it. */
static void one_block_tells_of_its_region_where_few_are_known(void **state)
{
	struct memory_reading reading = split_at(30);
	struct heap_memory_sum *sums;
	struct stream stream;

	(void)state;
	stream_open(&stream, (struct heap_config){.addresses = true});
	stream_put(&stream, 0, (struct heap_event){.time_ns = 5, .op = HEAP_RATE, .size = 1000});
	stream_alloc(&stream, 0, 10, 0x11000, 100, 1);
	assert_int_equal(heap_analysis_memory(stream.analysis, 0, &reading), 0);
	sums = heap_footprint_sums(&stream_finish(&stream)->footprint);
	assert_float_equal(sums[0].heap_bytes, (60 + 40) * KIB, 0);
	free(sums);
	stream_close(&stream);
}

static void processes_are_added_until_they_end(void **state)
{
	struct heap_footprint footprint = {0};
	struct memory_reading reading = split_at(0);
	struct heap_memory_sum *sums;

	(void)state;
	assert_int_equal(heap_footprint_read(&footprint, 0, 1, &reading), 0);
	assert_int_equal(heap_footprint_read(&footprint, 2, 2, &reading), 0);
	reading = (struct memory_reading){.kind = MEMORY_GONE};
	assert_int_equal(heap_footprint_read(&footprint, 0, 3, &reading), 0);
	sums = heap_footprint_sums(&footprint);
	assert_float_equal(sums[0].resident_bytes, 850 * KIB, 0);
	assert_float_equal(sums[1].resident_bytes, 1700 * KIB, 0);
	assert_float_equal(sums[1].heap_bytes, 120 * KIB, 0);
	assert_float_equal(sums[2].resident_bytes, 850 * KIB, 0);
	assert_float_equal(sums[2].stack_bytes, 16 * KIB, 0);
	assert_true(sums[2].is_split);
	free(sums);
	heap_footprint_fini(&footprint);
}

static void readings_have_a_limit(void **state)
{
	struct heap_footprint footprint = {.limit = 100};
	struct memory_reading reading = {.kind = MEMORY_SUM};

	(void)state;
	for (uint64_t i = 0; i < 10000; i++)
		assert_int_equal(heap_footprint_read(&footprint, 0, i, &reading), 0);
	assert_true(footprint.readings.count <= 100 && footprint.readings.count >= 50);
	for (size_t i = 1; i < footprint.readings.count; i++)
		assert_true(footprint.readings.items[i].time_ns >
			    footprint.readings.items[i - 1].time_ns);
	reading.kind = MEMORY_GONE;
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(heap_footprint_read(&footprint, 0, i, &reading), 0);
	assert_true(footprint.readings.count <= 100);
	heap_footprint_fini(&footprint);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_told_apart_by_blocks),
		cmocka_unit_test(parts_are_never_negative),
		cmocka_unit_test(what_is_given_back_is_not_held),
		cmocka_unit_test(one_block_tells_of_its_region_where_few_are_known),
		cmocka_unit_test(processes_are_added_until_they_end),
		cmocka_unit_test(readings_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
