/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/vec.h"
#include "load/load.h"
#include "make_recording.h"
#include "model/profile.h"
#include "profile_sum.h"
#include "recording/format.h"

struct world {
	struct made made;
	struct load_options options;
	struct profile *profile;
};

/*
 * Three threads: app/100 at 1 µs in main;parse, worker/101 at 2 µs in main;read,
 * other/200 of another process at 3 µs in a library without a file; at 4 µs app/100
 * is in the kernel, called from main;read.
 */
static void record_usual(struct made *made)
{
	uint32_t app = make_thread(made, made->process, 100, "app");
	uint32_t worker = make_thread(made, made->process, 101, "worker");
	uint32_t other = make_thread(made, make_process(made, 200, "other"), 200, "other");
	struct frame parse[] = {user(made, 0x1050), user(made, 0x1110)};
	struct frame read[] = {user(made, 0x1050), user(made, 0x1210)};
	struct frame in_library[] = {user(made, 0x1050), library(made, 0x777)};
	struct frame kernel[] = {user(made, 0x1050), user(made, 0x1210), in_kernel(made, 0x10),
				 in_kernel(made, 0x110)};

	make_sample_of(made, app, 1000, parse, 2);
	make_sample_of(made, worker, 2000, read, 2);
	make_sample_of(made, other, 3000, in_library, 2);
	make_sample_of(made, app, 4000, kernel, 4);
}

static int set_up(void **state)
{
	static struct world world;

	world = (struct world){.options = LOAD_OPTIONS_DEFAULT};
	make_begin(&world.made);
	*state = &world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	profile_free(world->profile);
	made_fini(&world->made);
	return 0;
}

