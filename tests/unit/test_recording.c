/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "golden.h"
#include "memory_file.h"
#include "recording/chunk.h"
#include "recording/format.h"
#include "recording_dump.h"
#include "recording_fixture.h"

#define MANY_EPOCHS 1500

static struct file fixture_file(uint64_t epoch_bytes)
{
	int fd = memory_file();
	struct file file;

	assert_int_equal(fixture_write(dup(fd), epoch_bytes, NULL), 0);
	file = load(fd);
	close(fd);
	return file;
}

static struct recording_damage read_into(struct dump *dump, const void *data, size_t size,
					 int expected)
{
	struct recording_reader *reader;
	struct recording_damage damage;

	assert_int_equal(recording_reader_open_memory(data, size, "test", &reader, NULL), 0);
	assert_int_equal(dump_run(dump, reader, NULL), expected);
	damage = recording_reader_damage(reader);
	recording_reader_free(reader);
	return damage;
}

static bool is_whole(struct recording_damage damage)
{
	return damage.complete && damage.bad_chunks + damage.missing_chunks + damage.skipped_bytes +
						  damage.cut_bytes + damage.missing_samples +
						  damage.lost_labels + damage.unknown_chunks ==
					  0;
}

/* Offsets of the chunks of a file; the last one is the file's size. */
static size_t chunk_offsets(const struct file *file, size_t *offsets, size_t max)
{
	size_t at = RECORDING_HEADER_BYTES;
	size_t n = 0;

	while (at < file->size) {
		struct chunk_header header;

		assert_true(n + 1 < max);
		assert_true(chunk_parse_header(file->data + at, &header));
		offsets[n++] = at;
		at += CHUNK_HEADER_BYTES + header.stored_bytes;
	}
	offsets[n] = at;
	return n;
}

static void everything_comes_back(void **state)
{
	struct file file = fixture_file(UINT64_MAX);
	struct dump dump = {0};
	struct recording_damage damage = read_into(&dump, file.data, file.size, 0);
	const char *text = (const char *)dump.text.data;

	assert_true(is_whole(damage));
	assert_int_equal(damage.samples, FIXTURE_SAMPLES);
	assert_non_null(strstr(text, "info command=shop --open\n"));
	assert_non_null(strstr(text, "schema 0 cpu-clock cpu nanoseconds 1000000\n"));
	assert_non_null(strstr(text, "schema 1 page-faults faults count 1\n"));
	assert_non_null(strstr(text, "clock 5000000000 1700000000000000000\n"));
	assert_non_null(strstr(text, "map 100 5000000000 555500001000-555500009000 @1000 bias "
				     "555500000000 /usr/bin/shop/0/0\n"));
	assert_non_null(strstr(text, "map 200 5000000003 7f0000000000-7f0000001000 @0 bias 0 "
				     "//anon/4/200\n"));
	assert_non_null(strstr(text, "map 200 5000000005 7f0000000000-7f0000001000 @0 bias 0 -\n"));
	assert_non_null(strstr(text, "loss 2 5000000002 3\n"));
	assert_non_null(strstr(text, "symbol ffffffff81000004+1 do_it [kernel]\n"));
	assert_non_null(strstr(text, " endpoint=/buy tier=web "));
	assert_non_null(strstr(text, " 1:ffffffff81000000:[kernel]/2/0 "));
	bytes_fini(&dump.text);
	free(file.data);
}

static void epochs_do_not_show(void **state)
{
	struct file one = fixture_file(UINT64_MAX);
	struct file many = fixture_file(MANY_EPOCHS);
	struct chunk_header last;
	struct dump expected = {0};
	struct dump dump = {0};
	size_t offsets[128];
	size_t n = chunk_offsets(&many, offsets, 128);

	(void)read_into(&expected, one.data, one.size, 0);
	assert_true(is_whole(read_into(&dump, many.data, many.size, 0)));
	assert_string_equal((char *)dump.text.data, (char *)expected.text.data);
	assert_true(chunk_parse_header(many.data + offsets[n - 1], &last));
	assert_true(last.epoch >= 2);
	bytes_fini(&dump.text);
	bytes_fini(&expected.text);
	free(one.data);
	free(many.data);
}

