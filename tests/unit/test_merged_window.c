/* SPDX-License-Identifier: BSD-2-Clause */
#include "relay/merged_window.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "make_recording.h"
#include "model/dictionary.h"
#include "recording/reader.h"

#define REAL_NS (1700000000ull * NS_PER_SEC)

/* A window whose only sample has so many labels, was taken at REAL_NS + 1 s, and weighs this much.
 */
static void make_window(const char *host, uint64_t booted_ns, size_t label_count, uint64_t weight,
			struct bytes *ret)
{
	static const struct schema schema = {
		.event = "cpu-clock", .value = "cpu", .unit = "nanoseconds"};
	const struct place place = {.name = "work", .module = MODULE_NONE, .outer = PLACE_NONE};
	int fd = memfd_create("window", MFD_CLOEXEC);
	int kept = dup(fd);
	struct recording_writer *writer;
	struct process process = {.pid = 7, .start_ns = 1, .comm = "app"};
	struct thread thread = {.tid = 7, .comm = "app"};
	struct label labels[LABELS_MAX];
	char keys[LABELS_MAX][8];
	char text[32];
	struct frame frame = {.kind = FRAME_CUSTOM};
	uint32_t ids[4] = {0};
	uint32_t cpu = 0;
	uint64_t monotonic_ns = REAL_NS - booted_ns;
	uint64_t time_ns = monotonic_ns + NS_PER_SEC;
	struct sample_batch batch = {.count = 1,
				     .stack = &ids[0],
				     .thread = &ids[1],
				     .cpu = &cpu,
				     .labels = &ids[2],
				     .time_ns = &time_ns,
				     .weight = &weight};
	struct sink *sink;

	assert_int_equal(recording_writer_open(fd, "w", &writer, NULL), 0);
	sink = recording_writer_sink(writer);
	recording_writer_info(writer, "agent.host", host);
	(void)snprintf(text, sizeof(text), "%" PRIu64, (uint64_t)REAL_NS);
	recording_writer_info(writer, "window.start", text);
	(void)snprintf(text, sizeof(text), "%" PRIu64, monotonic_ns);
	recording_writer_info(writer, "start_monotonic_ns", text);
	recording_writer_clock(writer, monotonic_ns, REAL_NS);
	for (size_t i = 0; i < label_count; i++) {
		(void)snprintf(keys[i], sizeof(keys[i]), "k%zu", i);
		labels[i] = (struct label){keys[i], "v"};
	}
	assert_int_equal(sink_schema(sink, &schema, &batch.schema), 0);
	assert_int_equal(sink_process(sink, &process, &thread.process), 0);
	assert_int_equal(sink_thread(sink, &thread, &ids[1]), 0);
	assert_int_equal(sink_place(sink, &place, &frame.a), 0);
	assert_int_equal(sink_stack(sink, &frame, 1, &ids[0]), 0);
	assert_int_equal(sink_labels(sink, labels, label_count, &ids[2]), 0);
	assert_int_equal(sink_batch(sink, &batch, NULL), 0);
	assert_int_equal(recording_writer_finish(writer, NULL), 0);
	recording_writer_free(writer);
	bytes_clear(ret);
	assert_non_null(bytes_reserve(ret, 65536));
	ret->size = (size_t)pread(kept, ret->data, 65536, 0);
	(void)close(kept);
}

struct seen {
	const struct dictionary *dictionary;
	uint64_t weights[2]; /* by part */
	uint64_t times_ns[2];
	uint64_t to_real_ns;
	char host[2][16];
	char id[2][16];
	char offset[2][16];
};

static int see_samples(void *self, const struct sample_batch *batch)
{
	struct seen *seen = self;

	for (size_t i = 0; i < batch->count; i++) {
		struct label labels[LABELS_MAX];
		size_t n = label_sets_get(&seen->dictionary->labels, &seen->dictionary->strings,
					  batch->labels[i], labels);
		size_t part = 2;

		while (n-- > 0)
			if (strcmp(labels[n].key, "relay.window") == 0)
				part = (size_t)strtoul(labels[n].value, NULL, 10);
		assert_true(part < 2);
		seen->weights[part] += batch->weight[i];
		seen->times_ns[part] = batch->time_ns[i];
	}
	return 0;
}

static int see_info(void *self, const char *key, const char *value)
{
	struct seen *seen = self;
	size_t part = strncmp(key, "relay.1.", 8) == 0;

	if (strncmp(key, "relay.", 6) != 0 || !strchr(key + 6, '.'))
		return 0;
	if (strcmp(key + 8, "agent.host") == 0)
		(void)snprintf(seen->host[part], sizeof(seen->host[part]), "%s", value);
	if (strcmp(key + 8, "window.id") == 0)
		(void)snprintf(seen->id[part], sizeof(seen->id[part]), "%s", value);
	if (strcmp(key + 8, "clock_offset_s") == 0)
		(void)snprintf(seen->offset[part], sizeof(seen->offset[part]), "%s", value);
	return 0;
}

