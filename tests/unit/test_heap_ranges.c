/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/heap/heap_ranges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define PAGES 512u
#define ROUNDS 20000u

/* Who has mapped a page, and in which range: 0 for nobody. */
struct truth {
	uint32_t owner[PAGES];
	uint32_t range[PAGES];
};

static struct heap_frames frames_of(uint32_t owner)
{
	return (struct heap_frames){.count = 1, .pcs = {owner}};
}

/* Adds and cuts as a program that maps and unmaps does, page by page beside it. */
static void cut_all(struct heap_ranges *ranges, struct truth *truth, uint32_t begin, uint32_t end)
{
	static uint32_t next = 1u << 30;
	struct heap_cut cut;

	while (heap_ranges_cut(ranges, begin, end, &cut)) {
		uint32_t owner = (uint32_t)cut.frames.pcs[0];

		assert_true(cut.whole.begin < end && cut.whole.end > begin);
		assert_int_equal(cut.head, cut.whole.begin < begin);
		assert_int_equal(cut.tail, cut.whole.end > end);
		next++;
		for (uint64_t page = cut.whole.begin; page < cut.whole.end; page++) {
			assert_int_equal(truth->owner[page], owner);
			if (page >= end)
				truth->range[page] = next; /* the part above is one of its own */
			if (page >= begin && page < end)
				truth->owner[page] = truth->range[page] = 0;
		}
	}
	for (uint32_t page = begin; page < end; page++)
		assert_int_equal(truth->owner[page], 0);
}

static void compare(const struct heap_ranges *ranges, const struct truth *truth)
{
	uint32_t known = 0;
	uint32_t mapped = 0;

	for (uint32_t i = 0; i < ranges->count; i++) {
		const struct heap_range *range = &ranges->items[i];

		known += (uint32_t)(range->end - range->begin);
		for (uint64_t page = range->begin; page < range->end; page++) {
			assert_int_equal(truth->owner[page], ranges->frames[i].pcs[0]);
			assert_int_equal(truth->range[page], truth->range[range->begin]);
		}
	}
	for (uint32_t page = 0; page < PAGES; page++)
		mapped += truth->owner[page] != 0;
	assert_int_equal(known, mapped);
}

static void any_order_leaves_what_is_mapped(void **state)
{
	struct heap_ranges *ranges = calloc(1, sizeof(*ranges));
	struct truth truth = {{0}, {0}};
	uint64_t random = 88172645463325252ull;

	(void)state;
	assert_non_null(ranges);
	for (uint32_t round = 1; round <= ROUNDS; round++) {
		struct heap_frames frames = frames_of(round);
		uint32_t begin;
		uint32_t end;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		begin = (uint32_t)(random % PAGES);
		end = begin + 1 + (uint32_t)(random >> 20) % 40;
		end = end < PAGES ? end : PAGES;
		cut_all(ranges, &truth, begin, end);
		if (random >> 60 < 10) {
			assert_true(heap_ranges_add(ranges, begin, end, &frames));
			for (uint32_t page = begin; page < end; page++)
				truth.owner[page] = truth.range[page] = round;
		}
		compare(ranges, &truth);
	}
	free(ranges);
}

static void without_room_nothing_is_taken_for_there(void **state)
{
	struct heap_ranges *ranges = calloc(1, sizeof(*ranges));
	struct heap_frames frames = frames_of(7);
	struct heap_cut cut;

	(void)state;
	assert_non_null(ranges);
	for (uint64_t i = 0; i < HEAP_RANGES; i++)
		assert_true(heap_ranges_add(ranges, i * 10, i * 10 + 10, &frames));
	assert_false(heap_ranges_add(ranges, 1000000, 1000010, &frames));
	/* One goes and two would come: the part above has no room. */
	assert_true(heap_ranges_cut(ranges, 503, 505, &cut));
	assert_true(cut.head && !cut.tail);
	assert_int_equal(ranges->count, HEAP_RANGES);
	assert_false(heap_ranges_cut(ranges, 503, 510, &cut));
	free(ranges);
}

static void damaged_ranges_are_forgotten(void **state)
{
	struct heap_ranges *ranges = calloc(1, sizeof(*ranges));
	struct heap_frames frames = frames_of(7);
	struct heap_cut cut;

	(void)state;
	assert_non_null(ranges);
	for (uint64_t i = 0; i < 4; i++)
		assert_true(heap_ranges_add(ranges, i * 10, i * 10 + 10, &frames));
	ranges->items[0].end = 1000;
	ranges->frames[2].count = 1u << 31;
	ranges->frames[3].pcs[0] ^= 1;
	assert_true(heap_ranges_cut(ranges, 0, 40, &cut));
	assert_int_equal(cut.whole.begin, 10);
	assert_false(heap_ranges_cut(ranges, 0, 2000, &cut));
	assert_int_equal(ranges->damaged, 3);
	ranges->count = UINT32_MAX;
	assert_false(heap_ranges_cut(ranges, 0, 2000, &cut));
	assert_int_equal(ranges->damaged, 4);
	free(ranges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order_leaves_what_is_mapped),
		cmocka_unit_test(without_room_nothing_is_taken_for_there),
		cmocka_unit_test(damaged_ranges_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
