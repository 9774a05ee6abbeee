/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/heap_log.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "golden_recording.h"
#include "heap_fixture.h"
#include "memory_file.h"
#include "model/dictionary.h"
#include "recording/chunk.h"
#include "recording/format.h"
#include "recording_dump.h"

#define MANY_EPOCHS 500

/* Takes fd. */
static struct file take(int fd)
{
	struct file file = load(fd);

	close(fd);
	return file;
}

static struct file fixture_file(uint64_t epoch_bytes)
{
	int fd = memory_file();

	assert_int_equal(heap_fixture_write(dup(fd), epoch_bytes, NULL), 0);
	return take(fd);
}

/* What a reader handed out, checked against the fixture while it comes. */
struct seen {
	const struct recording_reader *reader;
	uint32_t next[HEAP_FIXTURE_THREADS]; /* event of the thread that may come next */
	uint64_t events;
	uint64_t until_ns;
};

static bool is_event(const struct seen *seen, const struct heap_event *event, uint32_t thread,
		     uint32_t number)
{
	const struct dictionary *dictionary = recording_reader_dictionary(seen->reader);
	struct heap_event truth = heap_fixture_event(number / HEAP_FIXTURE_BATCH, thread,
						     number % HEAP_FIXTURE_BATCH);
	struct heap_event plain = *event;

	truth.time_ns = truth.time_ns / TIME_TICK_NS * TIME_TICK_NS;
	if (event->stack != ID_NONE) {
		uint32_t frame = dictionary->stacks.nodes.items[event->stack].frame;

		plain.stack = (uint32_t)dictionary->frames.items[frame].b - 0x1000;
	}
	return memcmp(&plain, &truth, sizeof(plain)) == 0;
}

/* Events come in order, though after damage not all of them. */
static int see_heap(void *self, const struct heap_batch *batch)
{
	struct seen *seen = self;
	const struct dictionary *dictionary = recording_reader_dictionary(seen->reader);
	uint32_t thread = dictionary->threads.items[batch->thread].tid - 9;

	assert_true(thread < HEAP_FIXTURE_THREADS);
	for (size_t i = 0; i < batch->count; i++) {
		uint32_t *next = &seen->next[thread];

		while (*next < HEAP_FIXTURE_ROUNDS * HEAP_FIXTURE_BATCH &&
		       !is_event(seen, &batch->events[i], thread, *next))
			++*next;
		assert_true(*next < HEAP_FIXTURE_ROUNDS * HEAP_FIXTURE_BATCH);
		assert_true(batch->events[i].time_ns >= seen->until_ns);
		++*next;
	}
	seen->events += batch->count;
	return 0;
}

static int see_until(void *self, uint64_t time_ns)
{
	struct seen *seen = self;

	assert_true(time_ns > seen->until_ns);
	seen->until_ns = time_ns;
	return 0;
}

static struct recording_damage see(struct seen *seen, const void *data, size_t size)
{
	struct recording_visitor visitor = {
		.self = seen, .heap = see_heap, .heap_until = see_until};
	struct recording_reader *reader;
	struct recording_damage damage;
	int r;

	*seen = (struct seen){0};
	assert_int_equal(recording_reader_open_memory(data, size, "test", &reader, NULL), 0);
	seen->reader = reader;
	r = recording_reader_run(reader, &visitor, NULL);
	assert_true(r == 0 || (r == -ENODATA && size < RECORDING_HEADER_BYTES));
	damage = recording_reader_damage(reader);
	assert_int_equal(damage.heap_events, seen->events);
	recording_reader_free(reader);
	return damage;
}