static void a_pipe_is_read_as_a_file_is(void **state)
{
	struct file file = fixture_file(MANY_EPOCHS);
	struct recording_reader *reader;
	struct dump expected = {0};
	struct dump dump = {0};
	int ends[2];

	(void)read_into(&expected, file.data, file.size, 0);
	assert_int_equal(pipe(ends), 0);
	assert_true(file.size < 60000); /* fits into the pipe */
	assert_int_equal(fixture_write(ends[1], MANY_EPOCHS, NULL), 0);
	assert_int_equal(recording_reader_open(ends[0], "pipe", &reader, NULL), 0);
	assert_int_equal(dump_run(&dump, reader, NULL), 0);
	assert_true(is_whole(recording_reader_damage(reader)));
	assert_string_equal((char *)dump.text.data, (char *)expected.text.data);
	recording_reader_free(reader);
	bytes_fini(&dump.text);
	bytes_fini(&expected.text);
	free(file.data);
}

static void a_growing_file_gives_what_is_there_so_far(void **state)
{
	struct file file = fixture_file(MANY_EPOCHS);
	struct recording_reader *reader;
	struct recording_visitor visitor;
	struct dump expected = {0};
	struct dump dump = {0};
	int fd = memory_file();

	(void)read_into(&expected, file.data, file.size, 0);
	assert_int_equal(recording_reader_open(fd, "growing", &reader, NULL), 0);
	dump.reader = reader;
	visitor = dump_visitor(&dump);
	for (size_t at = 0; at < file.size; at += 7) {
		size_t n = file.size - at < 7 ? file.size - at : 7;

		assert_int_equal(recording_reader_next(reader, &visitor, NULL), 0);
		assert_int_equal(pwrite(fd, file.data + at, n, (off_t)at), n);
		while (recording_reader_next(reader, &visitor, NULL) > 0)
			;
		assert_memory_equal(dump.text.data ? dump.text.data : expected.text.data,
				    expected.text.data, dump.text.size);
	}
	assert_true(is_whole(recording_reader_damage(reader)));
	assert_int_equal(dump.text.size + 1, expected.text.size);
	recording_reader_free(reader);
	bytes_fini(&dump.text);
	bytes_fini(&expected.text);
	free(file.data);
}

static void cut_at_any_byte_it_gives_all_whole_chunks_and_reports_the_loss(void **state)
{
	struct file file = fixture_file(MANY_EPOCHS);
	struct dump expected = {0};
	size_t offsets[128];
	size_t n = chunk_offsets(&file, offsets, 128);
	size_t whole = 0;

	(void)read_into(&expected, file.data, file.size, 0);
	for (size_t size = 0; size < file.size; size++) {
		struct dump dump = {0};
		struct recording_damage damage = read_into(
			&dump, file.data, size, size < RECORDING_HEADER_BYTES ? -ENODATA : 0);

		while (offsets[whole + 1] <= size)
			whole++;
		assert_int_equal(damage.chunks, size < offsets[1] ? 0 : whole);
		assert_false(damage.complete);
		assert_int_equal(damage.bad_chunks + damage.missing_samples, 0);
		assert_int_equal(damage.cut_bytes,
				 size < offsets[0] ? size : size - offsets[whole]);
		assert_memory_equal(dump.text.data, expected.text.data, dump.text.size - 1);
		bytes_fini(&dump.text);
	}
	assert_int_equal(whole, n - 1);
	bytes_fini(&expected.text);
	free(file.data);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t sorted_lines(struct dump *dump, const char **lines, size_t max)
{
	char *at = (char *)dump->text.data;
	size_t n = 0;

	while (*at) {
		char *end = strchr(at, '\n');

		*end = '\0';
		assert_true(n < max);
		lines[n++] = at;
		at = end + 1;
	}
	qsort(lines, n, sizeof(*lines), compare_lines);
	return n;
}

/* Each line of dump is one of truth, as often at most; maps may be repeated. */
static void assert_no_more_than(struct dump *dump, const char **truth, size_t truth_count)
{
	static const char *lines[1024];
	size_t n = sorted_lines(dump, lines, 1024);
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		bool repeated = i > 0 && strcmp(lines[i], lines[i - 1]) == 0;

		if (repeated && strncmp(lines[i], "map ", 4) == 0)
			continue;
		while (at < truth_count && strcmp(truth[at], lines[i]) < 0)
			at++;
		if (at == truth_count || strcmp(truth[at], lines[i]) != 0)
			fail_msg("not in the truth: %s", lines[i]);
		at++;
	}
}

