/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/window.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/process_facts.h"
#include "agent/services.h"
#include "base/clock.h"
#include "base/error.h"
#include "live/live_profile.h"
#include "load/load.h"
#include "model/dictionary.h"
#include "model/profile.h"
#include "model/sink.h"
#include "recording/reader.h"

#define START_NS (1000 * NS_PER_SEC)
#define BUCKET_NS (30 * NS_PER_SEC)
#define PERIOD_NS (10 * NS_PER_MS)
#define TO_REAL_NS (5000 * NS_PER_SEC)

static int read_nothing(pid_t pid, struct process_facts *ret)
{
	*ret = (struct process_facts){0};
	if (pid == 8)
		(void)snprintf(ret->service, sizeof(ret->service), "shop");
	return 0;
}

/* Samples are handed in as an engine does; names come with the frames. */
struct fixture {
	struct load_options options;
	struct live_profile *live;
	struct services *services;
	struct sink *sink;
	uint32_t schema;
	uint32_t threads[3]; /* two of process 7, one of process 8 */
};

static bool meet(void *self, const struct dictionary *dictionary, uint32_t process)
{
	struct fixture *fixture = self;

	return services_meet(fixture->services, dictionary, process);
}

static void set_up_with(struct fixture *fixture, struct load_options options)
{
	struct live_profile_config config = {.options = &fixture->options,
					     .title = "host",
					     .start_ns = START_NS,
					     .slice_ns = BUCKET_NS,
					     .by_process = true,
					     .meet = meet,
					     .self = fixture};
	struct services_config services = {.read = read_nothing};
	struct schema schema = {
		.event = "cpu-clock", .value = "cpu", .unit = "nanoseconds", .period = PERIOD_NS};
	struct error err = {0};

	*fixture = (struct fixture){.options = options};
	assert_int_equal(services_new(&services, &fixture->services, &err), 0);
	assert_int_equal(live_profile_new(&config, &fixture->live, &err), 0);
	fixture->sink = live_profile_sink(fixture->live);
	assert_int_equal(sink_schema(fixture->sink, &schema, &fixture->schema), 0);
	for (uint32_t i = 0; i < 3; i++) {
		struct process process = {.pid = i < 2 ? 7 : 8, .comm = "app", .executable = ""};
		struct thread thread = {.tid = 7 + i, .comm = "thread"};

		assert_int_equal(sink_process(fixture->sink, &process, &thread.process), 0);
		assert_int_equal(sink_thread(fixture->sink, &thread, &fixture->threads[i]), 0);
	}
}

static void set_up(struct fixture *fixture)
{
	set_up_with(fixture, (struct load_options)LOAD_OPTIONS_DEFAULT);
}

static void tear_down(struct fixture *fixture)
{
	live_profile_free(fixture->live);
	services_free(fixture->services);
}

static uint32_t stack_of(struct fixture *fixture, const char *outer, const char *inner)
{
	const char *names[] = {outer, inner};
	struct frame frames[2];
	uint32_t id;

	for (size_t i = 0; i < 2; i++) {
		struct place place = {
			.name = names[i], .file = "", .module = MODULE_NONE, .outer = PLACE_NONE};

		frames[i] = (struct frame){.kind = FRAME_CUSTOM};
		assert_int_equal(sink_place(fixture->sink, &place, &frames[i].a), 0);
	}
	assert_int_equal(sink_stack(fixture->sink, frames, 2, &id), 0);
	return id;
}

static void put(struct fixture *fixture, uint32_t stack, size_t thread, uint64_t time_ns,
		uint64_t weight)
{
	uint32_t cpu = 0;
	uint32_t labels = 0;
	struct sample_batch batch = {.schema = fixture->schema,
				     .count = 1,
				     .stack = &stack,
				     .thread = &fixture->threads[thread],
				     .cpu = &cpu,
				     .labels = &labels,
				     .time_ns = &time_ns,
				     .weight = &weight};
	struct error err = {0};

	assert_int_equal(sink_batch(fixture->sink, &batch, &err), 0);
}

