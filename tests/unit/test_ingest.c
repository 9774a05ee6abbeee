/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/push/ingest.h"

#include <sys/mman.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "model/sink.h"
#include "recording/chunk.h"
#include "recording/format.h"
#include "recording/writer.h"
#include "server/push/window.h"

#include "store_world.h"

/* A window with two samples of 10 ms, 3 and 4 times, of each event; services may be NULL. */
static void make_window_of(const char *const *events, size_t event_count,
			   const char *const services[2], struct bytes *ret)
{
	struct schema cpu = {.value = "cpu", .unit = "nanoseconds"};
	int fd = memfd_create("window", MFD_CLOEXEC);
	int kept = dup(fd);
	uint32_t ids[2] = {0, 0};
	uint32_t none[2] = {0, 0};
	uint32_t labels[2] = {0, 0};
	uint64_t time_ns[2] = {NS_PER_SEC, NS_PER_SEC};
	uint64_t weight[2] = {30000000, 40000000};
	uint64_t times[2] = {3, 4};
	struct process process = {.pid = 7, .start_ns = 1, .comm = "shop", .executable = ""};
	struct thread thread = {.tid = 7, .comm = "shop"};
	struct place place = {
		.name = "work", .file = "", .module = MODULE_NONE, .outer = PLACE_NONE};
	struct frame frame = {.kind = FRAME_CUSTOM};
	struct sample_batch batch = {.count = 2,
				     .stack = ids,
				     .thread = none,
				     .cpu = none,
				     .labels = labels,
				     .time_ns = time_ns,
				     .weight = weight,
				     .times = times};
	struct recording_writer *writer = NULL;
	struct error err = {0};
	struct sink *sink;
	uint8_t *data;
	off_t size;

	fail_with(recording_writer_open(fd, "window", &writer, &err), &err);
	sink = recording_writer_sink(writer);
	recording_writer_info(writer, "agent.host", "h1");
	recording_writer_clock(writer, NS_PER_SEC, START * (uint64_t)NS_PER_SEC);
	assert_int_equal(sink_process(sink, &process, &thread.process), 0);
	assert_int_equal(sink_thread(sink, &thread, &none[0]), 0);
	none[1] = none[0];
	assert_int_equal(sink_place(sink, &place, &frame.a), 0);
	assert_int_equal(sink_stack(sink, &frame, 1, &ids[0]), 0);
	ids[1] = ids[0];
	for (size_t i = 0; services && i < 2; i++) {
		struct label label = {"service", services[i]};

		assert_int_equal(sink_labels(sink, &label, 1, &labels[i]), 0);
	}
	for (size_t i = 0; i < event_count; i++) {
		cpu.event = events[i];
		assert_int_equal(sink_schema(sink, &cpu, &batch.schema), 0);
		assert_int_equal(sink_batch(sink, &batch, &err), 0);
	}
	fail_with(recording_writer_finish(writer, &err), &err);
	recording_writer_free(writer);
	size = lseek(kept, 0, SEEK_END);
	data = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, kept, 0);
	assert_true(data != MAP_FAILED);
	bytes_put(ret, data, (size_t)size);
	(void)munmap(data, (size_t)size);
	(void)close(kept);
}

static void make_window(struct bytes *ret)
{
	static const char *const events[] = {"cpu-clock"};

	make_window_of(events, 1, NULL, ret);
}

static int take(struct world *world, const struct bytes *body, struct ingest_result *ret)
{
	struct window window = {0};
	struct ingest_input input = {.window = &window,
				     .data = body->data,
				     .size = body->size,
				     .id = "w-1",
				     .now_s = START + HOUR};
	struct error err = {0};
	int r = window_read(&window, body->data, body->size, 1 << 20, &err);

	if (r == 0)
		r = ingest(world->store, &input, ret, &err);
	window_fini(&window);
	return r;
}