static void a_flipped_bit_costs_its_chunk_and_is_reported(void **state)
{
	struct file file = fixture_file(MANY_EPOCHS);
	static const char *truth[1024];
	struct dump expected = {.bare = true};
	size_t offsets[128];
	size_t n = chunk_offsets(&file, offsets, 128);
	size_t truth_count;

	(void)read_into(&expected, file.data, file.size, 0);
	truth_count = sorted_lines(&expected, truth, 1024);
	for (size_t at = RECORDING_HEADER_BYTES; at < file.size; at++) {
		struct dump dump = {.bare = true};
		struct recording_damage damage;

		file.data[at] ^= (uint8_t)(1u << at % 8);
		damage = read_into(&dump, file.data, file.size, 0);
		file.data[at] ^= (uint8_t)(1u << at % 8);
		assert_int_equal(damage.chunks, n - 1);
		assert_int_equal(damage.skipped_bytes > 0 ? damage.bad_chunks : 1, 1);
		assert_true(damage.complete ? damage.missing_chunks == 1 : damage.cut_bytes > 0);
		if (damage.complete)
			assert_int_equal(damage.samples + damage.missing_samples, FIXTURE_SAMPLES);
		assert_no_more_than(&dump, truth, truth_count);
		bytes_fini(&dump.text);
	}
	bytes_fini(&expected.text);
	free(file.data);
}

static void a_later_epoch_makes_up_for_what_an_earlier_one_lost(void **state)
{
	struct file file = fixture_file(MANY_EPOCHS);
	struct dump dump = {0};
	struct recording_damage damage;
	size_t offsets[128];
	size_t n = chunk_offsets(&file, offsets, 128);
	size_t i;

	for (i = 0; i < n && file.data[offsets[i] + 8] == 0; i++)
		file.data[offsets[i] + CHUNK_HEADER_BYTES] ^= 1; /* all of epoch 0 */
	damage = read_into(&dump, file.data, file.size, 0);
	assert_int_equal(damage.missing_chunks, i);
	assert_true(damage.samples > 0);
	assert_int_equal(damage.samples + damage.missing_samples, FIXTURE_SAMPLES);
	assert_non_null(strstr((char *)dump.text.data, "map 100 5000000000 "));
	assert_non_null(strstr((char *)dump.text.data, "schema 0 cpu-clock"));
	bytes_fini(&dump.text);
	free(file.data);
}

static void a_chunk_that_comes_twice_counts_once(void **state)
{
	struct file file = fixture_file(UINT64_MAX);
	struct dump expected = {0};
	struct dump dump = {0};
	struct recording_damage damage;
	uint8_t *twice = malloc(2 * file.size);

	assert_non_null(twice);
	memcpy(twice, file.data, file.size);
	memcpy(twice + file.size, file.data, file.size);
	(void)read_into(&expected, file.data, file.size, 0);
	damage = read_into(&dump, twice, 2 * file.size, 0);
	assert_string_equal((char *)dump.text.data, (char *)expected.text.data);
	assert_true(damage.bad_chunks > 0);
	bytes_fini(&dump.text);
	bytes_fini(&expected.text);
	free(twice);
	free(file.data);
}

/* The header of a file and one chunk. */
static struct bytes file_with_chunk(uint8_t type, uint8_t flags, const void *payload, size_t size)
{
	struct chunk_codec *codec = chunk_codec_new();
	struct chunk_header header = {.type = type, .flags = flags};
	struct bytes file = {0};

	bytes_put(&file, RECORDING_MAGIC, RECORDING_MAGIC_BYTES);
	bytes_put_u16(&file, RECORDING_MAJOR);
	bytes_put_u16(&file, RECORDING_MINOR + 1);
	bytes_put_u32(&file, 0);
	assert_int_equal(chunk_encode(codec, &header, payload, size, &file), 0);
	chunk_codec_free(codec);
	return file;
}