static void load(struct world *world)
{
	profile_free(world->profile);
	world->profile = NULL;
	assert_int_equal(load_profile(world->made.path, &world->options, &world->profile, NULL), 0);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Compares the stacks, sorted, one a line: "main;parse 1". */
static void assert_stacks(const struct world *world, const char *expected)
{
	const struct profile *profile = world->profile;
	char lines[16][128] = {{0}};
	char text[2048] = "";
	size_t i;

	for (i = 0; i < profile->entries.count && i < 16; i++) {
		uint32_t node = profile->entries.items[i].stack;
		char line[128];

		(void)snprintf(lines[i], 128, " %d\n", (int)profile_entry_values(profile, i)[0]);
		for (; node != 0; node = profile->stacks.nodes.items[node].parent) {
			uint32_t location = profile->stacks.nodes.items[node].frame;
			uint32_t first = profile->locations.items[location].first_line;
			uint32_t function = profile->lines.items[first].function;
			bool root = profile->stacks.nodes.items[node].parent == 0;

			(void)snprintf(
				line, sizeof(line), "%s%s%.80s", root ? "" : ";",
				profile_text(profile, profile->functions.items[function].name),
				lines[i]);
			(void)snprintf(lines[i], 128, "%.120s", line);
		}
	}
	qsort(lines, profile->entries.count, sizeof(lines[0]), by_text);
	for (i = 0; i < profile->entries.count && i < 16; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s", lines[i]);
	assert_string_equal(text, expected);
}

static void everything_is_there_without_filters(void **state)
{
	struct world *world = *state;

	record_usual(&world->made);
	make_end(&world->made);
	load(world);
	assert_stacks(world, "main;libx.so+0x777 1\n"
			     "main;parse 1\n"
			     "main;read 1\n"
			     "main;read;sys_entry;sys_read 1\n");
	assert_int_equal(world->profile->quality.samples, 4);
	assert_int_equal(world->profile->quality.unsymbolised, 1);
	assert_int_equal(world->profile->quality.truncated, 0);
	assert_false(world->profile->quality.incomplete);
	assert_int_equal(world->profile->duration_ns, 10000);
	assert_int_equal(world->profile->start_realtime_ns, 1700000000000000000u);
	assert_int_equal(world->profile->period_ns, WEIGHT_NS);
	assert_string_equal(world->profile->title, "app");
	assert_int_equal(profile_entry_values(world->profile, 0)[1], WEIGHT_NS);
}

static void a_slice_of_time_starts_with_from_and_ends_before_to(void **state)
{
	struct world *world = *state;

	record_usual(&world->made);
	make_end(&world->made);
	world->options.from_ns = 2000;
	world->options.to_ns = 3000;
	load(world);
	assert_stacks(world, "main;read 1\n");
	assert_int_equal(world->profile->duration_ns, 1000);
	assert_int_equal(world->profile->start_realtime_ns, 1700000000000002000u);
	world->options.from_ns = 5000;
	load(world);
	assert_stacks(world, "");
	assert_int_equal(world->profile->duration_ns, 0);
}

static void processes_threads_and_names_are_filtered(void **state)
{
	static const uint64_t pid[] = {200};
	static const uint64_t tid[] = {101, 200};
	static const char *const comm[] = {"worker"};
	struct world *world = *state;

	record_usual(&world->made);
	make_end(&world->made);
	world->options.pids = pid;
	world->options.pid_count = 1;
	load(world);
	assert_stacks(world, "main;libx.so+0x777 1\n");
	world->options.pid_count = 0;
	world->options.tids = tid;
	world->options.tid_count = 2;
	load(world);
	assert_stacks(world, "main;libx.so+0x777 1\nmain;read 1\n");
	world->options.comms = comm;
	world->options.comm_count = 1;
	load(world);
	assert_stacks(world, "main;read 1\n");
}

static void functions_and_modules_are_filtered(void **state)
{
	static const char *const only[] = {"^read$", "^parse"};
	static const char *const ignore[] = {"^sys_"};
	static const char *const module[] = {"libx.so"};
	struct world *world = *state;

	record_usual(&world->made);
	make_end(&world->made);
	world->options.only = only;
	world->options.only_count = 2;
	load(world);
	assert_int_equal(world->profile->quality.samples, 3);
	world->options.ignore = ignore;
	world->options.ignore_count = 1;
	load(world);
	assert_stacks(world, "main;parse 1\nmain;read 1\n");
	world->options.only_count = 0;
	world->options.ignore_count = 0;
	world->options.modules = module;
	world->options.module_count = 1;
	load(world);
	assert_stacks(world, "main;libx.so+0x777 1\n");
}

static void a_bad_expression_is_refused_in_words(void **state)
{
	static const char *const only[] = {"fine", "("};
	struct world *world = *state;
	struct error err = {0};

	make_end(&world->made);
	world->options.only = only;
	world->options.only_count = 2;
	assert_int_equal(load_profile(world->made.path, &world->options, &world->profile, &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "( is not a regular expression"));
	assert_true(err.remedy[0]);
}

static void without_the_kernel_its_time_goes_to_the_function_that_entered_it(void **state)
{
	struct world *world = *state;

	record_usual(&world->made);
	make_end(&world->made);
	world->options.kernel = false;
	world->options.from_ns = 4000;
	load(world);
	assert_stacks(world, "main;read 1\n");
	assert_int_equal(world->profile->quality.samples, 1);
}

static void a_return_address_belongs_to_the_call_before_it(void **state)
{
	struct world *world = *state;
	uint32_t thread = make_thread(&world->made, world->made.process, 100, "app");
	/* The call is the last instruction of main: it returns to where parse begins. */
	struct frame stack[] = {user(&world->made, 0x1100), user(&world->made, 0x1200)};

	make_sample_of(&world->made, thread, 1000, stack, 2);
	make_end(&world->made);
	load(world);
	assert_stacks(world, "main;read 1\n"); /* and the leaf is where it is */
}

static void the_frame_that_entered_the_kernel_was_interrupted_where_it_is(void **state)
{
	struct world *world = *state;
	uint32_t thread = make_thread(&world->made, world->made.process, 100, "app");
	struct frame stack[] = {user(&world->made, 0x1100), user(&world->made, 0x1200),
				in_kernel(&world->made, 0x100), in_kernel(&world->made, 0x100)};

	make_sample_of(&world->made, thread, 1000, stack, 4);
	make_sample_of(&world->made, thread, 2000, stack, 2);
	make_end(&world->made);
	load(world);
	assert_stacks(world, "main;read 1\nmain;read;sys_entry;sys_read 1\n");
}

static void stacks_that_were_cut_are_counted(void **state)
{
	struct world *world = *state;
	uint32_t thread = make_thread(&world->made, world->made.process, 100, "app");
	struct frame stack[] = {{.kind = FRAME_TRUNCATED}, user(&world->made, 0x1050)};

	make_sample_of(&world->made, thread, 1000, stack, 2);
	make_sample_of(&world->made, thread, 1001, stack + 1, 1);
	make_end(&world->made);
	load(world);
	assert_stacks(world, "[truncated];main 1\nmain 1\n");
	assert_int_equal(world->profile->quality.truncated, 1);
}

static void an_address_in_no_module_has_no_name(void **state)
{
	struct world *world = *state;
	uint32_t thread = make_thread(&world->made, world->made.process, 100, "app");
	struct frame stack[] = {{.kind = FRAME_NATIVE, .a = MODULE_NONE, .b = 0xdead}};

	make_sample_of(&world->made, thread, 1000, stack, 1);
	make_sample_of(&world->made, thread, 1000, stack, 0);
	make_end(&world->made);
	load(world);
	assert_int_equal(world->profile->quality.unsymbolised, 1);
	assert_int_equal(world->profile->quality.samples, 2);
}

static void compiled_code_has_the_name_that_its_process_gave_it(void **state)
{
	struct world *world = *state;
	struct made *made = &world->made;
	struct recording_jit_symbol symbol = {
		.pid = 100, .start = 0x7f0000001000, .size = 0x40, .name = "JS:*tick a.js:1"};
	struct module memory = {
		.kind = MODULE_ANONYMOUS, .path = "[anonymous]", .owner = made->process};
	uint32_t thread = make_thread(made, made->process, 100, "app");
	uint32_t other = make_process(made, 200, "other");
	struct frame frames[2] = {{.kind = FRAME_NATIVE, .b = 0x7f0000001008},
				  {.kind = FRAME_NATIVE, .b = 0x7f0000001008}};

	assert_int_equal(sink_module(made->sink, &memory, &frames[0].a), 0);
	memory.owner = other;
	assert_int_equal(sink_module(made->sink, &memory, &frames[1].a), 0);
	make_sample_of(made, thread, 0, &frames[0], 1);
	make_sample_of(made, thread, 0, &frames[1], 1);
	recording_writer_jit_symbol(made->writer, &symbol);
	make_end(made);
	load(world);
	assert_stacks(world, "JS:*tick a.js:1 1\n[anon]+0x7f0000001008 1\n");
}

static void compiled_code_is_what_was_there_at_the_time(void **state)
{
	struct world *world = *state;
	struct made *made = &world->made;
	struct recording_jit_symbol symbol = {.pid = 100,
					      .start = 0x7f0000001000,
					      .size = 0x40,
					      .name = "second",
					      .from_ns = START_NS + 2000,
					      .file = "b.js",
					      .line = 7};
	struct module memory = {
		.kind = MODULE_ANONYMOUS, .path = "[anonymous]", .owner = made->process};
	uint32_t thread = make_thread(made, made->process, 100, "app");
	struct frame frames[2] = {user(made, 0x1050), {.kind = FRAME_NATIVE, .b = 0x7f0000001008}};

	assert_int_equal(sink_module(made->sink, &memory, &frames[1].a), 0);
	for (uint64_t time_ns = 1000; time_ns <= 4000; time_ns += 500) /* two, then five */
		make_sample_of(made, thread, time_ns, frames, 2);
	recording_writer_jit_symbol(made->writer, &symbol);
	symbol.name = "first";
	symbol.from_ns = START_NS + 500;
	symbol.file = NULL;
	symbol.line = 0;
	recording_writer_jit_symbol(made->writer, &symbol);
	make_end(made);
	load(world);
	assert_stacks(world, "main;first 2\nmain;second 5\n");
	assert_int_equal(world->profile->quality.resolved, 5);
	assert_int_equal(world->profile->quality.name_only, 2);
}

static struct frame python_call(struct made *made, const char *name)
{
	struct place place = {.name = name,
			      .file = "app.py",
			      .line = 1,
			      .module = MODULE_NONE,
			      .origin = ORIGIN_INTERPRETED,
			      .outer = PLACE_NONE};
	struct frame frame = {.kind = FRAME_CUSTOM};

	assert_int_equal(sink_place(made->sink, &place, &frame.a), 0);
	return frame;
}

/* Those of python3 -X perf, which start the interpreter's loop for one function each. */
static void code_that_starts_a_known_call_is_not_shown_twice(void **state)
{
	struct world *world = *state;
	struct made *made = &world->made;
	struct recording_jit_symbol symbol = {
		.pid = 100, .start = 0x7f0000001000, .size = 0x40, .name = "py::work:app.py"};
	struct module memory = {
		.kind = MODULE_ANONYMOUS, .path = "[anonymous]", .owner = made->process};
	uint32_t thread = make_thread(made, made->process, 100, "app");
	struct frame own = {.kind = FRAME_NATIVE, .b = 0x7f0000001008};
	struct frame other = {.kind = FRAME_NATIVE, .b = 0x7f0000001108};
	struct frame work = python_call(made, "work");
	struct frame nested[] = {user(made, 0x1050), own, work, user(made, 0x1110)};
	struct frame again[] = {user(made, 0x1050), other, work, user(made, 0x1110)};
	struct frame inlined[] = {user(made, 0x1050), own, work, python_call(made, "callee")};
	struct frame starting[] = {user(made, 0x1050), own};

	assert_int_equal(sink_module(made->sink, &memory, &own.a), 0);
	nested[1].a = again[1].a = inlined[1].a = starting[1].a = own.a;
	make_sample_of(made, thread, 1000, nested, 4);
	make_sample_of(made, thread, 2000, again, 4);
	make_sample_of(made, thread, 3000, inlined, 4);
	make_sample_of(made, thread, 4000, starting, 2);
	recording_writer_jit_symbol(made->writer, &symbol);
	make_end(made);
	load(world);
	assert_stacks(world, "main;py::work:app.py 1\nmain;work;callee 1\nmain;work;parse 2\n");
}

static void frames_that_name_no_module_have_a_placeholder(void **state)
{
	static const uint32_t kinds[] = {FRAME_PYTHON, FRAME_JIT, FRAME_CUSTOM, 6, 7};
	struct world *world = *state;
	uint32_t thread = make_thread(&world->made, world->made.process, 100, "app");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		/* What looks like a module id is far beyond the modules of the file. */
		struct frame stack[] = {user(&world->made, 0x1050),
					{.kind = kinds[i], .a = 0x7fffffff, .b = 1},
					{.kind = kinds[i], .a = 0x7fffffff, .b = 2}};

		make_sample_of(&world->made, thread, 1000 + i, stack, 3);
	}
	make_end(&world->made);
	load(world);
	assert_stacks(world, "main;[custom];[custom] 1\n"
			     "main;[jit];[jit] 1\n"
			     "main;[python];[python] 1\n"
			     "main;[unknown kind];[unknown kind] 2\n");
	assert_int_equal(world->profile->quality.unsymbolised, ARRAY_SIZE(kinds));
}

static void weights_that_fit_into_no_number_stop_at_the_largest(void **state)
{
	struct world *world = *state;
	uint32_t thread = make_thread(&world->made, world->made.process, 100, "app");
	struct frame parse[] = {user(&world->made, 0x1050), user(&world->made, 0x1110)};
	struct frame read[] = {user(&world->made, 0x1050), user(&world->made, 0x1210)};
	int64_t sum = 0;
	size_t i;

	make_heavy_sample_of(&world->made, thread, 1000, parse, 2, WEIGHT_NS);
	make_heavy_sample_of(&world->made, thread, 2000, parse, 2, (uint64_t)INT64_MAX + 5);
	make_heavy_sample_of(&world->made, thread, 3000, read, 2, UINT64_MAX - 1);
	make_end(&world->made);
	load(world);
	assert_int_equal(world->profile->entries.count, 2);
	for (i = 0; i < 2; i++)
		assert_false(__builtin_add_overflow(sum, profile_entry_values(world->profile, i)[1],
						    &sum));
	assert_true(sum == INT64_MAX);
}

static void assert_state(const struct world *world, size_t i, const char *name, int64_t count)
{
	const struct profile *profile = world->profile;

	assert_true(i < profile->states.count);
	assert_string_equal(profile_text(profile, profile->states.items[i].name), name);
	assert_int_equal(profile->state_values.items[i * profile->value_count], count);
	assert_int_equal(profile->state_values.items[i * profile->value_count + 1],
			 count * WEIGHT_NS);
}

static void states_are_added_up_whatever_the_stack(void **state)
{
	struct world *world = *state;
	uint32_t thread = make_thread(&world->made, world->made.process, 100, "app");
	const struct frame stack[] = {user(&world->made, 0x1010), user(&world->made, 0x1108)};

	make_sample_in(&world->made, thread, 1000, stack, 2, "sleeping");
	make_sample_in(&world->made, thread, 2000, stack, 1, "S");
	make_sample_in(&world->made, thread, 3000, stack, 2, "waiting for a CPU");
	make_sample_in(&world->made, thread, 4000, stack, 2, NULL);
	make_end(&world->made);
	load(world);
	assert_int_equal(world->profile->states.count, 3);
	assert_state(world, 0, "sleeping", 2);
	assert_state(world, 1, "waiting for a CPU", 1);
	assert_state(world, 2, "", 1);
	assert_int_equal(world->profile->entries.count, 4); /* one for each stack and state */
	world->options.to_ns = 2000; /* who told of them is not known: they are moments */
	load(world);
	assert_int_equal(world->profile->states.count, 1);
	assert_state(world, 0, "sleeping", 1);
}

/* Engines tell it in letters of the kernel or in words of their own. */
static void states_have_the_same_names_whoever_told_them(void **state)
{
	static const char *const labels[] = {"state=running", "state=R", "state=on CPU"};
	struct world *world = *state;
	uint32_t thread = make_thread(&world->made, world->made.process, 100, "app");
	const struct frame stack[] = {user(&world->made, 0x1010)};

	make_sample_in(&world->made, thread, 1000, stack, 1, "on CPU");
	make_sample_in(&world->made, thread, 2000, stack, 1, "R");
	make_sample_in(&world->made, thread, 3000, stack, 1, "running");
	make_sample_in(&world->made, thread, 4000, stack, 1, "S");
	make_end(&world->made);
	load(world);
	assert_int_equal(world->profile->states.count, 2);
	assert_state(world, 0, "on CPU", 3);
	world->options.label_count = 1;
	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		world->options.labels = &labels[i];
		load(world);
		assert_int_equal(world->profile->states.count, 1);
		assert_state(world, 0, "on CPU", 3);
	}
}