/* What was read back. */
struct result {
	const struct dictionary *dictionary;
	struct {
		uint64_t time_ns;
		uint64_t weight;
		uint64_t times;
		uint32_t pid;
		char leaf[32];
		char service[32];
	} rows[16];
	size_t count;
	char gaps[2][128];
	size_t gap_count;
	char id[64];
	char start[32];
	uint64_t lost;
};

static int take_info(void *self, const char *key, const char *value)
{
	struct result *result = self;

	if (strcmp(key, "gap") == 0)
		(void)snprintf(result->gaps[result->gap_count++ % 2], 128, "%s", value);
	if (strcmp(key, "window.id") == 0)
		(void)snprintf(result->id, sizeof(result->id), "%s", value);
	if (strcmp(key, "window.start") == 0)
		(void)snprintf(result->start, sizeof(result->start), "%s", value);
	return 0;
}

static int take_loss(void *self, enum loss_reason reason, uint64_t time_ns, uint64_t samples)
{
	struct result *result = self;

	(void)reason;
	(void)time_ns;
	result->lost += samples;
	return 0;
}

static int take_samples(void *self, const struct sample_batch *batch)
{
	struct result *result = self;
	const struct dictionary *dictionary = result->dictionary;

	for (size_t i = 0; i < batch->count; i++) {
		uint32_t frame = dictionary->stacks.nodes.items[batch->stack[i]].frame;
		uint32_t place = dictionary->frames.items[frame].a;
		const struct thread *thread = &dictionary->threads.items[batch->thread[i]];
		struct label labels[LABELS_MAX];
		size_t n = label_sets_get(&dictionary->labels, &dictionary->strings,
					  batch->labels[i], labels);

		assert_true(result->count < 16);
		result->rows[result->count].time_ns = batch->time_ns[i];
		result->rows[result->count].weight = batch->weight[i];
		result->rows[result->count].times = batch->times ? batch->times[i] : 1;
		result->rows[result->count].pid = dictionary->processes.items[thread->process].pid;
		(void)snprintf(result->rows[result->count].leaf, 32, "%s",
			       dictionary->places.items[place].name);
		for (size_t k = 0; k < n; k++)
			if (strcmp(labels[k].key, "service") == 0)
				(void)snprintf(result->rows[result->count].service, 32, "%s",
					       labels[k].value);
		result->count++;
	}
	return 0;
}

static void write_and_read(struct fixture *fixture, const struct window *window,
			   struct window_totals *totals, struct result *result)
{
	int fd = memfd_create("window", MFD_CLOEXEC);
	int copy = dup(fd);
	struct recording_reader *reader;
	struct recording_visitor visitor = {
		.self = result, .info = take_info, .samples = take_samples, .loss = take_loss};
	struct error err = {0};

	*result = (struct result){0};
	assert_int_equal(window_write(window, fixture->live, fixture->services, fd, totals, &err),
			 0);
	assert_int_equal(lseek(copy, 0, SEEK_SET), 0);
	assert_int_equal(recording_reader_open(copy, "window", &reader, &err), 0);
	result->dictionary = recording_reader_dictionary(reader);
	assert_int_equal(recording_reader_run(reader, &visitor, &err), 0);
	assert_true(recording_reader_damage(reader).complete);
	recording_reader_free(reader);
}

static struct window window_at(uint64_t start_ns, uint64_t length_ns)
{
	return (struct window){.id = "host-1-1",
			       .host = "host",
			       .start_ns = start_ns,
			       .end_ns = start_ns + length_ns,
			       .bucket_ns = BUCKET_NS,
			       .engine = "test",
			       .asked_hz = 100,
			       .achieved_hz = 99.5,
			       .to_real_ns = TO_REAL_NS};
}