static void a_window_becomes_rows(void **state)
{
	struct world *world = *state;
	struct ingest_result result = {0};
	struct bytes body = {0};

	make_window(&body);
	assert_int_equal(take(world, &body, &result), 0);
	assert_int_equal(result.rows, 2);
	assert_int_equal(total(world, all()), 70000000);
	assert_int_equal(take(world, &body, &result), 0);
	assert_int_equal(result.duplicates, 1);
	assert_int_equal(total(world, all()), 70000000);
	bytes_fini(&body);
}

/* Also those of which only the end differs. */
static void each_event_of_a_window_is_stored(void **state)
{
	static const char *const events[] = {
		"a_provider_with_a_long_name:an_event_with_a_long_name_too:begin",
		"a_provider_with_a_long_name:an_event_with_a_long_name_too:end",
	};
	struct world *world = *state;
	struct ingest_result result = {0};
	struct bytes body = {0};

	make_window_of(events, 2, NULL, &body);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(take(world, &body, &result), 0);
		assert_int_equal(result.batches, 2);
		assert_int_equal(result.duplicates, i == 0 ? 0 : 2);
		assert_int_equal(total(world, all()), 140000000);
	}
	bytes_fini(&body);
}

static int64_t total_of(struct world *world, const char *service)
{
	struct store_match match = {"service", service, MATCH_EQUAL};
	struct store_selector selector = all();

	selector.matches = &match;
	selector.match_count = 1;
	return total(world, selector);
}

static void labels_distinguish_samples_of_one_thread(void **state)
{
	static const char *const events[] = {"cpu-clock"};
	static const char *const services[] = {"cart", "search"};
	struct world *world = *state;
	struct ingest_result result = {0};
	struct bytes body = {0};

	make_window_of(events, 1, services, &body);
	assert_int_equal(take(world, &body, &result), 0);
	assert_int_equal(total_of(world, "cart"), 30000000);
	assert_int_equal(total_of(world, "search"), 40000000);
	bytes_fini(&body);
}

/* The same window, with another payload in its chunk of names, and a checksum that fits. */
static void spoil_names(const struct bytes *from, struct bytes *ret)
{
	struct chunk_codec *codec = chunk_codec_new();
	size_t at = RECORDING_HEADER_BYTES;
	struct chunk_header header;

	assert_non_null(codec);
	bytes_put(ret, from->data, at);
	for (; at < from->size; at += CHUNK_HEADER_BYTES + header.stored_bytes) {
		assert_true(chunk_parse_header(from->data + at, &header));
		if (header.type != CHUNK_DICTIONARY) {
			bytes_put(ret, from->data + at, CHUNK_HEADER_BYTES + header.stored_bytes);
			continue;
		}
		assert_int_equal(chunk_encode(codec,
					      &(struct chunk_header){.type = header.type,
								     .epoch = header.epoch,
								     .sequence = header.sequence},
					      "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11,
					      ret),
				 0);
	}
	chunk_codec_free(codec);
}

static void a_window_with_senseless_content_is_refused_whole(void **state)
{
	struct world *world = *state;
	struct ingest_result result = {0};
	struct bytes body = {0};
	struct bytes spoilt = {0};
	struct store_stats stats;

	make_window(&body);
	spoil_names(&body, &spoilt);
	assert_int_equal(take(world, &spoilt, &result), -EBADMSG);
	store_stats(world->store, &stats);
	assert_int_equal(stats.batches, 0);
	/* One that was cut off, too. */
	body.size -= 5;
	assert_int_equal(take(world, &body, &result), -EBADMSG);
	store_stats(world->store, &stats);
	assert_int_equal(stats.batches, 0);
	bytes_fini(&body);
	bytes_fini(&spoilt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_window_becomes_rows),
		TEST(each_event_of_a_window_is_stored),
		TEST(labels_distinguish_samples_of_one_thread),
		TEST(a_window_with_senseless_content_is_refused_whole),
	};
	const struct CMUnitTest none[] = {cmocka_unit_test(the_store_needs_duckdb)};

	if (access(DUCKDB_LIBRARY, R_OK) < 0)
		return cmocka_run_group_tests_name("ingest", none, NULL, NULL);
	return cmocka_run_group_tests_name("ingest", tests, NULL, NULL);
}
