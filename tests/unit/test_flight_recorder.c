/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/flight_recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "load/names/jit_watch.h"
#include "record/record.h"
#include "recording/reader.h"
#include "recording/writer.h"

#define START_NS (100 * NS_PER_SEC)
#define LAST_NS (4 * NS_PER_SEC)
#define STEP_NS (100 * NS_PER_MS)
#define WEIGHT_NS (1 * NS_PER_MS)

/* A recording of which the last seconds are kept; its clock is turned by hand. */
struct plane {
	char folder[64];
	char output[96];
	struct engine_ops engine;
	struct record_config config;
	struct record_result result;
	struct jit_watch jit;
	struct flight *flight;
	struct recording_writer *writer;
	struct sink *sink;
	int fd; /* of the memory, to see how much it is */
	uint32_t process;
	uint32_t thread;
	uint32_t module;
	uint32_t schema;
	uint64_t now_ns;
	uint64_t fed;
};

static void name_things(struct plane *plane, const char *value)
{
	const struct schema schema = {value, value, "nanoseconds", WEIGHT_NS};
	const struct process process = {.pid = 7, .comm = "app", .executable = "/app"};
	const struct module module = {.kind = MODULE_OTHER_FILE, .path = "/app"};
	struct thread thread = {.tid = 7, .comm = "app"};
	struct sink *sink = plane->sink;

	assert_int_equal(sink_schema(sink, &schema, &plane->schema), 0);
	assert_int_equal(sink_process(sink, &process, &plane->process), 0);
	assert_int_equal(sink_module(sink, &module, &plane->module), 0);
	thread.process = plane->process;
	assert_int_equal(sink_thread(sink, &thread, &plane->thread), 0);
}

static void take_off(struct plane *plane, const char *name, const char *value)
{
	*plane = (struct plane){.folder = "/tmp/wick-flight-XXXXXX", .now_ns = START_NS};
	assert_non_null(mkdtemp(plane->folder));
	(void)snprintf(plane->output, sizeof(plane->output), "%s/%s", plane->folder, name);
	plane->engine.name = "fake";
	plane->config = (struct record_config){.engine = &plane->engine,
					       .sampling = {.event = "cpu-clock"},
					       .output = plane->output,
					       .title = "app",
					       .last_ns = LAST_NS};
	assert_int_equal(flight_open(&plane->config, &plane->flight, NULL), 0);
	plane->fd = flight_take_fd(plane->flight, NULL);
	assert_int_equal(recording_writer_open(flight_take_fd(plane->flight, NULL), "memory",
					       &plane->writer, NULL),
			 0);
	plane->sink = recording_writer_sink(plane->writer);
	name_things(plane, value);
}

static void land(struct plane *plane)
{
	char command[96];

	recording_writer_free(plane->writer);
	flight_close(plane->flight);
	(void)close(plane->fd);
	(void)snprintf(command, sizeof(command), "rm -r '%s'", plane->folder);
	assert_int_equal(system(command), 0);
}

/* One sample now; a key gives always the same stack, and one that does not compress. */
static void feed(struct plane *plane, uint64_t key, uint64_t weight)
{
	uint64_t scattered = key * 2654435761u & 0xffffff;
	struct frame frames[3] = {{FRAME_NATIVE, plane->module, 0x1000},
				  {FRAME_NATIVE, plane->module, 0x2000 + 4 * scattered},
				  {FRAME_NATIVE, plane->module, 0x90000000 + 8 * scattered}};
	uint32_t cpu = 0;
	uint32_t stack;
	struct sample_batch batch = {.schema = plane->schema,
				     .count = 1,
				     .stack = &stack,
				     .thread = &plane->thread,
				     .cpu = &cpu,
				     .time_ns = &plane->now_ns,
				     .weight = &weight};

	assert_int_equal(sink_stack(plane->sink, frames, 3, &stack), 0);
	assert_int_equal(sink_batch(plane->sink, &batch, NULL), 0);
	plane->fed++;
}

/* What the recorder does after a drain. */
static void look(struct plane *plane)
{
	struct engine_stats stats = {0};

	assert_true(sink_trim(plane->sink, NULL) >= 0);
	assert_int_equal(flight_look(plane->flight, plane->writer, &stats, plane->now_ns, NULL), 0);
}

/* Flies for a while with one sample every step. */
static void fly(struct plane *plane, uint64_t ns)
{
	uint64_t end_ns = plane->now_ns + ns;

	while (plane->now_ns < end_ns) {
		plane->now_ns += STEP_NS;
		feed(plane, plane->fed % 7, WEIGHT_NS);
		look(plane);
	}
}

