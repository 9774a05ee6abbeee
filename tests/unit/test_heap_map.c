/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/address_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "heap_stream.h"

#define PAGE 4096u
#define STEP_NS 1000u

static double live_in(const struct heap_map *map)
{
	double sum = 0;

	for (uint32_t i = 0; i < map->row_count; i++)
		sum += map->rows[i].live_bytes;
	return sum;
}

static void a_block_is_where_it_is_while_it_lives(void **state)
{
	struct heap_map *map = heap_map_new(STEP_NS);

	(void)state;
	heap_map_add(map, 0, 0x7000 + 4000, 200, 1); /* 96 bytes in one page, 104 in the next */
	heap_map_advance(map, 2 * STEP_NS);
	heap_map_add(map, 0, 0x1000, 50, 1); /* below, far away: the gap has no rows */
	heap_map_add(map, 0, 0x7000 + 4000, 200, -1);
	heap_map_finish(map);
	assert_int_equal(map->shift, 12);
	assert_int_equal(map->row_count, 3);
	assert_int_equal(map->column_count, 3);
	assert_int_equal(map->rows[0].part, 1);
	assert_int_equal(map->rows[1].part, 7);
	assert_int_equal(map->rows[2].part, 8);
	for (uint32_t column = 0; column < 2; column++) {
		assert_float_equal(map->live[column][0], 0, 0);
		assert_float_equal(map->live[column][1], 96, 0);
		assert_float_equal(map->live[column][2], 104, 0);
	}
	assert_float_equal(map->live[2][0], 50, 0);
	assert_float_equal(map->live[2][1], 0, 0);
	free(map);
}

static void neighbours_become_one_when_there_are_too_many(void **state)
{
	struct heap_map *map = heap_map_new(STEP_NS);

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		heap_map_add(map, 0, (uint64_t)i * PAGE, i, 1);
		heap_map_add(map, 1, (uint64_t)i * PAGE, 1, 1);
		if (i == 99)
			heap_map_advance(map, STEP_NS);
	}
	heap_map_finish(map);
	assert_int_equal(map->shift, 12 + 3); /* 125 rows of 8 pages in each process */
	assert_int_equal(map->row_count, 250);
	assert_float_equal(live_in(map), 1000 * 999 / 2 + 1000, 0);
	assert_int_equal(map->rows[124].process, 0);
	assert_int_equal(map->rows[124].part, 124);
	assert_int_equal(map->rows[125].process, 1);
	/* What was told before they became one. */
	assert_float_equal(map->live[0][0], 0 + 1 + 2 + 3 + 4 + 5 + 6 + 7, 0);
	assert_float_equal(map->live[0][125], 8, 0);
	assert_float_equal(map->live[0][124], 0, 0);
	assert_float_equal(map->live[1][125 + 124], 8, 0);
	free(map);
}

static void a_large_block_and_odd_ones_fit(void **state)
{
	struct heap_map *map = heap_map_new(STEP_NS);

	(void)state;
	heap_map_add(map, 0, 0x1000, 1ull << 40, 1);
	assert_true(map->row_count <= HEAP_MAP_ROWS);
	assert_float_equal(live_in(map), (double)(1ull << 40), 0);
	heap_map_add(map, 0, 0x1000, 1ull << 40, -1);
	assert_float_equal(live_in(map), 0, 0);
	heap_map_add(map, 0, UINT64_MAX - 10, 100, 1); /* there is no more than that */
	heap_map_add(map, 0, 0x5000, 0, 1);
	heap_map_add(map, HEAP_MAP_PROCESSES, 0x5000, 10, 1);
	assert_float_equal(live_in(map), 11, 0);
	heap_map_finish(map);
	free(map);
}

static void time_gets_coarser(void **state)
{
	struct heap_map *map = heap_map_new(STEP_NS);

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		heap_map_advance(map, i * STEP_NS);
		heap_map_add(map, 0, 0x1000, 1, 1);
	}
	heap_map_finish(map);
	assert_int_equal(map->step_ns, 4 * STEP_NS);
	assert_int_equal(map->column_count, 250);
	for (uint32_t i = 0; i < 250; i++)
		assert_float_equal(map->live[i][0], 4 * (i + 1), 0);
	free(map);
}

/* All the ways in which an analysis sees blocks come and go. */
static void an_analysis_fills_it(void **state)
{
	struct stream stream;
	const struct heap_report *report;

	(void)state;
	stream_open(&stream, (struct heap_config){.step_ns = STEP_NS, .addresses = true});
	stream_alloc(&stream, 0, 10, 0x1000, 100, 1);
	stream_alloc(&stream, 2, 20, 0x1000, 30, 1); /* of another process */
	stream_do(&stream, HEAP_MOVE, 0, 30, 0x1000);
	stream_realloc(&stream, 0, 40, 0x5000, 200, 1);
	stream_alloc(&stream, 0, 50, 0x5000, 300, 2); /* the free is missing */
	stream_do(&stream, HEAP_MOVE, 0, 60, 0x5000);
	stream_do(&stream, HEAP_KEPT, 0, 70, 0);
	stream_alloc(&stream, 1, 80, 0x6000, 5, 1);
	stream_free(&stream, 0, 90, 0x6000);
	report = stream_finish(&stream);
	assert_int_equal(report->map->row_count, 4);
	assert_float_equal(report->map->rows[0].live_bytes, 0, 0);
	assert_float_equal(report->map->rows[1].live_bytes, 300, 0);
	assert_float_equal(report->map->rows[2].live_bytes, 0, 0);
	assert_float_equal(report->map->rows[3].live_bytes, 30, 0);
	assert_int_equal(report->map->rows[3].process, 1);
	stream_close(&stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_is_where_it_is_while_it_lives),
		cmocka_unit_test(neighbours_become_one_when_there_are_too_many),
		cmocka_unit_test(a_large_block_and_odd_ones_fit),
		cmocka_unit_test(time_gets_coarser),
		cmocka_unit_test(an_analysis_fills_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