static void samples_are_summed_by_process_stack_and_bucket(void **state)
{
	struct window window = window_at(START_NS, 60 * NS_PER_SEC);
	struct window_totals totals;
	struct fixture fixture;
	struct result result;
	uint64_t weight = 0;
	uint32_t work;

	(void)state;
	set_up(&fixture);
	work = stack_of(&fixture, "main", "work");
	for (uint64_t i = 0; i < 100; i++) /* two threads of one process, over both buckets */
		put(&fixture, work, i % 2, START_NS + i * NS_PER_SEC / 2, PERIOD_NS);
	put(&fixture, work, 2, START_NS + 1, 7 * PERIOD_NS); /* sampled at a lower rate */
	put(&fixture, stack_of(&fixture, "main", "rest"), 2, START_NS + 2, PERIOD_NS);
	write_and_read(&fixture, &window, &totals, &result);
	assert_int_equal(result.count, 4);
	for (size_t i = 0; i < result.count; i++) {
		weight += result.rows[i].weight;
		if (result.rows[i].pid == 7) {
			assert_int_equal(result.rows[i].times,
					 result.rows[i].time_ns == START_NS ? 60 : 40);
			assert_string_equal(result.rows[i].service, "app");
			assert_string_equal(result.rows[i].leaf, "work");
		} else {
			assert_int_equal(result.rows[i].time_ns, START_NS);
			assert_string_equal(result.rows[i].service, "shop");
		}
	}
	assert_int_equal(weight, 108 * PERIOD_NS);
	assert_int_equal(totals.weight, weight);
	assert_int_equal(totals.samples, 102);
	assert_string_equal(result.id, "host-1-1");
	assert_string_equal(result.start, "6000000000000");
	tear_down(&fixture);
}

static void a_late_sample_counts_in_the_next_window(void **state)
{
	struct window first = window_at(START_NS, BUCKET_NS);
	struct window second = window_at(START_NS + BUCKET_NS, BUCKET_NS);
	struct fixture fixture;
	struct result result;
	uint32_t work;

	(void)state;
	set_up(&fixture);
	work = stack_of(&fixture, "main", "work");
	put(&fixture, work, 0, START_NS + 1, PERIOD_NS);
	write_and_read(&fixture, &first, NULL, &result);
	assert_int_equal(result.count, 1);
	live_profile_drop(fixture.live, START_NS + BUCKET_NS);
	put(&fixture, work, 0, START_NS + 2, PERIOD_NS);
	put(&fixture, work, 0, START_NS + BUCKET_NS + 1, PERIOD_NS);
	write_and_read(&fixture, &second, NULL, &result);
	assert_int_equal(result.count, 1);
	assert_int_equal(result.rows[0].times, 2);
	assert_int_equal(result.rows[0].time_ns, START_NS + BUCKET_NS);
	tear_down(&fixture);
}

static void gaps_are_cut_to_the_window_and_losses_are_counted(void **state)
{
	struct window window = window_at(START_NS, 60 * NS_PER_SEC);
	struct window_gap gaps[] = {{START_NS - 5, START_NS + NS_PER_SEC, "breaker"},
				    {START_NS + 50 * NS_PER_SEC, UINT64_MAX, "memory"},
				    {START_NS + 70 * NS_PER_SEC, UINT64_MAX, "later"}};
	struct window_totals totals;
	struct fixture fixture;
	struct result result;

	(void)state;
	set_up(&fixture);
	window.gaps = gaps;
	window.gap_count = 3;
	assert_int_equal(sink_loss(fixture.sink, LOSS_RING_FULL, START_NS + 40 * NS_PER_SEC, 9), 0);
	write_and_read(&fixture, &window, &totals, &result);
	assert_int_equal(result.gap_count, 2);
	assert_string_equal(result.gaps[0], "6000000000000 6001000000000 breaker");
	assert_string_equal(result.gaps[1], "6050000000000 6060000000000 memory");
	assert_int_equal(result.lost, 9);
	assert_int_equal(totals.lost, 9);
	tear_down(&fixture);
}