static int write_now(struct plane *plane, struct flight_written *ret)
{
	struct flight_moment moment = {.writer = plane->writer,
				       .jit = &plane->jit,
				       .engine = "none",
				       .result = &plane->result,
				       .start_ns = START_NS,
				       .now_ns = plane->now_ns};

	return flight_write(plane->flight, &moment, ret, NULL);
}

/* What a file says. */
struct user_events {
	uint64_t samples;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t max_weight;
	uint64_t lost;
	unsigned int maps;
	char start[32];
	struct recording_damage damage;
};

static int on_samples(void *self, const struct sample_batch *batch)
{
	struct user_events *told = self;

	for (size_t i = 0; i < batch->count; i++) {
		if (told->samples++ == 0)
			told->first_ns = batch->time_ns[i];
		told->last_ns = batch->time_ns[i];
		told->max_weight =
			batch->weight[i] > told->max_weight ? batch->weight[i] : told->max_weight;
	}
	return 0;
}

static int on_loss(void *self, enum loss_reason reason, uint64_t time_ns, uint64_t samples)
{
	struct user_events *told = self;

	(void)reason, (void)time_ns;
	told->lost += samples;
	return 0;
}

static int on_map(void *self, const struct map_event *event)
{
	struct user_events *told = self;

	(void)event;
	told->maps++;
	return 0;
}

static int on_info(void *self, const char *key, const char *value)
{
	struct user_events *told = self;

	if (strcmp(key, "start_monotonic_ns") == 0)
		(void)snprintf(told->start, sizeof(told->start), "%s", value);
	return 0;
}

static struct user_events read_back(const char *path)
{
	struct user_events told = {0};
	struct recording_visitor visitor = {.self = &told,
					    .info = on_info,
					    .samples = on_samples,
					    .loss = on_loss,
					    .map = on_map};
	struct recording_reader *reader;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(recording_reader_open(fd, path, &reader, NULL), 0);
	assert_int_equal(recording_reader_run(reader, &visitor, NULL), 0);
	told.damage = recording_reader_damage(reader);
	recording_reader_free(reader);
	return told;
}

static void put_map(struct plane *plane, uint64_t start)
{
	const struct map_event event = {
		plane->process, plane->module, plane->now_ns, start, start + 0x1000, 0, start};

	assert_int_equal(sink_map(plane->sink, &event, NULL), 0);
}

static void a_result_holds_the_last_seconds_to_the_sample(void **state)
{
	struct flight_written written = {0};
	struct plane plane;
	struct user_events told;

	take_off(&plane, "x.wick", "cpu");
	put_map(&plane, 0x10000);
	fly(&plane, 30 * NS_PER_SEC + STEP_NS / 2);
	put_map(&plane, 0x20000);
	fly(&plane, NS_PER_SEC);
	assert_int_equal(write_now(&plane, &written), 0);
	told = read_back(written.path);

	assert_int_equal(written.covered_ns, LAST_NS);
	assert_int_equal(written.samples, LAST_NS / STEP_NS + 1); /* both ends count */
	assert_int_equal(told.samples, written.samples);
	assert_int_equal(told.first_ns, plane.now_ns - LAST_NS);
	assert_int_equal(told.last_ns, plane.now_ns);
	assert_int_equal(strtoull(told.start, NULL, 10), plane.now_ns - LAST_NS);
	assert_int_equal(told.maps, 2);
	assert_true(told.damage.complete);
	assert_int_equal(told.damage.missing_chunks + told.damage.missing_samples, 0);
	land(&plane);
}

static void a_recording_that_is_younger_is_written_whole(void **state)
{
	struct flight_written written = {0};
	struct plane plane;

	take_off(&plane, "x.wick", "cpu");
	fly(&plane, NS_PER_SEC);
	assert_int_equal(write_now(&plane, &written), 0);

	assert_int_equal(written.covered_ns, NS_PER_SEC);
	assert_int_equal(read_back(written.path).samples, plane.fed);
	land(&plane);
}

static void losses_are_told_of_the_last_seconds_alone(void **state)
{
	struct flight_written written = {0};
	struct plane plane;

	take_off(&plane, "x.wick", "cpu");
	fly(&plane, NS_PER_SEC);
	assert_int_equal(sink_loss(plane.sink, LOSS_RING_FULL, plane.now_ns, 5), 0);
	fly(&plane, LAST_NS);
	assert_int_equal(sink_loss(plane.sink, LOSS_RING_FULL, plane.now_ns, 3), 0);
	fly(&plane, NS_PER_SEC);
	assert_int_equal(write_now(&plane, &written), 0);

	assert_int_equal(read_back(written.path).lost, 3);
	land(&plane);
}

