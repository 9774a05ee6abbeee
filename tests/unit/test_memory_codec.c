/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/memory_codec.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "memory_file.h"
#include "recording/reader.h"
#include "recording/writer.h"

#define KIB 1024u

static const struct memory_region some_regions[] = {{0x7f0000000000, 64 * KIB, 12 * KIB},
						    {0x7f0000010000, 8 * KIB, 8 * KIB},
						    {0x7ffff0000000, 4096 * KIB, 0}};

static struct memory_reading example(enum memory_reading_kind kind)
{
	struct memory_reading reading = {.pid = 77,
					 .exec_count = 2,
					 .start_ns = 123456789012345,
					 .time_ns = 223456789012345,
					 .kind = kind};

	if (kind == MEMORY_SUM) {
		reading.resident_bytes = 5000 * KIB;
		reading.shared_bytes = 3000 * KIB;
	}
	if (kind == MEMORY_SPLIT) {
		reading.split = (struct memory_split){1000 * KIB, 900 * KIB, 16 * KIB,
						      2000 * KIB, 300 * KIB, 4 * KIB};
		reading.regions = some_regions;
		reading.region_count = 3;
		reading.resident_bytes = (900 + 16 + 2000 + 300 + 4 + 12 + 8) * KIB;
	}
	return reading;
}

static void check(const struct memory_reading *reading)
{
	struct memory_reading truth = example(reading->kind);

	assert_int_equal(reading->pid, truth.pid);
	assert_int_equal(reading->exec_count, truth.exec_count);
	assert_int_equal(reading->start_ns, truth.start_ns);
	assert_int_equal(reading->time_ns, truth.time_ns);
	assert_int_equal(reading->resident_bytes, truth.resident_bytes);
	assert_int_equal(reading->shared_bytes, truth.shared_bytes);
	assert_memory_equal(&reading->split, &truth.split, sizeof(truth.split));
	assert_int_equal(reading->region_count, truth.region_count);
	if (truth.region_count > 0)
		assert_memory_equal(reading->regions, truth.regions, sizeof(some_regions));
}

static void what_is_written_is_read(void **state)
{
	struct memory_region regions[MEMORY_MAX_REGIONS];
	struct memory_reading reading;

	(void)state;
	for (int kind = MEMORY_GONE; kind <= MEMORY_SPLIT; kind++) {
		struct memory_reading truth = example((enum memory_reading_kind)kind);
		struct bytes out = {0};
		struct cursor in;

		memory_encode(&truth, &out);
		in = cursor_of(out.data, out.size);
		assert_int_equal(memory_decode(&in, regions, &reading), 1);
		assert_int_equal(cursor_left(&in), 0);
		assert_int_equal(reading.kind, kind);
		check(&reading);
		/* Any part of it is damage, and no more. */
		for (size_t size = 0; size < out.size; size++) {
			in = cursor_of(out.data, size);
			assert_int_equal(memory_decode(&in, regions, &reading), -EBADMSG);
		}
		bytes_fini(&out);
	}
}

static int count_reading(void *self, const struct memory_reading *reading)
{
	check(reading);
	++*(int *)self;
	return 0;
}

/* As part of a file, beside one of a kind that only a later version knows. */
static void a_file_has_them(void **state)
{
	struct recording_visitor visitor = {.memory = count_reading};
	struct recording_writer *writer;
	struct recording_reader *reader;
	struct memory_reading truth = example(MEMORY_GONE);
	int count = 0;
	int fd = memory_file();

	(void)state;
	assert_int_equal(recording_writer_open(dup(fd), "x", &writer, NULL), 0);
	recording_writer_memory(writer, &truth);
	truth.kind = (enum memory_reading_kind)9;
	recording_writer_memory(writer, &truth);
	truth = example(MEMORY_SPLIT);
	recording_writer_memory(writer, &truth);
	assert_int_equal(recording_writer_finish(writer, NULL), 0);
	recording_writer_free(writer);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(recording_reader_open(fd, "x", &reader, NULL), 0);
	visitor.self = &count;
	assert_int_equal(recording_reader_run(reader, &visitor, NULL), 0);
	assert_int_equal(count, 2);
	assert_int_equal(recording_reader_damage(reader).bad_chunks, 0);
	assert_true(recording_reader_damage(reader).complete);
	recording_reader_free(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(a_file_has_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
