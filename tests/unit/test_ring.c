/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/perf/ring.h"
#include "perf_records.h"

#define RING_BYTES 4096u

static const uint64_t chain[] = {1, 2, 3, 4, 5, 6, 7};

static void an_empty_ring_has_no_record(void **state)
{
	struct ring ring;

	(void)state;
	ring_of_memory(&ring, RING_BYTES);
	ring_look(&ring);
	assert_null(ring_peek(&ring));
	ring_of_memory_free(&ring);
}

static void records_come_out_in_order_and_their_room_is_given_back(void **state)
{
	struct record_builder b;
	struct ring ring;
	const struct perf_event_mmap_page *page;

	(void)state;
	ring_of_memory(&ring, RING_BYTES);
	page = ring.base;
	ring_append(&ring, make_sample(&b, 1, 10, 0, chain, 2));
	ring_append(&ring, make_sample(&b, 2, 20, 0, chain, 3));
	assert_null(ring_peek(&ring)); /* not looked yet */
	ring_look(&ring);
	assert_int_equal(ring_peek(&ring)->size, 8 + 32 + 16);
	ring_next(&ring);
	assert_int_equal(ring_peek(&ring)->size, 8 + 32 + 24);
	ring_next(&ring);
	assert_null(ring_peek(&ring));
	assert_int_equal(page->data_tail, 0);
	ring_release(&ring);
	assert_int_equal(page->data_tail, page->data_head);
	ring_of_memory_free(&ring);
}

static void a_record_that_wraps_is_made_whole(void **state)
{
	struct record_builder b;
	struct ring ring;
	const struct perf_event_header *record;
	size_t rounds = 0;
	size_t wraps = 0;

	(void)state;
	ring_of_memory(&ring, RING_BYTES);
	while (rounds++ < 1000) {
		record = make_sample(&b, (uint32_t)rounds, rounds, 0, chain, rounds % 8);
		wraps += ring.tail % RING_BYTES + record->size > RING_BYTES;
		ring_append(&ring, record);
		ring_look(&ring);
		assert_memory_equal(ring_peek(&ring), record, record->size);
		ring_next(&ring);
		assert_null(ring_peek(&ring));
		ring_release(&ring);
	}
	assert_true(wraps > 5);
	ring_of_memory_free(&ring);
}

static void later_records_are_seen_beside_the_next(void **state)
{
	struct record_builder builders[3];
	const struct perf_event_header *records[3];
	struct ring ring;
	size_t wraps = 0;

	(void)state;
	ring_of_memory(&ring, RING_BYTES);
	for (uint64_t round = 1; round <= 100; round++) {
		uint64_t start = ring.tail;
		uint64_t position = 0;

		for (uint32_t i = 0; i < 3; i++) {
			records[i] = make_sample(&builders[i], i, round, 0, chain, (round + i) % 8);
			ring_append(&ring, records[i]);
		}
		ring_look(&ring);
		assert_memory_equal(ring_peek(&ring), records[0], records[0]->size);
		for (uint32_t i = 0; i < 3; i++)
			assert_memory_equal(ring_peek_later(&ring, &position), records[i],
					    records[i]->size);
		assert_null(ring_peek_later(&ring, &position));
		assert_memory_equal(ring_peek(&ring), records[0], records[0]->size);
		for (uint32_t i = 0; i < 3; i++)
			ring_next(&ring);
		wraps += start / RING_BYTES != ring.tail / RING_BYTES;
		ring_release(&ring);
	}
	assert_true(wraps > 2);
	ring_of_memory_free(&ring);
}

static void a_record_of_an_impossible_size_ends_the_reading_instead_of_going_on_for_ever(
	void **state)
{
	static const uint16_t sizes[] = {0, 4, 7, 4000};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct record_builder b;
		struct ring ring;
		struct perf_event_header *written;

		ring_of_memory(&ring, RING_BYTES);
		ring_append(&ring, make_sample(&b, 1, 10, 0, chain, 2));
		written = (struct perf_event_header *)(void *)((uint8_t *)ring.base +
							       sysconf(_SC_PAGESIZE));
		written->size = sizes[i];
		ring_look(&ring);
		assert_null(ring_peek(&ring));
		assert_int_equal(ring.tail, ring.head); /* what follows cannot be trusted */
		ring_of_memory_free(&ring);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_ring_has_no_record),
		cmocka_unit_test(records_come_out_in_order_and_their_room_is_given_back),
		cmocka_unit_test(a_record_that_wraps_is_made_whole),
		cmocka_unit_test(later_records_are_seen_beside_the_next),
		cmocka_unit_test(
			a_record_of_an_impossible_size_ends_the_reading_instead_of_going_on_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