static void unknown_chunks_are_passed_over_and_counted(void **state)
{
	struct bytes file = file_with_chunk(200, 0, "later", 5);
	struct bytes compressed = file_with_chunk(CHUNK_INFO, 128, "later", 5);
	struct dump dump = {0};

	assert_int_equal(read_into(&dump, file.data, file.size, 0).unknown_chunks, 1);
	assert_int_equal(read_into(&dump, compressed.data, compressed.size, 0).unknown_chunks, 1);
	bytes_fini(&dump.text);
	bytes_fini(&file);
	bytes_fini(&compressed);
}

static void chunks_that_must_be_understood_are_refused(void **state)
{
	struct bytes file = file_with_chunk(200, CHUNK_MUST_UNDERSTAND, "later", 5);
	struct dump dump = {0};

	(void)read_into(&dump, file.data, file.size, -EPROTONOSUPPORT);
	bytes_fini(&dump.text);
	bytes_fini(&file);
}

static void unknown_sections_of_a_dictionary_are_passed_over(void **state)
{
	static const uint8_t payload[] = {99, 0, 1, 2, 'x', 'y'};
	struct bytes file =
		file_with_chunk(CHUNK_DICTIONARY, CHUNK_MUST_UNDERSTAND, payload, sizeof(payload));
	struct dump dump = {0};

	assert_int_equal(read_into(&dump, file.data, file.size, 0).bad_chunks, 0);
	bytes_fini(&dump.text);
	bytes_fini(&file);
}

static void an_empty_compressed_chunk_is_no_lack_of_memory(void **state)
{
	struct bytes file = file_with_chunk(CHUNK_INFO, CHUNK_ZSTD, "", 0);
	struct dump dump = {0};

	assert_int_equal(read_into(&dump, file.data, file.size, 0).bad_chunks, 0);
	bytes_fini(&dump.text);
	bytes_fini(&file);
}

static void other_files_and_other_versions_are_named(void **state)
{
	struct recording_reader *reader;
	struct recording_visitor visitor = {0};
	struct error err = {0};
	uint8_t header[RECORDING_HEADER_BYTES] = RECORDING_MAGIC;

	assert_int_equal(recording_reader_open_memory("%PDF", 4, "a.pdf", &reader, NULL), 0);
	assert_int_equal(recording_reader_run(reader, &visitor, &err), -EINVAL);
	assert_string_equal(err.text, "a.pdf is not a wick recording");
	recording_reader_free(reader);

	header[8] = 2;
	header[10] = 5;
	assert_int_equal(recording_reader_open_memory(header, 16, "b.wick", &reader, NULL), 0);
	assert_int_equal(recording_reader_run(reader, &visitor, &err), -EPROTONOSUPPORT);
	assert_string_equal(err.text, "b.wick has format version 2.5, this wick reads 1.x");
	recording_reader_free(reader);
}

static int stop_here(void *self, const struct sample_batch *batch)
{
	return -EBADMSG;
}

static void the_visitor_stops_the_reading_with_its_own_code(void **state)
{
	struct file file = fixture_file(UINT64_MAX);
	struct recording_visitor visitor = {.samples = stop_here};
	struct recording_reader *reader;

	assert_int_equal(recording_reader_open_memory(file.data, file.size, "x", &reader, NULL), 0);
	assert_int_equal(recording_reader_run(reader, &visitor, NULL), -EBADMSG);
	assert_int_equal(recording_reader_damage(reader).bad_chunks, 0);
	recording_reader_free(reader);
	free(file.data);
}