/* What the engines tell of when a thread comes back, or left, belongs to the time it was away. */
static void a_sleep_counts_where_it_was(void **state)
{
	struct world *world = *state;
	uint32_t thread = make_thread(&world->made, world->made.process, 100, "app");
	const struct frame stack[] = {user(&world->made, 0x1010), user(&world->made, 0x1108)};
	const int64_t *values;

	recording_writer_info(world->made.writer, "engine", "signal");
	make_sample_in(&world->made, thread, 3000, stack, 2, "sleeping"); /* from 2000 on */
	make_sample_in(&world->made, thread, 2500, stack, 2, "running");
	make_end(&world->made);
	world->options.from_ns = 2100;
	world->options.to_ns = 2400;
	load(world);
	assert_int_equal(world->profile->entries.count, 1);
	values = profile_entry_values(world->profile, 0);
	assert_int_equal(values[0], 1);
	assert_int_equal(values[1], 300);
	world->options.from_ns = 3000; /* it is over */
	world->options.to_ns = UINT64_MAX;
	load(world);
	assert_int_equal(world->profile->entries.count, 0);
}

static void a_sleep_may_be_told_of_by_its_begin(void **state)
{
	struct world *world = *state;
	uint32_t thread = make_thread(&world->made, world->made.process, 100, "app");
	const struct frame stack[] = {user(&world->made, 0x1010), user(&world->made, 0x1108)};

	recording_writer_info(world->made.writer, "engine", "ebpf");
	make_sample_in(&world->made, thread, 2000, stack, 2, "sleeping"); /* until 3000 */
	make_end(&world->made);
	world->options.from_ns = 2900;
	load(world);
	assert_int_equal(world->profile->entries.count, 1);
	assert_int_equal(profile_entry_values(world->profile, 0)[1], 100);
}