static void all_events_come_back_in_any_epoch(void **state)
{
	const uint64_t epochs[] = {UINT64_MAX, MANY_EPOCHS};
	struct seen seen;

	for (size_t i = 0; i < 2; i++) {
		struct file file = fixture_file(epochs[i]);
		struct recording_damage damage = see(&seen, file.data, file.size);

		assert_true(damage.complete);
		assert_int_equal(damage.bad_chunks + damage.missing_chunks, 0);
		assert_int_equal(damage.heap_events, HEAP_FIXTURE_EVENTS);
		assert_int_equal(damage.missing_heap_events, 0);
		assert_int_equal(seen.until_ns,
				 HEAP_FIXTURE_START_NS +
					 HEAP_FIXTURE_ROUNDS * HEAP_FIXTURE_ROUND_NS);
		free(file.data);
	}
}

static void cut_at_any_byte_it_gives_all_whole_chunks(void **state)
{
	struct file file = fixture_file(MANY_EPOCHS);
	uint64_t events = 0;
	struct seen seen;

	for (size_t size = 0; size < file.size; size++) {
		struct recording_damage damage = see(&seen, file.data, size);

		assert_false(damage.complete);
		assert_int_equal(damage.missing_heap_events, 0);
		assert_true(damage.heap_events >= events);
		events = damage.heap_events;
	}
	assert_int_equal(events, HEAP_FIXTURE_EVENTS);
	free(file.data);
}

static void a_flipped_bit_costs_events_that_are_counted(void **state)
{
	struct file file = fixture_file(MANY_EPOCHS);
	uint64_t missing = 0;
	struct seen seen;

	for (size_t at = RECORDING_HEADER_BYTES; at < file.size; at++) {
		struct recording_damage damage;

		file.data[at] ^= 1u << at % 8;
		damage = see(&seen, file.data, file.size);
		file.data[at] ^= 1u << at % 8;
		assert_true(damage.bad_chunks > 0 || damage.missing_chunks > 0 ||
			    damage.cut_bytes > 0);
		if (damage.complete)
			assert_int_equal(damage.heap_events + damage.missing_heap_events,
					 HEAP_FIXTURE_EVENTS);
		missing += damage.missing_heap_events;
	}
	assert_true(missing > 0);
	free(file.data);
}

/* A file with its first chunk of a type made unreadable. */
static struct file lose_chunk(uint8_t type)
{
	struct file file = fixture_file(UINT64_MAX);
	size_t at = RECORDING_HEADER_BYTES;
	struct chunk_header header;

	for (; at < file.size; at += CHUNK_HEADER_BYTES + header.stored_bytes) {
		assert_true(chunk_parse_header(file.data + at, &header));
		if (header.type == type)
			break;
	}
	assert_true(at < file.size);
	file.data[at + CHUNK_HEADER_BYTES] ^= 1;
	return file;
}

static void events_of_lost_threads_and_stacks_are_missing(void **state)
{
	struct file file = lose_chunk(CHUNK_DICTIONARY);
	struct seen seen;
	struct recording_damage damage = see(&seen, file.data, file.size);

	assert_int_equal(damage.heap_events, 0);
	assert_int_equal(damage.missing_heap_events, HEAP_FIXTURE_EVENTS);
	assert_int_equal(seen.until_ns,
			 HEAP_FIXTURE_START_NS + HEAP_FIXTURE_ROUNDS * HEAP_FIXTURE_ROUND_NS);
	free(file.data);
}

static void a_lost_chunk_tells_by_the_next_how_many_it_had(void **state)
{
	struct file file = lose_chunk(CHUNK_HEAP);
	struct seen seen;
	struct recording_damage damage = see(&seen, file.data, file.size);

	assert_int_equal(damage.missing_heap_events, 2 * HEAP_FIXTURE_THREADS * HEAP_FIXTURE_BATCH);
	assert_int_equal(damage.heap_events, HEAP_FIXTURE_EVENTS - damage.missing_heap_events);
	free(file.data);
}

/* A writer with one thread and one stack. */
struct plain {
	struct recording_writer *writer;
	struct sink *sink;
	int fd;
	uint32_t thread;
	uint32_t stack;
};