static void a_full_disk_leaves_a_readable_file_and_sticks(void **state)
{
	struct rlimit before;
	struct rlimit limit;
	struct file file = fixture_file(MANY_EPOCHS);
	struct error err = {0};
	struct dump dump = {0};
	struct recording_damage damage;
	int fd;
	int r;

	limit.rlim_cur = file.size / 2;
	free(file.data);
	fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		skip();
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	(void)signal(SIGXFSZ, SIG_IGN);
	limit.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	r = fixture_write(dup(fd), MANY_EPOCHS, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(r, -EFBIG);
	assert_non_null(strstr(err.text, "cannot write fixture"));
	file = load(fd);
	damage = read_into(&dump, file.data, file.size, 0);
	assert_true(damage.samples > 0);
	assert_int_equal(damage.cut_bytes + damage.bad_chunks, 0);
	bytes_fini(&dump.text);
	free(file.data);
	close(fd);
}

static void a_failed_write_fails_every_later_call(void **state)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct recording_writer *writer;
	struct sample_batch empty = {0};
	struct sink *sink;
	uint32_t id;

	if (fd < 0)
		skip();
	assert_int_equal(recording_writer_open(fd, "full", &writer, NULL), 0);
	sink = recording_writer_sink(writer);
	assert_int_equal(sink->ops->schema(writer, &(struct schema){"a", "b", "c", 0}, &id), 0);
	assert_int_equal(recording_writer_flush(writer, NULL), -ENOSPC);
	assert_int_equal(recording_writer_flush(writer, NULL), -ENOSPC);
	assert_int_equal(sink_batch(sink, &empty, NULL), -ENOSPC);
	assert_int_equal(recording_writer_finish(writer, NULL), -ENOSPC);
	recording_writer_free(writer);
}

static void a_schema_outlives_the_texts_it_was_given_with(void **state)
{
	char event[] = "cpu-clock";
	struct recording_writer *writer;
	struct dump dump = {0};
	int fd = memory_file();
	struct file file;
	uint32_t id;

	assert_int_equal(recording_writer_open(dup(fd), "x", &writer, NULL), 0);
	recording_writer_set_epoch_bytes(writer, 1);
	assert_int_equal(recording_writer_sink(writer)->ops->schema(
				 writer, &(struct schema){event, "cpu", "nanoseconds", 1}, &id),
			 0);
	memset(event, 'x', sizeof(event) - 1);
	assert_int_equal(recording_writer_flush(writer, NULL), 0);
	recording_writer_info(writer, "a", "b");
	assert_int_equal(recording_writer_finish(writer, NULL), 0);
	recording_writer_free(writer);
	file = load(fd);
	file.data[RECORDING_HEADER_BYTES + CHUNK_HEADER_BYTES] ^= 1; /* the first schema chunk */
	(void)read_into(&dump, file.data, file.size, 0);
	assert_non_null(strstr((char *)dump.text.data, "schema 0 cpu-clock cpu"));
	bytes_fini(&dump.text);
	free(file.data);
	close(fd);
}

/* What programs told is told as such, by its first chunk or by that of a later epoch. */
static void a_told_schema_keeps_its_kind(void **state)
{
	static const struct schema gauge = {"queue", "queue", "count", 0, SCHEMA_GAUGE};

	for (int lost = 0; lost < 2; lost++) {
		struct recording_writer *writer;
		struct dump dump = {0};
		int fd = memory_file();
		struct file file;
		uint32_t id;

		assert_int_equal(recording_writer_open(dup(fd), "x", &writer, NULL), 0);
		recording_writer_set_epoch_bytes(writer, 1);
		assert_int_equal(recording_writer_sink(writer)->ops->schema(writer, &gauge, &id),
				 0);
		assert_int_equal(recording_writer_flush(writer, NULL), 0);
		recording_writer_info(writer, "a", "b");
		assert_int_equal(recording_writer_finish(writer, NULL), 0);
		recording_writer_free(writer);
		file = load(fd);
		file.data[RECORDING_HEADER_BYTES + CHUNK_HEADER_BYTES] ^= lost;
		(void)read_into(&dump, file.data, file.size, 0);
		assert_non_null(strstr((char *)dump.text.data, "schema 0 queue queue count 0\n"
							       "told schema 0 is of kind 2\n"));
		bytes_fini(&dump.text);
		free(file.data);
		close(fd);
	}
}