/* A sleep of two slices weighs in each; it counts in the last, and goes on in the other. */
static void a_sleep_is_in_all_slices_that_it_covers(void **state)
{
	struct world *world = *state;
	uint32_t thread = make_thread(&world->made, world->made.process, 100, "app");
	const struct frame stack[] = {user(&world->made, 0x1010), user(&world->made, 0x1108)};
	const struct profile_moment *moments;

	recording_writer_info(world->made.writer, "engine", "signal");
	world->made.weight = 2000;
	make_sample_in(&world->made, thread, 10001000, stack, 2, "sleeping");
	make_end(&world->made);
	world->options.slices = true;
	load(world);
	assert_int_equal(world->profile->slice_ns, 10000000);
	assert_int_equal(world->profile->moments.count, 2);
	moments = world->profile->moments.items;
	assert_int_equal(moments[0].slice, 0);
	assert_int_equal(moments[0].values[0], 0);
	assert_int_equal(moments[0].values[1], 1000);
	assert_int_equal(moments[0].going_on, 1);
	assert_int_equal(moments[1].slice, 1);
	assert_int_equal(moments[1].values[0], 1);
	assert_int_equal(moments[1].values[1], 1000);
	assert_int_equal(moments[1].going_on, 0);
	world->options.slices = false;
}