static void plain_begin(struct plain *plain)
{
	uint32_t process;

	plain->fd = memory_file();
	assert_int_equal(recording_writer_open(dup(plain->fd), "x", &plain->writer, NULL), 0);
	plain->sink = recording_writer_sink(plain->writer);
	assert_int_equal(
		plain->sink->ops->process(plain->writer, &(struct process){.pid = 9}, &process), 0);
	assert_int_equal(plain->sink->ops->thread(plain->writer, &(struct thread){process, 9, "a"},
						  &plain->thread),
			 0);
	assert_int_equal(heap_fixture_stack(plain->sink, MODULE_NONE, 3, &plain->stack), 0);
}

static struct file plain_end(struct plain *plain)
{
	assert_int_equal(recording_writer_finish(plain->writer, NULL), 0);
	recording_writer_free(plain->writer);
	return take(plain->fd);
}

/* Sizes count up. */
static int see_numbers(void *self, const struct heap_batch *batch)
{
	uint64_t *next = self;

	for (size_t i = 0; i < batch->count; i++)
		assert_int_equal(batch->events[i].size, (*next)++);
	return 0;
}

static void a_batch_longer_than_a_chunk_comes_back(void **state)
{
	size_t n = 2 * CHUNK_MAX_HEAP_EVENTS + 1000;
	struct heap_event *events = calloc(n, sizeof(*events));
	struct recording_reader *reader;
	struct plain plain;
	struct file file;
	uint64_t next = 0;
	struct recording_visitor visitor = {.self = &next, .heap = see_numbers};

	assert_non_null(events);
	plain_begin(&plain);
	for (size_t i = 0; i < n; i++)
		events[i] = (struct heap_event){.size = i, .stack = plain.stack, .time_ns = i};
	assert_int_equal(plain.sink->ops->heap(plain.writer,
					       &(struct heap_batch){plain.thread, n, events}, NULL),
			 0);
	assert_int_equal(plain.sink->ops->heap(plain.writer,
					       &(struct heap_batch){.thread = plain.thread}, NULL),
			 0);
	assert_int_equal(recording_writer_heap_events(plain.writer), n);
	file = plain_end(&plain);
	assert_int_equal(recording_reader_open_memory(file.data, file.size, "x", &reader, NULL), 0);
	assert_int_equal(recording_reader_run(reader, &visitor, NULL), 0);
	assert_int_equal(next, n);
	recording_reader_free(reader);
	free(file.data);
	free(events);
}

static int see_thread(void *self, const struct heap_batch *batch)
{
	struct seen *seen = self;
	const struct dictionary *dictionary = recording_reader_dictionary(seen->reader);

	assert_int_equal(batch->count, 1);
	assert_int_equal(dictionary->threads.items[batch->thread].tid, 1000 + seen->events);
	assert_int_equal(batch->events[0].address, 16 * seen->events);
	seen->events++;
	return 0;
}

static void events_of_many_threads_keep_theirs(void **state)
{
	struct seen seen = {0};
	struct recording_visitor visitor = {.self = &seen, .heap = see_thread};
	struct recording_reader *reader;
	struct plain plain;
	struct file file;

	plain_begin(&plain);
	for (uint32_t i = 0; i < 3000; i++) {
		struct heap_event event = {.address = 16ull * i, .stack = plain.stack};
		struct heap_batch batch = {.count = 1, .events = &event};

		assert_int_equal(plain.sink->ops->thread(plain.writer,
							 &(struct thread){0, 1000 + i, "pool"},
							 &batch.thread),
				 0);
		assert_int_equal(plain.sink->ops->heap(plain.writer, &batch, NULL), 0);
	}
	file = plain_end(&plain);
	assert_int_equal(recording_reader_open_memory(file.data, file.size, "x", &reader, NULL), 0);
	seen.reader = reader;
	assert_int_equal(recording_reader_run(reader, &visitor, NULL), 0);
	assert_int_equal(seen.events, 3000);
	recording_reader_free(reader);
	free(file.data);
}