/* Two ranges that begin at one address: a shorter one does not replace the longer. */
static void overlapping_maps_are_all_repeated(void **state)
{
	struct map_event event = {.time_ns = 1, .start = 0x1000, .end = 0x9000};
	struct recording_writer *writer;
	struct dump dump = {0};
	int fd = memory_file();
	struct file file;
	struct sink *sink;

	assert_int_equal(recording_writer_open(dup(fd), "x", &writer, NULL), 0);
	recording_writer_set_epoch_bytes(writer, 1);
	sink = recording_writer_sink(writer);
	assert_int_equal(sink->ops->process(writer, &(struct process){.pid = 5}, &event.process),
			 0);
	assert_int_equal(sink->ops->module(writer, &(struct module){.path = "/a"}, &event.module),
			 0);
	assert_int_equal(sink->ops->map(writer, &event, NULL), 0);
	event.end = 0x2000;
	event.time_ns = 2;
	assert_int_equal(sink->ops->map(writer, &event, NULL), 0);
	assert_int_equal(recording_writer_flush(writer, NULL), 0);
	recording_writer_info(writer, "a", "b");
	assert_int_equal(recording_writer_finish(writer, NULL), 0);
	recording_writer_free(writer);
	file = load(fd);
	file.data[RECORDING_HEADER_BYTES + CHUNK_HEADER_BYTES] ^= 1; /* the first dictionary */
	(void)read_into(&dump, file.data, file.size, 0);
	assert_non_null(strstr((char *)dump.text.data, "map 5 1 1000-9000"));
	assert_non_null(strstr((char *)dump.text.data, "map 5 2 1000-2000"));
	bytes_fini(&dump.text);
	free(file.data);
	close(fd);
}

#define TRIM_ROUNDS 200u
#define TRIM_DEPTH 8u

/* Each round has a stack that no other has. Returns the most nodes that the writer held. */
static size_t write_many_stacks(int fd, size_t node_limit, size_t *ret_trims)
{
	struct recording_writer *writer;
	struct frame frames[TRIM_DEPTH];
	size_t most = 0;
	struct sink *sink;
	uint32_t ids[4];

	*ret_trims = 0;
	assert_int_equal(recording_writer_open(fd, "x", &writer, NULL), 0);
	recording_writer_set_node_limit(writer, node_limit);
	sink = recording_writer_sink(writer);
	assert_int_equal(sink->ops->schema(writer, &(struct schema){"a", "b", "c", 0}, &ids[0]), 0);
	assert_int_equal(sink->ops->process(writer, &(struct process){.pid = 5}, &ids[1]), 0);
	assert_int_equal(sink->ops->thread(writer, &(struct thread){ids[1], 5, "t"}, &ids[2]), 0);
	for (uint32_t round = 0; round < TRIM_ROUNDS; round++) {
		uint64_t time_ns = round + 1;
		uint64_t weight = 1000 + round;
		struct sample_batch batch = {.count = 1,
					     .stack = &ids[3],
					     .thread = &ids[2],
					     .cpu = &(uint32_t){0},
					     .time_ns = &time_ns,
					     .weight = &weight};
		int r;

		for (uint32_t i = 0; i < TRIM_DEPTH; i++)
			frames[i] = (struct frame){FRAME_NATIVE, MODULE_NONE, round * 64 + i};
		assert_int_equal(sink->ops->stack(writer, frames, TRIM_DEPTH, &ids[3]), 0);
		assert_int_equal(sink->ops->batch(writer, &batch, NULL), 0);
		r = sink->ops->trim(writer, NULL);
		assert_true(r >= 0);
		*ret_trims += (size_t)r;
		if (recording_writer_dictionary(writer)->stacks.nodes.count > most)
			most = recording_writer_dictionary(writer)->stacks.nodes.count;
	}
	assert_int_equal(recording_writer_finish(writer, NULL), 0);
	recording_writer_free(writer);
	return most;
}

static void trimming_bounds_what_is_held_and_does_not_show(void **state)
{
	int fds[] = {memory_file(), memory_file()};
	struct dump dumps[2] = {0};
	size_t trims;

	(void)state;
	assert_true(write_many_stacks(dup(fds[0]), SIZE_MAX, &trims) > TRIM_ROUNDS * TRIM_DEPTH);
	assert_int_equal(trims, 0);
	assert_true(write_many_stacks(dup(fds[1]), 50, &trims) <= 50 + TRIM_DEPTH);
	assert_true(trims > 10);
	for (int i = 0; i < 2; i++) {
		struct file file = load(fds[i]);

		assert_true(is_whole(read_into(&dumps[i], file.data, file.size, 0)));
		free(file.data);
		close(fds[i]);
	}
	assert_string_equal((char *)dumps[0].text.data, (char *)dumps[1].text.data);
	bytes_fini(&dumps[0].text);
	bytes_fini(&dumps[1].text);
}