static void losses_are_passed_on(void **state)
{
	struct world *world = *state;

	assert_int_equal(sink_loss(world->made.sink, LOSS_RING_FULL, START_NS, 9), 0);
	make_end(&world->made);
	load(world);
	assert_int_equal(world->profile->quality.lost, 9);
}

static void a_recording_cut_before_its_first_sample_lasted_no_time(void **state)
{
	struct world *world = *state;

	assert_int_equal(recording_writer_flush(world->made.writer, NULL), 0);
	load(world);
	assert_int_equal(world->profile->duration_ns, 0);
	assert_int_equal(world->profile->quality.samples, 0);
	assert_true(world->profile->quality.incomplete);
}

static void a_file_that_is_not_there_is_named_with_a_remedy(void **state)
{
	struct world *world = *state;
	struct error err = {0};

	assert_int_equal(load_profile("/no/such.wick", &world->options, &world->profile, &err),
			 -ENOENT);
	assert_non_null(strstr(err.text, "/no/such.wick"));
	assert_non_null(strstr(err.remedy, "wick record"));
}

static void what_is_no_recording_is_refused_and_closed(void **state)
{
	struct world *world = *state;
	struct error err = {0};
	int before = dup(0);
	int after;

	assert_true(load_profile(world->made.program, &world->options, &world->profile, &err) < 0);
	assert_non_null(strstr(err.text, world->made.program));
	after = dup(0);
	assert_int_equal(after, before + 1); /* nothing was left open in between */
	(void)close(before);
	(void)close(after);
}

