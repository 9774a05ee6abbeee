/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/leak/leak_layout.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proc/maps.h"
#include "wire/scan_hints.h"

#define PID 100

/* Each test has some lines of /proc/PID/maps, and what is known of the process. */
struct world {
	struct maps maps;
	struct scan_hints *inside;
	struct layout_thread threads[2];
	size_t thread_count;
	bool first_ended;
	struct reach_block blocks[4];
	size_t block_count;
	uint64_t head[2]; /* before the block that is asked about */
	struct leak_layout layout;
};

static int set_up(void **state)
{
	static struct world world;

	world = (struct world){.inside = calloc(1, sizeof(struct scan_hints))};
	assert_non_null(world.inside);
	*state = &world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	maps_fini(&world->maps);
	leak_layout_fini(&world->layout);
	free(world->inside);
	return 0;
}

static size_t read_head(void *self, uint64_t address, void *buffer, size_t size)
{
	const struct world *world = self;

	assert_true(size <= sizeof(world->head));
	memcpy(buffer, world->head, size);
	return size;
}

static void make(struct world *world, const char *text)
{
	const struct layout_input input = {.maps = &world->maps,
					   .inside = world->inside,
					   .threads = world->threads,
					   .thread_count = world->thread_count,
					   .first_ended = world->first_ended,
					   .pid = PID,
					   .blocks = world->blocks,
					   .block_count = world->block_count,
					   .read = read_head,
					   .self = world,
					   .red_zone = 0x80};

	assert_int_equal(maps_parse(&world->maps, text, strlen(text), 0), 0);
	assert_int_equal(leak_layout_make(&world->layout, &input), 0);
}

/* What the words at an address are; -1: they are not looked at. */
static int evidence_at(const struct world *world, uint64_t address)
{
	for (size_t i = 0; i < world->layout.ranges.count; i++) {
		const struct reach_range *range = &world->layout.ranges.items[i];

		if (i > 0)
			assert_true(range->start >= range[-1].end);
		if (address >= range->start && address < range->end)
			return range->evidence;
	}
	return -1;
}

static void data_of_files_and_their_bss_are_globals(void **state)
{
	struct world *world = *state;

	make(world, "10000-11000 r-xp 00000000 08:01 1 /bin/app\n"
		    "11000-12000 r--p 00001000 08:01 1 /bin/app\n"
		    "12000-13000 rw-p 00002000 08:01 1 /bin/app\n"
		    "13000-14000 rw-p 00000000 00:00 0 \n"
		    "20000-21000 rw-p 00000000 00:00 0 \n"
		    "30000-31000 rw-s 00000000 08:01 2 /tmp/data\n"
		    "40000-41000 rw-p 00000000 08:01 3 /lib/libc.so.6\n");
	assert_int_equal(evidence_at(world, 0x10000), -1);
	assert_int_equal(evidence_at(world, 0x11000), -1); /* nobody can write there */
	assert_int_equal(evidence_at(world, 0x12008), LEAK_FROM_GLOBAL);
	assert_int_equal(evidence_at(world, 0x13008), LEAK_FROM_GLOBAL);
	assert_int_equal(evidence_at(world, 0x20000), LEAK_FROM_MAPPING);
	assert_int_equal(evidence_at(world, 0x30000), LEAK_FROM_MAPPING);
	assert_false(world->layout.ranges.items[0].starts_only);
	assert_true(world->layout.ranges.items[4].starts_only); /* its bins point into blocks */
	assert_int_equal(world->layout.files.count, 4);
	assert_true(world->layout.files.items[0].is_code);
}

static void devices_and_what_is_ours_are_left_out(void **state)
{
	struct world *world = *state;

	world->inside->own_count = 1;
	world->inside->own[0] = (struct scan_hint_range){0x20400, 0x800};
	make(world, "10000-11000 rw-s 00000000 00:05 1 /dev/dri/card0\n"
		    "11000-12000 rw-s 00000000 00:05 2 /dev/zero (deleted)\n"
		    "12000-13000 rw-s 00000000 00:19 3 /dev/shm/wick-session-abc/1.2.0 (deleted)\n"
		    "20000-21000 rw-p 00000000 00:00 0 \n");
	assert_int_equal(evidence_at(world, 0x10000), -1);
	assert_int_equal(evidence_at(world, 0x11000), LEAK_FROM_MAPPING);
	assert_int_equal(evidence_at(world, 0x12000), -1);
	assert_int_equal(evidence_at(world, 0x203f8), LEAK_FROM_MAPPING);
	assert_int_equal(evidence_at(world, 0x20400), -1);
	assert_int_equal(evidence_at(world, 0x20bf8), -1);
	assert_int_equal(evidence_at(world, 0x20c00), LEAK_FROM_MAPPING);
}