static void with_addresses_the_frames_are_passed_on_as_they_are(void **state)
{
	struct window window = window_at(START_NS, BUCKET_NS);
	struct module module = {.kind = MODULE_FILE,
				.path = "/bin/app",
				.build_id = {.size = 4, .bytes = {1, 2, 3, 4}}};
	struct frame frame = {.kind = FRAME_NATIVE, .b = 0x1234};
	struct fixture fixture;
	struct recording_reader *reader;
	const struct dictionary *dictionary;
	static const struct recording_visitor nothing = {0};
	struct error err = {0};
	uint32_t stack;
	int fd = memfd_create("window", MFD_CLOEXEC);
	int copy = dup(fd);

	(void)state;
	set_up(&fixture);
	window.by_address = true;
	assert_int_equal(sink_module(fixture.sink, &module, &frame.a), 0);
	assert_int_equal(sink_stack(fixture.sink, &frame, 1, &stack), 0);
	put(&fixture, stack, 0, START_NS, PERIOD_NS);
	assert_int_equal(window_write(&window, fixture.live, fixture.services, fd, NULL, &err), 0);
	assert_int_equal(lseek(copy, 0, SEEK_SET), 0);
	assert_int_equal(recording_reader_open(copy, "window", &reader, &err), 0);
	assert_int_equal(recording_reader_run(reader, &nothing, &err), 0);
	dictionary = recording_reader_dictionary(reader);
	assert_int_equal(dictionary->frames.count, 1);
	assert_int_equal(dictionary->frames.items[0].kind, FRAME_NATIVE);
	assert_int_equal(dictionary->frames.items[0].b, 0x1234);
	assert_int_equal(dictionary->modules.items[0].build_id.size, 4);
	recording_reader_free(reader);
	tear_down(&fixture);
}

/* The table of the C library, which is large, is not there: another process has to build it. */
static void names_that_are_not_there_in_time_are_left_to_the_reader(void **state)
{
	struct window window = window_at(START_NS, BUCKET_NS);
	struct load_options options = LOAD_OPTIONS_DEFAULT;
	struct module module = {.kind = MODULE_FILE};
	struct frame frame = {.kind = FRAME_NATIVE, .b = 0x1234};
	char folder[] = "/tmp/wick-test-XXXXXX";
	char command[64];
	struct window_totals totals;
	struct fixture fixture;
	struct recording_reader *reader;
	const struct dictionary *dictionary;
	static const struct recording_visitor nothing = {0};
	struct error err = {0};
	Dl_info libc;
	uint32_t stack;
	int fd = memfd_create("window", MFD_CLOEXEC);
	int copy = dup(fd);

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(setenv("XDG_CACHE_HOME", folder, 1), 0);
	options.symbol_cache = true;
	options.tables_on_disk = true;
	set_up_with(&fixture, options);
	assert_true(dladdr(dlsym(RTLD_DEFAULT, "qsort"), &libc));
	module.path = libc.dli_fname;
	assert_int_equal(sink_module(fixture.sink, &module, &frame.a), 0);
	assert_int_equal(sink_stack(fixture.sink, &frame, 1, &stack), 0);
	put(&fixture, stack, 0, START_NS, PERIOD_NS);
	assert_int_equal(window_write(&window, fixture.live, fixture.services, fd, &totals, &err),
			 0);
	assert_int_equal(totals.samples, 1);
	assert_int_equal(totals.unnamed, 1);
	assert_int_equal(lseek(copy, 0, SEEK_SET), 0);
	assert_int_equal(recording_reader_open(copy, "window", &reader, &err), 0);
	assert_int_equal(recording_reader_run(reader, &nothing, &err), 0);
	dictionary = recording_reader_dictionary(reader);
	assert_int_equal(dictionary->frames.count, 1);
	assert_int_equal(dictionary->frames.items[0].kind, FRAME_NATIVE);
	assert_int_equal(dictionary->frames.items[0].b, 0x1234);
	recording_reader_free(reader);
	tear_down(&fixture);
	(void)snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_summed_by_process_stack_and_bucket),
		cmocka_unit_test(a_late_sample_counts_in_the_next_window),
		cmocka_unit_test(gaps_are_cut_to_the_window_and_losses_are_counted),
		cmocka_unit_test(with_addresses_the_frames_are_passed_on_as_they_are),
		cmocka_unit_test(names_that_are_not_there_in_time_are_left_to_the_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