/* Compares the moments: "slice:samples:weight" for each, and the tid of threads but the first. */
static void assert_moments(const struct world *world, const char *expected)
{
	char text[256] = "";
	size_t i;

	for (i = 0; i < world->profile->moments.count; i++) {
		struct profile_moment moment = world->profile->moments.items[i];

		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%u:%d:%d",
			       moment.slice, (int)moment.values[0], (int)moment.values[1]);
		if (moment.thread > 0)
			(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), ":%u",
				       world->profile->threads.items[moment.thread].tid);
		(void)strncat(text, " ", sizeof(text) - strlen(text) - 1);
	}
	assert_string_equal(text, expected);
}

static void slices_of_time_are_kept_when_asked_for(void **state)
{
	struct world *world = *state;
	uint32_t app = make_thread(&world->made, world->made.process, 100, "app");
	struct frame main_only[] = {user(&world->made, 0x1050)};

	make_sample_of(&world->made, app, 1000, main_only, 1);
	make_sample_of(&world->made, app, 9000000, main_only, 1);
	make_sample_of(&world->made, app, 15000000, main_only, 1);
	make_end(&world->made);
	load(world);
	assert_moments(world, "");
	world->options.slices = true;
	load(world);
	assert_moments(world, "0:2:2000 1:1:1000 ");
	assert_stacks(world, "main 3\n");
	world->options.from_ns = 9000000;
	load(world);
	assert_moments(world, "0:2:2000 ");
}

static void slices_tell_threads_apart(void **state)
{
	struct world *world = *state;
	uint32_t app = make_thread(&world->made, world->made.process, 100, "app");
	uint32_t worker = make_thread(&world->made, world->made.process, 101, "worker");
	struct frame main_only[] = {user(&world->made, 0x1050)};

	make_sample_of(&world->made, app, 1000, main_only, 1);
	make_sample_of(&world->made, worker, 2000, main_only, 1);
	make_sample_of(&world->made, worker, 15000000, main_only, 1);
	make_end(&world->made);
	world->options.slices = true;
	load(world);
	assert_moments(world, "0:1:1000 0:1:1000:101 1:1:1000:101 ");
	assert_int_equal(world->profile->slice_ns, 10000000);
}