static void memory_of_the_allocator_is_none_of_the_program_s(void **state)
{
	struct world *world = *state;

	/* One in the heap of a thread, one with a mapping of its own that lies next to others. */
	world->blocks[0] = (struct reach_block){.address = 0xf4000100, .size_bytes = 40};
	world->blocks[1] = (struct reach_block){.address = 0xff002010, .size_bytes = 0x20000};
	world->block_count = 2;
	world->head[1] = 0x21000 | 2; /* mapped */
	make(world, "5000-6000 rw-p 00000000 00:00 0 [heap]\n"
		    "f0000000-f0021000 rw-p 00000000 00:00 0 \n" /* all of it is free */
		    "f0021000-f4000000 ---p 00000000 00:00 0 \n"
		    "f4000000-f4021000 rw-p 00000000 00:00 0 \n"
		    "f4021000-f8000000 ---p 00000000 00:00 0 \n"
		    "ff000000-ff030000 rw-p 00000000 00:00 0 \n");
	assert_int_equal(evidence_at(world, 0x5000), LEAK_FROM_FREED);
	assert_int_equal(evidence_at(world, 0xf0000000), LEAK_FROM_FREED);
	assert_int_equal(evidence_at(world, 0xf4020ff8), LEAK_FROM_FREED);
	assert_int_equal(evidence_at(world, 0xff001ff8), LEAK_FROM_MAPPING);
	assert_int_equal(evidence_at(world, 0xff002000), LEAK_FROM_FREED);
	assert_int_equal(evidence_at(world, 0xff023000), LEAK_FROM_MAPPING);
}

static void stacks_are_dead_below_sp_and_have_thread_words_above(void **state)
{
	struct world *world = *state;

	world->threads[0] = (struct layout_thread){.tid = PID, .sp = 0x7800, .pointer = 0};
	world->threads[1] = (struct layout_thread){.tid = 101, .sp = 0x15800, .pointer = 0x17800};
	world->thread_count = 2;
	world->inside->stacks[5] = (struct scan_hint_stack){0x17000, 0x17800, 0};
	make(world, "7000-8000 rw-p 00000000 00:00 0 [stack]\n"
		    "10000-18000 rw-p 00000000 00:00 0 \n");
	assert_int_equal(evidence_at(world, 0x7778), LEAK_FROM_DEAD_STACK);
	assert_int_equal(evidence_at(world, 0x7780), LEAK_FROM_STACK); /* the red zone */
	assert_int_equal(evidence_at(world, 0x10000), LEAK_FROM_DEAD_STACK);
	assert_int_equal(evidence_at(world, 0x15800), LEAK_FROM_STACK);
	assert_int_equal(evidence_at(world, 0x16ff8), LEAK_FROM_STACK);
	assert_int_equal(evidence_at(world, 0x17000), LEAK_FROM_TLS);
}

static void the_stack_of_a_thread_that_has_ended_is_dead_but_for_its_words(void **state)
{
	struct world *world = *state;

	world->inside->stacks[9] = (struct scan_hint_stack){0x17000, 0x17800, 0};
	world->inside->stacks[8] =
		(struct scan_hint_stack){0x27000, 0x27800, 0}; /* gone meanwhile */
	world->head[0] = 1;
	make(world, "10000-18000 rw-p 00000000 00:00 0 \n");
	assert_int_equal(evidence_at(world, 0x10000), LEAK_FROM_DEAD_STACK);
	assert_int_equal(evidence_at(world, 0x16ff8), LEAK_FROM_DEAD_STACK);
	assert_int_equal(evidence_at(world, 0x17000), LEAK_FROM_TLS);
}