static void a_moment_is_written_without_events_and_rounded_down(void **state)
{
	struct plain plain;
	struct file file;
	struct seen seen;

	plain_begin(&plain);
	assert_int_equal(plain.sink->ops->heap_until(plain.writer, 5999, NULL), 0);
	file = plain_end(&plain);
	assert_int_equal(see(&seen, file.data, file.size).heap_events, 0);
	assert_int_equal(seen.until_ns, 5000);
	free(file.data);
}

static void trimming_does_not_show(void **state)
{
	struct recording_reader *reader;
	struct plain plain;
	struct file file;
	uint64_t next = 0;
	struct recording_visitor visitor = {.self = &next, .heap = see_numbers};

	plain_begin(&plain);
	recording_writer_set_node_limit(plain.writer, 1);
	for (uint32_t i = 0; i < 5; i++) {
		struct heap_event event = {.size = i, .stack = plain.stack};

		assert_int_equal(
			plain.sink->ops->heap(plain.writer,
					      &(struct heap_batch){plain.thread, 1, &event}, NULL),
			0);
		assert_int_equal(plain.sink->ops->heap_until(plain.writer, 1000 * i, NULL), 0);
		assert_int_equal(plain.sink->ops->trim(plain.writer, NULL), 1);
		assert_int_equal(heap_fixture_stack(plain.sink, MODULE_NONE, i, &plain.stack), 0);
	}
	file = plain_end(&plain);
	assert_int_equal(recording_reader_open_memory(file.data, file.size, "x", &reader, NULL), 0);
	assert_int_equal(recording_reader_run(reader, &visitor, NULL), 0);
	assert_int_equal(next, 5);
	assert_int_equal(recording_reader_damage(reader).missing_heap_events, 0);
	recording_reader_free(reader);
	free(file.data);
}

static void events_that_cannot_be_coded_are_refused(void **state)
{
	const struct heap_event bad[] = {
		{.op = HEAP_OPS}, {.call = HEAP_CALLS}, {.size = UINT64_MAX}};
	struct plain plain;
	struct error err;

	plain_begin(&plain);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(
			plain.sink->ops->heap(plain.writer,
					      &(struct heap_batch){plain.thread, 1, &bad[i]}, &err),
			-EINVAL);
	recording_writer_set_kept(plain.writer);
	assert_int_equal(plain.sink->ops->heap(plain.writer, &(struct heap_batch){0}, &err),
			 -ENOTSUP);
	assert_non_null(strstr(err.text, "the heap"));
	assert_int_equal(plain.sink->ops->heap_until(plain.writer, 5000, NULL), -ENOTSUP);
	recording_writer_free(plain.writer);
	close(plain.fd);
}

/* The file was written by the first version that has heap events and is never made again. */
static void version_1_3_stays_readable_for_ever(void **state)
{
	assert_int_equal(assert_golden_recording("recording-v1.3").heap_events,
			 HEAP_FIXTURE_EVENTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_events_come_back_in_any_epoch),
		cmocka_unit_test(cut_at_any_byte_it_gives_all_whole_chunks),
		cmocka_unit_test(a_flipped_bit_costs_events_that_are_counted),
		cmocka_unit_test(events_of_lost_threads_and_stacks_are_missing),
		cmocka_unit_test(a_lost_chunk_tells_by_the_next_how_many_it_had),
		cmocka_unit_test(a_batch_longer_than_a_chunk_comes_back),
		cmocka_unit_test(events_of_many_threads_keep_theirs),
		cmocka_unit_test(a_moment_is_written_without_events_and_rounded_down),
		cmocka_unit_test(trimming_does_not_show),
		cmocka_unit_test(events_that_cannot_be_coded_are_refused),
		cmocka_unit_test(version_1_3_stays_readable_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