/* Of two processes that map something one ends: the next epoch has the maps of the other. */
static void maps_of_what_has_ended_are_not_repeated(void **state)
{
	struct map_event event = {.time_ns = 1, .start = 0x1000, .end = 0x9000};
	struct recording_writer *writer;
	struct dump dump = {0};
	int fd = memory_file();
	struct file file;
	struct sink *sink;

	(void)state;
	assert_int_equal(recording_writer_open(dup(fd), "x", &writer, NULL), 0);
	recording_writer_set_epoch_bytes(writer, 1);
	sink = recording_writer_sink(writer);
	assert_int_equal(sink->ops->module(writer, &(struct module){.path = "/a"}, &event.module),
			 0);
	for (uint32_t pid = 5; pid < 8; pid++) {
		struct process process = {.pid = pid};

		assert_int_equal(sink->ops->process(writer, &process, &event.process), 0);
		assert_int_equal(sink->ops->map(writer, &event, NULL), 0);
		if (pid > 5)
			sink->ops->ended(writer, event.process);
	}
	/* It is asked for again: it has not ended. */
	assert_int_equal(sink->ops->process(writer, &(struct process){.pid = 7}, &event.process),
			 0);
	assert_int_equal(recording_writer_flush(writer, NULL), 0);
	recording_writer_info(writer, "a", "b");
	assert_int_equal(recording_writer_finish(writer, NULL), 0);
	recording_writer_free(writer);
	file = load(fd);
	file.data[RECORDING_HEADER_BYTES + CHUNK_HEADER_BYTES] ^= 1; /* the first dictionary */
	(void)read_into(&dump, file.data, file.size, 0);
	assert_non_null(strstr((char *)dump.text.data, "map 5 1 1000-9000"));
	assert_null(strstr((char *)dump.text.data, "map 6 1 1000-9000"));
	assert_non_null(strstr((char *)dump.text.data, "map 7 1 1000-9000"));
	bytes_fini(&dump.text);
	free(file.data);
	close(fd);
}

static void samples_that_cannot_be_coded_are_refused(void **state)
{
	struct recording_writer *writer;
	struct sink *sink;
	uint32_t cpu = RECORDING_MAX_CPUS;
	uint64_t weight = UINT64_MAX;
	struct sample_batch batch = {.count = 1, .cpu = &cpu, .weight = &weight};

	assert_int_equal(recording_writer_open(memory_file(), "x", &writer, NULL), 0);
	sink = recording_writer_sink(writer);
	assert_int_equal(sink->ops->batch(writer, &batch, NULL), -EINVAL);
	assert_int_equal(sink->ops->schema(writer, &(struct schema){"a", "b", "c", 0}, &cpu), 0);
	assert_int_equal(sink->ops->batch(writer, &batch, NULL), -EINVAL);
	recording_writer_free(writer);
}

static void a_bomb_costs_bounded_memory(void **state)
{
	/* A dictionary of sixteen million empty strings in half a kilobyte. */
	size_t size = CHUNK_MAX_BYTES;
	uint8_t *payload = calloc(1, size);
	static const uint8_t head[] = {
		SECTION_STRINGS, 0, 0xe0, 0xff, 0xff, 7, 0xe0, 0xff, 0xff, 7};
	struct bytes file;
	struct dump dump = {0};

	assert_non_null(payload);
	memcpy(payload, head, sizeof(head));
	file = file_with_chunk(CHUNK_DICTIONARY, 0, payload, size);
	assert_true(file.size < 4096);
	assert_int_equal(read_into(&dump, file.data, file.size, 0).bad_chunks, 1);
	bytes_fini(&dump.text);
	bytes_fini(&file);
	free(payload);
}