static void who_ends_the_program_has_the_frames_from_before(void **state)
{
	struct world *world = *state;

	world->threads[0] = (struct layout_thread){.tid = PID, .sp = 0x7100};
	world->thread_count = 1;
	world->inside->leaving_tid = PID;
	world->inside->stack_end = 0x7f00; /* main() is over */
	make(world, "7000-8000 rw-p 00000000 00:00 0 [stack]\n");
	assert_int_equal(evidence_at(world, 0x7ef8), -1); /* nobody comes back there */
	assert_int_equal(evidence_at(world, 0x7f00), LEAK_FROM_STACK);
	maps_fini(&world->maps);
	leak_layout_fini(&world->layout);
	world->maps = (struct maps){0};
	world->inside->leaving_sp = 0x7400; /* it called exit() there */
	make(world, "7000-8000 rw-p 00000000 00:00 0 [stack]\n");
	assert_int_equal(evidence_at(world, 0x73f8), -1);
	assert_int_equal(evidence_at(world, 0x7400), LEAK_FROM_STACK);
}

static void a_stack_of_the_program_s_own_is_looked_at_as_a_whole(void **state)
{
	struct world *world = *state;

	world->threads[0] = (struct layout_thread){.tid = 101, .sp = 0x15800, .pointer = 0x17800};
	world->thread_count = 1;
	make(world, "10000-18000 rw-p 00000000 00:00 0 \n");
	assert_int_equal(evidence_at(world, 0x10000), LEAK_FROM_MAPPING);
	assert_int_equal(evidence_at(world, 0x17ff8), LEAK_FROM_MAPPING);
}

static void what_lies_below_a_stack_in_its_region_is_not_dead(void **state)
{
	struct world *world = *state;

	/* Two stacks that the program has cut from one mapping, behind data of its own. */
	world->threads[0] = (struct layout_thread){.tid = 101, .sp = 0x13800, .pointer = 0x13f00};
	world->threads[1] = (struct layout_thread){.tid = 102, .sp = 0x17800, .pointer = 0x17f00};
	world->thread_count = 2;
	world->inside->stacks[5] = (struct scan_hint_stack){0x13e00, 0x13f00, 0x12000};
	world->inside->stacks[6] = (struct scan_hint_stack){0x17e00, 0x17f00, 0x14000};
	make(world, "10000-18000 rw-p 00000000 00:00 0 \n");
	assert_int_equal(evidence_at(world, 0x11ff8), LEAK_FROM_MAPPING);
	assert_int_equal(evidence_at(world, 0x12000), LEAK_FROM_DEAD_STACK);
	assert_int_equal(evidence_at(world, 0x13800), LEAK_FROM_STACK);
	assert_int_equal(evidence_at(world, 0x13ff8), LEAK_FROM_TLS);
	assert_int_equal(evidence_at(world, 0x14000), LEAK_FROM_DEAD_STACK);
	assert_int_equal(evidence_at(world, 0x17800), LEAK_FROM_STACK);
}

static void the_first_stack_is_dead_when_its_thread_is(void **state)
{
	struct world *world = *state;

	world->inside->stack_end = 0x7f00;
	world->first_ended = true;
	make(world, "7000-8000 rw-p 00000000 00:00 0 [stack]\n");
	assert_int_equal(evidence_at(world, 0x7ef8), LEAK_FROM_DEAD_STACK);
	assert_int_equal(evidence_at(world, 0x7f00), LEAK_FROM_MAPPING); /* arguments */
}

static void large_blocks_side_by_side_are_one_range(void **state)
{
	struct world *world = *state;

	for (size_t i = 0; i < 3; i++)
		world->blocks[i] = (struct reach_block){.address = 0xff002010 + i * 0x21000,
							.size_bytes = 0x20000};
	world->block_count = 3;
	world->head[1] = 0x21000 | 2; /* mapped */
	make(world, "ff000000-ff100000 rw-p 00000000 00:00 0 \n");
	assert_int_equal(world->layout.ranges.count, 3);
	assert_int_equal(evidence_at(world, 0xff001ff8), LEAK_FROM_MAPPING);
	assert_int_equal(evidence_at(world, 0xff064ff8), LEAK_FROM_FREED);
	assert_int_equal(evidence_at(world, 0xff065000), LEAK_FROM_MAPPING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(data_of_files_and_their_bss_are_globals, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(devices_and_what_is_ours_are_left_out, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(memory_of_the_allocator_is_none_of_the_program_s,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			stacks_are_dead_below_sp_and_have_thread_words_above, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			the_stack_of_a_thread_that_has_ended_is_dead_but_for_its_words, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(who_ends_the_program_has_the_frames_from_before,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_stack_of_the_program_s_own_is_looked_at_as_a_whole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_lies_below_a_stack_in_its_region_is_not_dead,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_first_stack_is_dead_when_its_thread_is, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(large_blocks_side_by_side_are_one_range, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
