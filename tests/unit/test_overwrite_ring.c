/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/perf/overwrite_ring.h"
#include "perf_records.h"

#define RING_BYTES 4096u

static const uint64_t chain[] = {1, 2, 3, 4, 5, 6, 7};

struct world {
	struct overwrite_ring from;
	struct ring to;
	uint8_t *base;
	struct record_builder b;
	struct perf_record_layout layout;
};

static int set_up(void **state)
{
	static struct world world;

	world.base = map_ring_memory(RING_BYTES);
	world.layout = layout_with(PERF_SAMPLE_CALLCHAIN, 0);
	*state = &world;
	return overwrite_ring_init(&world.from, &world.to, -1, world.base, RING_BYTES);
}

static int tear_down(void **state)
{
	struct world *world = *state;

	overwrite_ring_unmap(&world->from, &world->to);
	return 0;
}

static void write_sample(struct world *world, uint64_t time_ns, size_t frames)
{
	ring_prepend(world->base, RING_BYTES, make_sample(&world->b, 1, time_ns, 0, chain, frames));
}

/* The time of the next record; 0 when there is none. */
static uint64_t read_time(struct world *world)
{
	const struct perf_event_header *record = ring_peek(&world->to);
	uint64_t time_ns = record ? perf_record_time_ns(&world->layout, record) : 0;

	if (record)
		ring_next(&world->to);
	ring_release(&world->to);
	return time_ns;
}

static uint64_t take(struct world *world)
{
	uint64_t lost = overwrite_ring_take(&world->from, &world->to);

	ring_look(&world->to);
	return lost;
}

static void an_empty_ring_has_no_record(void **state)
{
	struct world *world = *state;

	assert_int_equal(take(world), 0);
	assert_int_equal(read_time(world), 0);
	assert_int_equal(overwrite_ring_pending(&world->to), 0);
}

static void what_fits_comes_out_whole_and_in_order_of_time(void **state)
{
	struct world *world = *state;
	uint64_t written = 0;
	uint64_t read = 0;

	for (size_t round = 0; round < 1000; round++) {
		for (size_t i = 0; i <= round % 13; i++) {
			written++;
			write_sample(world, written, written % 8);
		}
		assert_int_equal(take(world), 0);
		assert_int_equal(overwrite_ring_pending(&world->to), written - read);
		while (read < written) {
			const struct perf_event_header *record = ring_peek(&world->to);

			read++;
			assert_memory_equal(record,
					    make_sample(&world->b, 1, read, 0, chain, read % 8),
					    record->size);
			assert_int_equal(read_time(world), read);
		}
		assert_int_equal(read_time(world), 0);
	}
}

static void of_too_many_the_newest_are_kept_and_the_others_are_counted(void **state)
{
	struct world *world = *state;
	uint64_t written = 0;

	for (size_t round = 1; round < 20; round++) {
		uint64_t before = written;
		uint64_t first = 0;
		uint64_t lost;
		uint64_t time_ns;

		while (written < before + 100 * round)
			write_sample(world, ++written, 3);
		lost = take(world);
		first = read_time(world);
		assert_int_equal(first, before + lost + 1); /* all of one size: exactly */
		assert_in_range(written + 1 - first, RING_BYTES / 64 - 1, RING_BYTES / 64);
		for (time_ns = first + 1; time_ns <= written; time_ns++)
			assert_int_equal(read_time(world), time_ns);
		assert_int_equal(read_time(world), 0);
	}
}

static void losses_of_unequal_records_are_told_by_their_mean(void **state)
{
	struct world *world = *state;
	uint64_t written;
	uint64_t lost;
	uint64_t kept;

	for (written = 0; written < 1000; written++)
		write_sample(world, written, written * 7 % 8);
	lost = take(world);
	kept = overwrite_ring_pending(&world->to);
	assert_true(kept > 40);
	assert_in_range(lost + kept, 970, 1030);
}

static void what_waits_stays_before_what_is_new(void **state)
{
	struct world *world = *state;

	for (uint64_t time_ns = 1; time_ns <= 3; time_ns++)
		write_sample(world, time_ns, 5);
	(void)take(world);
	assert_int_equal(read_time(world), 1);
	for (uint64_t time_ns = 4; time_ns <= 6; time_ns++)
		write_sample(world, time_ns, 2);
	assert_int_equal(take(world), 0);
	assert_int_equal(overwrite_ring_pending(&world->to), 5);
	for (uint64_t time_ns = 2; time_ns <= 6; time_ns++)
		assert_int_equal(read_time(world), time_ns);
	assert_int_equal(read_time(world), 0);
}

static void what_is_never_read_does_not_grow(void **state)
{
	struct world *world = *state;
	uint64_t written = 0;
	uint64_t waiting;
	uint64_t read;

	for (size_t round = 0; round < 50; round++) {
		for (size_t i = 0; i < 20; i++)
			write_sample(world, ++written, 3);
		assert_int_equal(take(world), 0);
	}
	waiting = overwrite_ring_pending(&world->to);
	assert_in_range(waiting, RING_BYTES / 64, 2 * RING_BYTES / 64);
	for (read = 1; read <= waiting; read++)
		assert_int_equal(read_time(world), read);
	assert_int_equal(read_time(world), 0);
	/* The rest has waited in the kernel, as far as it had room. */
	assert_int_equal(take(world), written - waiting - RING_BYTES / 64);
	assert_int_equal(overwrite_ring_pending(&world->to), RING_BYTES / 64);
}

/* A record that was half overwritten when it was copied. */
static void a_record_that_is_none_ends_the_reading(void **state)
{
	static const uint16_t sizes[] = {0, 4, 7, 4000};
	struct world *world = *state;
	const struct perf_event_mmap_page *page = (struct perf_event_mmap_page *)world->base;
	uint64_t time_ns = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint8_t *data = world->base + sysconf(_SC_PAGESIZE);

		write_sample(world, ++time_ns, 1);
		((struct perf_event_header *)(void *)(data + page->data_head % RING_BYTES))->size =
			sizes[i];
		write_sample(world, ++time_ns, 1);
		assert_int_equal(take(world), 1);
		assert_int_equal(read_time(world), time_ns);
		assert_int_equal(read_time(world), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_empty_ring_has_no_record, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_fits_comes_out_whole_and_in_order_of_time,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			of_too_many_the_newest_are_kept_and_the_others_are_counted, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(losses_of_unequal_records_are_told_by_their_mean,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_waits_stays_before_what_is_new, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_never_read_does_not_grow, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_record_that_is_none_ends_the_reading, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