/* The file was written by the first release of the format and is never made again. */
static void the_first_version_stays_readable_for_ever(void **state)
{
	const char *path = GOLDEN_DIR "/recording-v1.wick";
	struct dump dump = {0};
	struct file file;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail_msg("cannot open %s", path);
	file = load(fd);
	assert_true(is_whole(read_into(&dump, file.data, file.size, 0)));
	dump.text.size--; /* the NUL */
	assert_golden(&dump.text, "recording-v1.txt");
	bytes_fini(&dump.text);
	free(file.data);
	close(fd);
}

static int count_symbol(void *self, uint64_t start, uint64_t size, const char *name,
			const char *module)
{
	(*(size_t *)self)++;
	return 0;
}

/* A few hundred bytes inflate to millions of entries, each of which would take memory. */
static void entries_beyond_what_a_file_is_believed_are_damage(void **state)
{
	struct chunk_header header = {.type = CHUNK_KERNEL_SYMBOLS};
	struct chunk_codec *codec = chunk_codec_new();
	struct recording_visitor visitor = {.kernel_symbol = count_symbol};
	struct recording_reader *reader;
	struct bytes file = {0};
	size_t entries = (1u << 20) + (1u << 18);
	struct bytes payload = {0};
	size_t found = 0;

	for (size_t i = 0; i < entries; i++)
		bytes_put(&payload, "\1\1\1a", 5); /* start, size, "a", "" */
	bytes_put(&file, RECORDING_MAGIC, RECORDING_MAGIC_BYTES);
	bytes_put_u16(&file, RECORDING_MAJOR);
	bytes_put_u16(&file, RECORDING_MINOR);
	bytes_put_u32(&file, 0);
	assert_int_equal(chunk_encode(codec, &header, payload.data, payload.size, &file), 0);
	assert_in_range(file.size, 1, 2048);
	assert_int_equal(recording_reader_open_memory(file.data, file.size, "test", &reader, NULL),
			 0);
	visitor.self = &found;
	assert_int_equal(recording_reader_run(reader, &visitor, NULL), 0);
	assert_in_range(found, 1u << 20, entries - 1);
	assert_int_equal(recording_reader_damage(reader).bad_chunks, 1);
	recording_reader_free(reader);
	chunk_codec_free(codec);
	bytes_fini(&payload);
	bytes_fini(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_comes_back),
		cmocka_unit_test(epochs_do_not_show),
		cmocka_unit_test(a_pipe_is_read_as_a_file_is),
		cmocka_unit_test(a_growing_file_gives_what_is_there_so_far),
		cmocka_unit_test(entries_beyond_what_a_file_is_believed_are_damage),
		cmocka_unit_test(cut_at_any_byte_it_gives_all_whole_chunks_and_reports_the_loss),
		cmocka_unit_test(a_flipped_bit_costs_its_chunk_and_is_reported),
		cmocka_unit_test(a_later_epoch_makes_up_for_what_an_earlier_one_lost),
		cmocka_unit_test(a_chunk_that_comes_twice_counts_once),
		cmocka_unit_test(unknown_chunks_are_passed_over_and_counted),
		cmocka_unit_test(chunks_that_must_be_understood_are_refused),
		cmocka_unit_test(unknown_sections_of_a_dictionary_are_passed_over),
		cmocka_unit_test(an_empty_compressed_chunk_is_no_lack_of_memory),
		cmocka_unit_test(other_files_and_other_versions_are_named),
		cmocka_unit_test(the_visitor_stops_the_reading_with_its_own_code),
		cmocka_unit_test(a_full_disk_leaves_a_readable_file_and_sticks),
		cmocka_unit_test(a_failed_write_fails_every_later_call),
		cmocka_unit_test(a_schema_outlives_the_texts_it_was_given_with),
		cmocka_unit_test(a_told_schema_keeps_its_kind),
		cmocka_unit_test(overlapping_maps_are_all_repeated),
		cmocka_unit_test(trimming_bounds_what_is_held_and_does_not_show),
		cmocka_unit_test(maps_of_what_has_ended_are_not_repeated),
		cmocka_unit_test(samples_that_cannot_be_coded_are_refused),
		cmocka_unit_test(a_bomb_costs_bounded_memory),
		cmocka_unit_test(the_first_version_stays_readable_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
