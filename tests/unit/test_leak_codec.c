/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/leak_codec.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/error.h"
#include "golden_recording.h"
#include "heap/leak/leak_scans.h"
#include "memory_file.h"
#include "model/dictionary.h"
#include "model/leak.h"
#include "recording/dictionary_decoder.h"
#include "recording/format.h"
#include "recording/reader.h"
#include "recording/writer.h"
#include "recording_dump.h"

#define MANY (CHUNK_MAX_LEAK_GROUPS + 3u)

struct world {
	int fd;
	struct recording_writer *writer;
	struct sink *sink;
	uint32_t process;
	uint32_t thread;
	uint32_t stacks[2];
};

static int set_up(void **state)
{
	static struct world world;
	const struct process process = {.pid = 9, .comm = "shop", .executable = "/usr/bin/shop"};

	world = (struct world){.fd = memory_file()};
	assert_int_equal(recording_writer_open(dup(world.fd), "test", &world.writer, NULL), 0);
	world.sink = recording_writer_sink(world.writer);
	assert_int_equal(sink_process(world.sink, &process, &world.process), 0);
	assert_int_equal(
		sink_thread(world.sink, &(struct thread){world.process, 11, "pool"}, &world.thread),
		0);
	for (uint32_t i = 0; i < 2; i++) {
		struct frame frame = {FRAME_NATIVE, MODULE_NONE, 0x1000 + i};

		assert_int_equal(sink_stack(world.sink, &frame, 1, &world.stacks[i]), 0);
	}
	*state = &world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	recording_writer_free(world->writer);
	close(world->fd);
	return 0;
}

static struct leak_scan scan_of(const struct world *world, const struct leak_group *groups,
				size_t count)
{
	return (struct leak_scan){.time_ns = 5000000000,
				  .paused_ns = 3000,
				  .cpu_ns = 700000,
				  .live_blocks = 12,
				  .live_bytes = 3456,
				  .read_bytes = 1u << 20,
				  .unread_bytes = 4096,
				  .process = world->process,
				  .unread_threads = 1,
				  .trigger = LEAK_AT_SIGNAL,
				  .group_count = count,
				  .groups = groups};
}

static void put(const struct world *world, const struct leak_scan *scan)
{
	assert_int_equal(sink_leaks(world->sink, scan, NULL), 0);
}

static struct recording_reader *read_back(struct world *world, struct file *file)
{
	struct recording_reader *reader;

	assert_int_equal(recording_writer_finish(world->writer, NULL), 0);
	*file = load(world->fd);
	assert_int_equal(recording_reader_open_memory(file->data, file->size, "x", &reader, NULL),
			 0);
	return reader;
}

static void a_scan_comes_back_with_all_it_says(void **state)
{
	struct world *world = *state;
	const struct leak_group groups[] = {
		{.size_bytes = 48,
		 .blocks = 7,
		 .led_blocks = 3,
		 .led_bytes = 900,
		 .first_born_ns = 1000,
		 .last_born_ns = 4999999999,
		 .example = 0x7f0012345678,
		 .stack = world->stacks[1],
		 .thread = world->thread,
		 .evidence = LEAK_FROM_FREED | LEAK_IN_CYCLE,
		 .leak_class = LEAK_PROBABLE},
		{.size_bytes = 1,
		 .blocks = 1,
		 .example = 0x10,
		 .first_born_ns = 5000000001, /* clocks of CPUs differ a little */
		 .last_born_ns = 5000000001,
		 .stack = ID_NONE,
		 .thread = ID_NONE,
		 .leak_class = LEAK_REACHABLE},
	};
	struct leak_scan scan = scan_of(world, groups, 2);
	struct recording_reader *reader;
	struct dump dump = {0};
	struct file file;

	put(world, &scan);
	reader = read_back(world, &file);
	assert_int_equal(dump_run(&dump, reader, NULL), 0);
	assert_string_equal((const char *)dump.text.data,
			    "leaks pid9 trigger1 5000000000 3000 700000 12 3456 1048576 4096 1\n"
			    "leak class2 440 7x48 led 3/900 born 1000-4999999999 7f0012345678 tid11"
			    " 0:1001:-\n"
			    "leak class4 0 1x1 led 0/0 born 5000000001-5000000001 10\n");
	assert_true(recording_reader_damage(reader).complete);
	recording_reader_free(reader);
	bytes_fini(&dump.text);
	free(file.data);
}

static int keep(void *self, const struct leak_scan *scan)
{
	return leak_scans_add(self, scan);
}