static void slices_grow_with_the_recording(void **state)
{
	struct world *world = *state;
	uint32_t app = make_thread(&world->made, world->made.process, 100, "app");
	struct frame main_only[] = {user(&world->made, 0x1050)};

	make_sample_of(&world->made, app, 1000, main_only, 1);
	make_sample_of(&world->made, app, 15000000, main_only, 1);
	make_sample_of(&world->made, app, 25000000, main_only, 1);
	make_sample_of(&world->made, app, 6000000000, main_only, 1); /* 512 are not enough */
	make_end(&world->made);
	world->options.slices = true;
	load(world);
	assert_moments(world, "0:2:2000 1:1:1000 300:1:1000 ");
	assert_stacks(world, "main 4\n");
}

static void events_beside_the_main_one_are_values_too(void **state)
{
	static const struct schema faults = {"page-faults", "faults", "count", 1};
	struct world *world = *state;
	uint32_t app = make_thread(&world->made, world->made.process, 100, "app");
	struct frame main_only[] = {user(&world->made, 0x1050)};
	struct frame other[] = {user(&world->made, 0x1150)};
	uint32_t sampled = world->made.schema;
	uint32_t counted;

	assert_int_equal(sink_schema(world->made.sink, &faults, &counted), 0);
	make_sample_of(&world->made, app, 1000, main_only, 1);
	world->made.schema = counted;
	make_heavy_sample_of(&world->made, app, 1000, main_only, 1, 7);
	make_heavy_sample_of(&world->made, app, 15000000, main_only, 1, 20);
	make_heavy_sample_of(&world->made, app, 16000000, other, 1, 300); /* of this alone */
	world->made.schema = sampled;
	make_sample_of(&world->made, app, 6000000000, main_only, 1); /* slices become one */
	world->made.schema = counted;
	make_heavy_sample_of(&world->made, app, 6000000000, main_only, 1, 4000);
	make_end(&world->made);
	for (int slices = 0; slices < 2; slices++) {
		world->options.slices = slices;
		load(world);
		assert_int_equal(world->profile->value_count, 3);
		assert_int_equal(world->profile->main_value, 1);
		assert_string_equal(world->profile->value_types[2].name, "faults");
		assert_int_equal(profile_sum(world->profile, 0), 2);
		assert_int_equal(profile_sum(world->profile, 2), 4327);
		assert_int_equal(world->profile->entries.count, 2);
		assert_int_equal(profile_entry_values(world->profile, 0)[2], 4027);
		assert_int_equal(profile_entry_values(world->profile, 1)[1], 0);
	}
	world->options.event = "page-faults";
	load(world);
	assert_string_equal(world->profile->value_types[world->profile->main_value].name, "faults");
	assert_int_equal(profile_sum(world->profile, 1), 4327);
	assert_int_equal(profile_sum(world->profile, 2), 2 * WEIGHT_NS);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(everything_is_there_without_filters),
		TEST(a_slice_of_time_starts_with_from_and_ends_before_to),
		TEST(processes_threads_and_names_are_filtered),
		TEST(functions_and_modules_are_filtered),
		TEST(a_bad_expression_is_refused_in_words),
		TEST(without_the_kernel_its_time_goes_to_the_function_that_entered_it),
		TEST(a_return_address_belongs_to_the_call_before_it),
		TEST(the_frame_that_entered_the_kernel_was_interrupted_where_it_is),
		TEST(stacks_that_were_cut_are_counted),
		TEST(an_address_in_no_module_has_no_name),
		TEST(compiled_code_has_the_name_that_its_process_gave_it),
		TEST(compiled_code_is_what_was_there_at_the_time),
		TEST(code_that_starts_a_known_call_is_not_shown_twice),
		TEST(frames_that_name_no_module_have_a_placeholder),
		TEST(weights_that_fit_into_no_number_stop_at_the_largest),
		TEST(states_have_the_same_names_whoever_told_them),
		TEST(states_are_added_up_whatever_the_stack),
		TEST(a_sleep_counts_where_it_was),
		TEST(a_sleep_may_be_told_of_by_its_begin),
		TEST(a_sleep_is_in_all_slices_that_it_covers),
		TEST(losses_are_passed_on),
		TEST(a_recording_cut_before_its_first_sample_lasted_no_time),
		TEST(a_file_that_is_not_there_is_named_with_a_remedy),
		TEST(what_is_no_recording_is_refused_and_closed),
		TEST(slices_of_time_are_kept_when_asked_for),
		TEST(events_beside_the_main_one_are_values_too),
		TEST(slices_tell_threads_apart),
		TEST(slices_grow_with_the_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