static void a_sleep_counts_from_the_start_of_what_is_kept(void **state)
{
	struct flight_written written = {0};
	struct plane plane;

	take_off(&plane, "x.wick", "off-cpu");
	fly(&plane, 20 * NS_PER_SEC);
	feed(&plane, 1, 15 * NS_PER_SEC);
	plane.now_ns += NS_PER_SEC;
	assert_int_equal(write_now(&plane, &written), 0);

	assert_int_equal(read_back(written.path).max_weight, LAST_NS - NS_PER_SEC);
	land(&plane);
}

static uint64_t held_bytes(const struct plane *plane)
{
	struct stat status;

	assert_int_equal(fstat(plane->fd, &status), 0);
	return (uint64_t)status.st_blocks * 512;
}

/* 2,000 stacks a second that never come again, for eight windows. */
static void fly_with_new_stacks(struct plane *plane)
{
	uint64_t end_ns = plane->now_ns + 8 * LAST_NS;

	while (plane->now_ns < end_ns) {
		for (int i = 0; i < 200; i++) {
			plane->now_ns += STEP_NS / 200;
			feed(plane, plane->fed, WEIGHT_NS);
		}
		look(plane);
	}
}

static void memory_stays_the_same_over_many_windows(void **state)
{
	struct flight_written written = {0};
	struct plane plane;
	size_t heap_bytes;
	uint64_t kept_bytes;

	take_off(&plane, "x.wick", "cpu");
	fly_with_new_stacks(&plane);
	kept_bytes = held_bytes(&plane);
	heap_bytes = mallinfo2().uordblks;
	for (int i = 0; i < 8; i++)
		fly_with_new_stacks(&plane);

	assert_true(recording_writer_bytes(plane.writer) > 20 * kept_bytes);
	assert_true(held_bytes(&plane) < kept_bytes + kept_bytes / 4);
	/* Both are 0 under allocators of checkers. */
	assert_true(mallinfo2().uordblks <= heap_bytes + heap_bytes / 4);
	assert_int_equal(write_now(&plane, &written), 0);
	assert_int_equal(written.samples, 2000 * LAST_NS / NS_PER_SEC + 1);
	assert_true(read_back(written.path).damage.complete);
	land(&plane);
}

static void results_go_beside_each_other(void **state)
{
	static const char *const cases[][3] = {
		{"x.wick", "x-2.wick", "x-4.wick"}, {"x", "x-2", "x-4"}, {".x", ".x-2", ".x-4"}};

	for (size_t i = 0; i < 3; i++) {
		struct flight_written written = {0};
		char other[128];
		struct plane plane;
		const char *dot = strrchr(cases[i][0] + 1, '.');

		take_off(&plane, cases[i][0], "cpu");
		/* One of an earlier day. */
		(void)snprintf(other, sizeof(other), "%s/%s-3%s", plane.folder, i == 2 ? ".x" : "x",
			       dot ? dot : "");
		assert_int_equal(close(creat(other, 0600)), 0);
		for (size_t k = 0; k < 3; k++) {
			fly(&plane, NS_PER_SEC);
			assert_int_equal(write_now(&plane, &written), 0);
			assert_string_equal(written.path + strlen(plane.folder) + 1, cases[i][k]);
		}
		land(&plane);
	}
}

static void a_writing_that_fails_can_be_tried_again(void **state)
{
	struct flight_written written = {0};
	struct plane plane;

	take_off(&plane, "x.wick", "cpu");
	fly(&plane, 2 * LAST_NS);
	assert_int_equal(rmdir(plane.folder), 0);
	assert_int_equal(write_now(&plane, &written), -ENOENT);
	assert_int_equal(mkdir(plane.folder, 0700), 0);
	assert_int_equal(write_now(&plane, &written), 0);

	assert_string_equal(written.path, plane.output);
	assert_int_equal(read_back(written.path).samples, LAST_NS / STEP_NS + 1);
	land(&plane);
}

static void an_output_that_cannot_be_made_is_refused_at_once(void **state)
{
	struct record_config config = {.output = "/nowhere/at/all.wick", .last_ns = LAST_NS};
	struct flight *flight = NULL;
	struct error err;

	assert_int_equal(flight_open(&config, &flight, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nowhere/at/all.wick"));
	assert_null(flight);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_result_holds_the_last_seconds_to_the_sample),
		cmocka_unit_test(a_recording_that_is_younger_is_written_whole),
		cmocka_unit_test(losses_are_told_of_the_last_seconds_alone),
		cmocka_unit_test(a_sleep_counts_from_the_start_of_what_is_kept),
		cmocka_unit_test(memory_stays_the_same_over_many_windows),
		cmocka_unit_test(results_go_beside_each_other),
		cmocka_unit_test(a_writing_that_fails_can_be_tried_again),
		cmocka_unit_test(an_output_that_cannot_be_made_is_refused_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