static void the_parts_of_a_large_scan_become_one(void **state)
{
	struct world *world = *state;
	struct leak_group *groups = calloc(MANY, sizeof(*groups));
	struct leak_scans scans = {0};
	struct recording_visitor visitor = {.self = &scans, .leaks = keep};
	struct leak_scan scan = scan_of(world, groups, MANY);
	struct leak_scan second = scan_of(world, groups, 1);
	struct leak_sum sums[LEAK_CLASSES];
	struct recording_reader *reader;
	struct file file;

	assert_non_null(groups);
	for (size_t i = 0; i < MANY; i++)
		groups[i] = (struct leak_group){.size_bytes = 16,
						.blocks = 1,
						.example = i * 16,
						.stack = world->stacks[i % 2],
						.thread = world->thread,
						.leak_class = i % 2};
	second.time_ns++;
	put(world, &scan);
	put(world, &second);
	reader = read_back(world, &file);
	assert_int_equal(recording_reader_run(reader, &visitor, NULL), 0);
	assert_int_equal(scans.items.count, 2);
	assert_int_equal(scans.items.items[0].scan.group_count, MANY);
	assert_int_equal(scans.items.items[0].groups.items[MANY - 1].example, (MANY - 1) * 16);
	assert_int_equal(scans.items.items[1].scan.group_count, 1);
	leak_scan_sums(&scans.items.items[0].scan, sums);
	assert_int_equal(sums[LEAK_INDIRECT].blocks, MANY / 2);
	assert_int_equal(sums[LEAK_DEFINITE].bytes, 16 * (MANY - MANY / 2));
	leak_scans_fini(&scans);
	recording_reader_free(reader);
	free(file.data);
	free(groups);
}

static void the_oldest_scans_lose_their_groups_first(void **state)
{
	struct leak_group *groups = calloc(LEAK_SCANS_MAX_GROUPS / 2, sizeof(*groups));
	struct leak_scans scans = {0};

	assert_non_null(groups);
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(
			leak_scans_add(&scans,
				       &(struct leak_scan){.time_ns = i,
							   .group_count = LEAK_SCANS_MAX_GROUPS / 2,
							   .groups = groups}),
			0);
	assert_int_equal(scans.items.count, 4);
	assert_int_equal(scans.bare, 2);
	assert_int_equal(scans.items.items[1].scan.group_count, 0);
	assert_int_equal(scans.items.items[2].scan.group_count, LEAK_SCANS_MAX_GROUPS / 2);
	assert_int_equal(scans.group_count, LEAK_SCANS_MAX_GROUPS);
	leak_scans_fini(&scans);
	free(groups);
}

static void what_makes_no_sense_is_damage(void **state)
{
	struct world *world = *state;
	struct dictionary_decoder dictionary = {0};
	struct leak_decoder decoder = {0};
	/* Process, trigger, eight numbers, how many groups. */
	static const uint8_t head[] = {0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	uint8_t bytes[sizeof(head) + 11] = {0};

	(void)world;
	memcpy(bytes, head, sizeof(head));
	assert_int_equal(leak_decoder_run(&decoder, bytes, sizeof(bytes), &dictionary), 0);
	assert_int_equal(decoder.scan.process, ID_NONE);
	assert_int_equal(decoder.scan.group_count, 1);
	for (size_t n = 0; n < sizeof(bytes); n++)
		assert_int_equal(leak_decoder_run(&decoder, bytes, n, &dictionary), -EBADMSG);
	bytes[sizeof(head)] = LEAK_CLASSES;
	assert_int_equal(leak_decoder_run(&decoder, bytes, sizeof(bytes), &dictionary), -EBADMSG);
	bytes[sizeof(head)] = 0;
	bytes[1] = LEAK_ON_DEMAND + 1;
	assert_int_equal(leak_decoder_run(&decoder, bytes, sizeof(bytes), &dictionary), -EBADMSG);
	leak_decoder_fini(&decoder);
}

/* The file was written by the first version that has these and is never made again. */
static void version_1_4_stays_readable_for_ever(void **state)
{
	(void)assert_golden_recording("recording-v1.4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_scan_comes_back_with_all_it_says, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_parts_of_a_large_scan_become_one, set_up,
						tear_down),
		cmocka_unit_test(the_oldest_scans_lose_their_groups_first),
		cmocka_unit_test_setup_teardown(what_makes_no_sense_is_damage, set_up, tear_down),
		cmocka_unit_test(version_1_4_stays_readable_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