static int see_clock(void *self, uint64_t monotonic_ns, uint64_t realtime_ns)
{
	struct seen *seen = self;

	seen->to_real_ns = realtime_ns - monotonic_ns;
	return 0;
}

static void samples_keep_their_weight_and_their_time_of_day(void **state)
{
	struct bytes windows[2] = {{0}};
	struct seen seen = {0};
	struct recording_visitor visitor = {
		.self = &seen, .info = see_info, .samples = see_samples, .clock = see_clock};
	int fd = memfd_create("merged", MFD_CLOEXEC);
	int kept = dup(fd);
	struct recording_reader *reader;
	struct merged_window *merged;
	uint64_t raw_bytes;

	make_window("a", REAL_NS - NS_PER_SEC, 3, 5, &windows[0]);
	make_window("b", REAL_NS - 1000 * NS_PER_SEC, 0, 7, &windows[1]);
	assert_int_equal(merged_window_open(fd, "r-1", &merged, NULL), 0);
	for (int i = 0; i < 2; i++) {
		const struct merged_part part = {windows[i].data, windows[i].size,
						 i ? "b-1-1" : "a-1-1", 10 * i};

		assert_true(merged_window_takes(part.data, part.size, &raw_bytes));
		assert_true(raw_bytes > 100);
		assert_int_equal(merged_window_add(merged, &part, NULL), 0);
		bytes_fini(&windows[i]);
	}
	assert_int_equal(merged_window_finish(merged, NULL), 0);
	merged_window_free(merged);
	assert_int_equal(lseek(kept, 0, SEEK_SET), 0);
	assert_int_equal(recording_reader_open(kept, "merged", &reader, NULL), 0);
	seen.dictionary = recording_reader_dictionary(reader);
	assert_int_equal(recording_reader_run(reader, &visitor, NULL), 0);
	assert_true(recording_reader_damage(reader).complete);
	recording_reader_free(reader);
	assert_int_equal(seen.weights[0], 5);
	assert_int_equal(seen.weights[1], 7);
	assert_int_equal(seen.times_ns[0] + seen.to_real_ns, REAL_NS + NS_PER_SEC);
	assert_int_equal(seen.times_ns[1] + seen.to_real_ns, REAL_NS + NS_PER_SEC);
	assert_string_equal(seen.host[0], "a");
	assert_string_equal(seen.host[1], "b");
	assert_string_equal(seen.id[1], "b-1-1");
	assert_string_equal(seen.offset[1], "10");
}

static void a_sample_without_room_for_a_label_is_not_merged(void **state)
{
	struct bytes window = {0};
	struct merged_window *merged;
	struct merged_part part = {.id = "a-1-1"};

	make_window("a", REAL_NS - NS_PER_SEC, LABELS_MAX, 5, &window);
	part.data = window.data;
	part.size = window.size;
	assert_int_equal(merged_window_open(memfd_create("m", MFD_CLOEXEC), "r-1", &merged, NULL),
			 0);
	assert_int_equal(merged_window_add(merged, &part, NULL), -E2BIG);
	merged_window_free(merged);
	bytes_fini(&window);
}

static void addresses_of_a_kernel_are_not_merged(void **state)
{
	struct bytes window = {0};
	int fd = memfd_create("window", MFD_CLOEXEC);
	int kept = dup(fd);
	struct recording_writer *writer;
	uint64_t raw_bytes;

	assert_int_equal(recording_writer_open(fd, "w", &writer, NULL), 0);
	recording_writer_info(writer, "window.start", "1700000000000000000");
	recording_writer_info(writer, "start_monotonic_ns", "5");
	recording_writer_kernel_symbol(writer, KERNEL, 16, "sys_read", "");
	assert_int_equal(recording_writer_finish(writer, NULL), 0);
	recording_writer_free(writer);
	assert_non_null(bytes_reserve(&window, 65536));
	window.size = (size_t)pread(kept, window.data, 65536, 0);
	assert_false(merged_window_takes(window.data, window.size, &raw_bytes));
	(void)close(kept);
	bytes_fini(&window);
}

static void what_is_cut_off_is_not_merged(void **state)
{
	struct bytes window = {0};
	uint64_t raw_bytes;

	make_window("a", REAL_NS - NS_PER_SEC, 1, 5, &window);
	for (size_t size = 0; size < window.size; size++)
		(void)merged_window_takes(window.data, size, &raw_bytes); /* reads no byte behind */
	assert_false(merged_window_takes(window.data, window.size - 1, &raw_bytes));
	bytes_fini(&window);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_keep_their_weight_and_their_time_of_day),
		cmocka_unit_test(a_sample_without_room_for_a_label_is_not_merged),
		cmocka_unit_test(addresses_of_a_kernel_are_not_merged),
		cmocka_unit_test(what_is_cut_off_is_not_merged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
