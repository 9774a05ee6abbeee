/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/bytes.h"
#include "base/error.h"
#include "export/export.h"
#include "heap/analysis.h"
#include "heap/heap_profile.h"
#include "heap/report.h"
#include "heap/values.h"
#include "load/load.h"
#include "make_recording.h"
#include "model/leak.h"
#include "model/profile.h"
#include "profile_sum.h"
#include "view/heap/heap_timeline.h"
#include "view/heap/site_report.h"
#include "view/report/report.h"
#include "view/timeline/timeline.h"

struct world {
	struct made made;
	struct load_options options;
	struct heap_profile heap;
};

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

	heap_profile_fini(&world->heap);
	made_fini(&world->made);
	return 0;
}

/*
 * Two threads allocate in main;parse and main;read;libx.so: 1000 bytes live at the peak, of
 * which parse frees 600 again. The second one is drained first.
 */
static void record(struct made *made)
{
	const struct sink_ops *ops = made->sink->ops;
	struct frame parse[] = {user(made, 0x1050), user(made, 0x1110)};
	struct frame read[] = {user(made, 0x1050), user(made, 0x1210), library(made, 0x777)};
	uint32_t app = make_thread(made, made->process, 100, "app");
	uint32_t worker = make_thread(made, made->process, 101, "worker");
	uint32_t at_parse;
	uint32_t at_read;

	assert_int_equal(ops->stack(made->sink->self, parse, 2, &at_parse), 0);
	assert_int_equal(ops->stack(made->sink->self, read, 3, &at_read), 0);
	make_heap_event(
		made, worker,
		(struct heap_event){.time_ns = 2000, .address = 32, .size = 400, .stack = at_read});
	make_heap_event(made, worker,
			(struct heap_event){
				.time_ns = 6000, .address = 16, .size = 100, .stack = at_parse});
	make_heap_event(made, app,
			(struct heap_event){
				.time_ns = 1000, .address = 16, .size = 600, .stack = at_parse});
	make_heap_event(made, app,
			(struct heap_event){.time_ns = 5000, .address = 16, .op = HEAP_FREE});
	assert_int_equal(ops->heap_until(made->sink->self, START_NS + 7000, NULL), 0);
}

/* A scan that found a block of each stack, at 8 µs. */
static void scan(struct made *made)
{
	struct frame parse[] = {user(made, 0x1050), user(made, 0x1110)};
	struct frame read[] = {user(made, 0x1050), user(made, 0x1210), library(made, 0x777)};
	struct leak_group groups[] = {
		{.size_bytes = 100, .blocks = 1, .leak_class = LEAK_DEFINITE},
		{.size_bytes = 400, .blocks = 1, .leak_class = LEAK_REACHABLE},
	};
	struct leak_scan found = {.time_ns = START_NS + 8000,
				  .process = made->process,
				  .group_count = 2,
				  .groups = groups};

	assert_int_equal(sink_stack(made->sink, parse, 2, &groups[0].stack), 0);
	assert_int_equal(sink_stack(made->sink, read, 3, &groups[1].stack), 0);
	groups[0].thread = groups[1].thread = make_thread(made, made->process, 101, "worker");
	assert_int_equal(sink_leaks(made->sink, &found, NULL), 0);
}

static void load(struct world *world)
{
	record(&world->made);
	make_end(&world->made);
	assert_int_equal(load_heap(world->made.path, &world->options, &world->heap, NULL), 0);
}

static void the_heap_becomes_values_of_a_profile(void **state)
{
	struct world *world = *state;
	const struct profile *profile;

	load(world);
	profile = world->heap.profile;
	assert_int_equal(profile->value_count, HEAP_POOL_ALLOC_SPACE); /* those of pools follow */
	assert_string_equal(profile->value_types[profile->main_value].name, "peak_space");
	assert_int_equal(profile->entries.count, 3);
	assert_int_equal(profile_sum(profile, HEAP_ALLOC_SPACE), 1100);
	assert_int_equal(profile_sum(profile, HEAP_ALLOC_OBJECTS), 3);
	assert_int_equal(profile_sum(profile, HEAP_PEAK_SPACE), 1000);
	assert_int_equal(profile_sum(profile, HEAP_PEAK_OBJECTS), 2);
	assert_int_equal(profile_sum(profile, HEAP_INUSE_SPACE), 500);
	assert_int_equal(profile_sum(profile, HEAP_INUSE_OBJECTS), 2);
	assert_int_equal(profile_sum(profile, HEAP_TEMPORARY_OBJECTS), 1);
}

/* The function at 0x1100, and the one that calls just before it. */
static void assert_leaf(struct world *world, const char *engine, const char *told,
			const char *expected)
{
	struct made *made = &world->made;
	struct frame frames[] = {user(made, 0x1050), user(made, 0x1100)};
	uint32_t thread = make_thread(made, made->process, 100, "app");
	const struct profile *profile;
	uint32_t stack;
	uint32_t line;

	recording_writer_info(made->writer, "engine", engine);
	if (told)
		recording_writer_info(made->writer, "heap_leaf", told);
	assert_int_equal(sink_stack(made->sink, frames, 2, &stack), 0);
	make_heap_event(
		made, thread,
		(struct heap_event){.time_ns = 1000, .address = 16, .size = 600, .stack = stack});
	make_end(made);
	assert_int_equal(load_heap(made->path, &world->options, &world->heap, NULL), 0);
	profile = world->heap.profile;
	stack = profile->stacks.nodes.items[profile->entries.items[0].stack].frame;
	line = profile->locations.items[stack].first_line;
	assert_string_equal(
		profile_text(profile,
			     profile->functions.items[profile->lines.items[line].function].name),
		expected);
}

static void old_stacks_of_the_library_end_with_a_return_address(void **state)
{
	assert_leaf(*state, "signal", NULL, "main");
}

static void stacks_that_say_so_end_in_the_call(void **state)
{
	assert_leaf(*state, "signal", "call", "parse");
}

static void stacks_of_probes_always_did(void **state)
{
	assert_leaf(*state, "uprobe", NULL, "parse");
}

static void stacks_are_chosen_by_their_functions(void **state)
{
	static const char *const only[] = {"read"};
	struct world *world = *state;

	world->options.only = only;
	world->options.only_count = 1;
	load(world);
	assert_int_equal(world->heap.profile->entries.count, 1);
	assert_int_equal(profile_sum(world->heap.profile, HEAP_PEAK_SPACE), 400);
}

static void blocks_of_pools_have_rows_and_values_of_their_own(void **state)
{
	struct world *world = *state;
	struct site_report_options options = {.json = true};
	struct frame frame = user(&world->made, 0x1210);
	struct bytes text = {0};
	uint32_t stack;
	json_t *root;
	json_t *pools;

	record(&world->made);
	assert_int_equal(sink_stack(world->made.sink, &frame, 1, &stack), 0);
	make_heap_event(&world->made, 0,
			(struct heap_event){.time_ns = 6500,
					    .address = 32,
					    .size = 250,
					    .stack = stack,
					    .call = HEAP_POOL});
	make_end(&world->made);
	world->options.event = "pool_peak_space";
	assert_int_equal(load_heap(world->made.path, &world->options, &world->heap, NULL), 0);
	assert_int_equal(world->heap.profile->main_value, HEAP_POOL_PEAK_SPACE);
	assert_int_equal(profile_sum(world->heap.profile, HEAP_ALLOC_SPACE), 1100);
	assert_int_equal(profile_sum(world->heap.profile, HEAP_POOL_ALLOC_SPACE), 250);
	assert_int_equal(profile_sum(world->heap.profile, HEAP_POOL_INUSE_SPACE), 250);
	assert_int_equal(site_report_write(&world->heap, &options, &text, NULL), 0);
	root = json_loadb((const char *)text.data, text.size, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(root, "rows")), 2);
	pools = json_object_get(root, "pools");
	assert_int_equal(
		json_integer_value(json_object_get(
			json_object_get(json_object_get(pools, "totals"), "peak"), "bytes")),
		250);
	pools = json_array_get(json_object_get(pools, "rows"), 0);
	assert_string_equal(json_string_value(json_object_get(pools, "function_name")), "read");
	json_decref(root);
	bytes_clear(&text);
	options.json = false;
	assert_int_equal(site_report_write(&world->heap, &options, &text, NULL), 0);
	bytes_put_u8(&text, 0);
	assert_non_null(strstr((const char *)text.data,
			       "the program's own pools, included above: 250 B allocated"));
	bytes_fini(&text);
}

static void a_report_names_the_places_that_allocate(void **state)
{
	struct world *world = *state;
	struct site_report_options options = {.json = true};
	struct bytes text = {0};
	json_t *root;
	json_t *row;

	load(world);
	assert_int_equal(site_report_write(&world->heap, &options, &text, NULL), 0);
	root = json_loadb((const char *)text.data, text.size, 0, NULL);
	assert_non_null(root);
	assert_int_equal(json_array_size(json_object_get(root, "rows")), 2);
	row = json_array_get(json_object_get(root, "rows"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "function_name")), "parse");
	assert_int_equal(json_integer_value(json_object_get(json_object_get(row, "peak"), "bytes")),
			 600);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(row, "allocated"), "blocks")),
		2);
	assert_int_equal(json_integer_value(json_object_get(row, "temporary_blocks")), 1);
	assert_int_equal(
		json_integer_value(json_object_get(
			json_object_get(json_object_get(root, "totals"), "peak"), "bytes")),
		1000);
	json_decref(root);
	bytes_clear(&text);
	options = (struct site_report_options){.limit = 1};
	assert_int_equal(site_report_write(&world->heap, &options, &text, NULL), 0);
	bytes_put_u8(&text, 0);
	assert_non_null(strstr((const char *)text.data, "peak 1000 B in 2 blocks"));
	assert_non_null(strstr((const char *)text.data, " parse\n"));
	assert_non_null(strstr((const char *)text.data, "1 more with 400 B at the peak"));
	bytes_fini(&text);
}

/* The name of a place on the way to an allocation, as a frame. */
static struct frame place(struct made *made, const char *name, uint32_t line)
{
	struct place place = {.name = name,
			      .file = "a.cc",
			      .line = line,
			      .module = MODULE_NONE,
			      .outer = PLACE_NONE};
	struct frame frame = {.kind = FRAME_CUSTOM};

	assert_int_equal(sink_place(made->sink, &place, &frame.a), 0);
	return frame;
}

static void allocators_and_the_standard_library_are_passed_over(void **state)
{
	struct world *world = *state;
	struct made *made = &world->made;
	struct frame vector[] = {
		place(made, "main", 7), place(made, "std::vector<int>::push_back(int)", 1),
		place(made, "operator new(unsigned long)", 2), place(made, "malloc", 3)};
	struct frame alone[] = {place(made, "std::thread::run()", 4), place(made, "calloc", 5)};
	uint32_t thread = make_thread(made, made->process, 100, "app");
	struct bytes text = {0};
	uint32_t stack;

	assert_int_equal(sink_stack(made->sink, vector, 4, &stack), 0);
	make_heap_event(made, thread,
			(struct heap_event){.address = 16, .size = 7, .stack = stack});
	assert_int_equal(sink_stack(made->sink, alone, 2, &stack), 0);
	make_heap_event(made, thread,
			(struct heap_event){.address = 32, .size = 5, .stack = stack});
	make_end(made);
	assert_int_equal(load_heap(made->path, &world->options, &world->heap, NULL), 0);
	assert_int_equal(
		site_report_write(&world->heap, &(struct site_report_options){0}, &text, NULL), 0);
	bytes_put_u8(&text, 0);
	assert_non_null(strstr((const char *)text.data, " main  a.cc:7\n"));
	assert_non_null(strstr((const char *)text.data, " calloc  a.cc:5\n"));
	bytes_fini(&text);
}

static void a_timeline_shows_what_is_live_and_whose(void **state)
{
	struct world *world = *state;
	static const int64_t live[] = {0,    0,    600,  600, 1000, 1000, 1000,
				       1000, 1000, 1000, 400, 400,  500};
	struct timeline_options options = {.format = TIMELINE_JSON, .step_ns = 500};
	struct bytes text = {0};
	json_t *root;
	json_t *steps;
	json_t *rows;

	world->options.heap_step_ns = 500;
	load(world); /* events at 1, 2, 5 and 6 µs */
	assert_int_equal(heap_timeline_write(&world->heap, &options, &text, NULL), 0);
	root = json_loadb((const char *)text.data, text.size, 0, NULL);
	assert_non_null(root);
	steps = json_object_get(root, "steps");
	assert_int_equal(json_array_size(steps), 13);
	for (size_t i = 0; i < 13; i++) {
		json_t *held = json_object_get(json_array_get(steps, i), "live");

		assert_int_equal(json_integer_value(json_object_get(held, "bytes")), live[i]);
	}
	rows = json_object_get(root, "rows");
	assert_int_equal(json_array_size(rows), 2);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(rows, 0), "most_bytes")),
			 600);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(rows, 1), "tid")), 101);
	assert_int_equal(json_integer_value(json_array_get(
				 json_object_get(json_array_get(rows, 1), "live_steps"), 12)),
			 500);
	json_decref(root);
	bytes_clear(&text);
	options = (struct timeline_options){.format = TIMELINE_CSV, .columns = 2};
	assert_int_equal(heap_timeline_write(&world->heap, &options, &text, NULL), 0);
	bytes_put_u8(&text, 0);
	assert_non_null(strstr((const char *)text.data, "\n0,1000,2,1000,1000,2,0,0\n"));
	assert_non_null(strstr((const char *)text.data, "\n3250,500,2,1000,100,1,600,1\n"));
	bytes_fini(&text);
}

static void steps_are_those_asked_for_else_those_of_the_recording(void **state)
{
	static const struct {
		uint64_t asked_ns, usual_ns, step_ns;
	} cases[] = {{0, 0, 2000}, {0, 100, 2000}, {3000, 100, 3000}};
	struct world *world = *state;

	recording_writer_info(world->made.writer, "heap_step_ns", "2000");
	record(&world->made);
	make_end(&world->made);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		world->options.heap_step_ns = cases[i].asked_ns;
		world->options.heap_usual_step_ns = cases[i].usual_ns;
		assert_int_equal(load_heap(world->made.path, &world->options, &world->heap, NULL),
				 0);
		assert_int_equal(heap_analysis_report(world->heap.analysis)->timeline.step_ns,
				 cases[i].step_ns);
		heap_profile_fini(&world->heap);
	}
}

static void other_views_and_formats_have_them_too(void **state)
{
	struct world *world = *state;
	struct report_options options = REPORT_OPTIONS_DEFAULT;
	struct bytes text = {0};
	json_t *root;

	load(world);
	options.value_name = "alloc_objects";
	assert_int_equal(report_write(world->heap.profile, &options, &text, NULL), 0);
	bytes_put_u8(&text, 0);
	assert_non_null(strstr((const char *)text.data, "alloc_objects 3"));
	bytes_clear(&text);
	assert_int_equal(exporter_write(exporter_find("json"), world->heap.profile,
					&(struct export_config){.value = EXPORT_DEFAULT_VALUE},
					&text, NULL),
			 0);
	root = json_loadb((const char *)text.data, text.size, 0, NULL);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(root, "memory_profile"),
							    "inuse_space")),
			 500);
	json_decref(root);
	bytes_fini(&text);
}

static void slices_and_threads_are_chosen_by_the_options(void **state)
{
	struct world *world = *state;
	uint64_t tid = 101;

	world->options.tids = &tid;
	world->options.tid_count = 1;
	world->options.from_ns = 3000;
	load(world);
	assert_int_equal(profile_sum(world->heap.profile, HEAP_ALLOC_SPACE), 100);
	heap_profile_fini(&world->heap);
	world->options.tid_count = 0;
	world->options.from_ns = 0;
	world->options.to_ns = 5000;
	assert_int_equal(load_heap(world->made.path, &world->options, &world->heap, NULL), 0);
	assert_int_equal(profile_sum(world->heap.profile, HEAP_INUSE_SPACE), 1000);
}

static void assert_sites_say(struct world *world, const char *words)
{
	struct site_report_options options = {.from_ns = world->options.from_ns};
	struct bytes text = {0};

	assert_int_equal(load_heap(world->made.path, &world->options, &world->heap, NULL), 0);
	assert_int_equal(site_report_write(&world->heap, &options, &text, NULL), 0);
	bytes_put_u8(&text, 0);
	assert_non_null(strstr((const char *)text.data, words));
	bytes_fini(&text);
	heap_profile_fini(&world->heap);
}

static void texts_have_times_of_the_recording_and_what_was_recorded(void **state)
{
	struct world *world = *state;

	record(&world->made);
	recording_writer_info(world->made.writer, "recorded_ns", "4000");
	make_end(&world->made);
	assert_sites_say(world, "4.00 us recorded");
	assert_sites_say(world, "after 2.00 us;");
	world->options.from_ns = 1000;
	assert_sites_say(world, "after 2.00 us;");
}

static void samples_come_first_unless_a_value_is_asked_for(void **state)
{
	struct world *world = *state;
	struct frame frame = user(&world->made, 0x1050);
	struct profile *profile;
	struct error err = {0};

	make_sample_of(&world->made, make_thread(&world->made, world->made.process, 100, "app"),
		       1000, &frame, 1);
	load(world);
	assert_int_equal(load_profile(world->made.path, &world->options, &profile, NULL), 0);
	assert_string_equal(profile->value_types[0].name, "samples");
	profile_free(profile);
	world->options.event = "inuse_objects";
	assert_int_equal(load_profile(world->made.path, &world->options, &profile, NULL), 0);
	assert_int_equal(profile->main_value, HEAP_INUSE_OBJECTS);
	profile_free(profile);
	world->options.event = "nothing";
	assert_int_equal(load_profile(world->made.path, &world->options, &profile, &err), -EINVAL);
	assert_string_equal(err.remedy,
			    "it has: cpu-clock, alloc_space, alloc_objects, peak_space, "
			    "peak_objects, inuse_space, inuse_objects, temporary_objects");
}

static void events_that_the_program_reports_do_not_come_first(void **state)
{
	struct world *world = *state;
	struct schema schema = {
		.event = "mark", .value = "mark", .unit = "count", .kind = SCHEMA_TOLD};
	struct sample_batch batch = {
		.count = 1,
		.stack = (uint32_t[]){0},
		.thread = (uint32_t[]){make_thread(&world->made, world->made.process, 100, "app")},
		.cpu = (uint32_t[]){0},
		.time_ns = (uint64_t[]){START_NS + 1000},
		.weight = (uint64_t[]){1},
	};
	struct profile *profile;

	assert_int_equal(sink_schema(world->made.sink, &schema, &batch.schema), 0);
	assert_int_equal(sink_batch(world->made.sink, &batch, NULL), 0);
	load(world);
	assert_int_equal(load_profile(world->made.path, &world->options, &profile, NULL), 0);
	assert_int_equal(profile->main_value, HEAP_PEAK_SPACE);
	profile_free(profile);
	world->options.event = "mark";
	assert_int_equal(load_profile(world->made.path, &world->options, &profile, NULL), 0);
	assert_string_equal(profile->value_types[profile->main_value].name, "mark");
	profile_free(profile);
}

static void a_recording_without_allocations_says_how_to_get_some(void **state)
{
	struct world *world = *state;
	struct error err = {0};

	make_end(&world->made);
	assert_int_equal(load_heap(world->made.path, &world->options, &world->heap, &err), -EINVAL);
	assert_non_null(strstr(err.text, "has no allocations"));
	assert_non_null(strstr(err.remedy, "wick heap"));
}

static void leak_scans_have_the_stacks_of_the_profile(void **state)
{
	static const char *const only[] = {"read"};
	struct world *world = *state;
	const struct leak_scan_kept *kept;

	world->options.only = only;
	world->options.only_count = 1;
	record(&world->made);
	scan(&world->made);
	make_end(&world->made);
	assert_int_equal(load_heap(world->made.path, &world->options, &world->heap, NULL), 0);
	assert_int_equal(world->heap.leaks.items.count, 1);
	kept = &world->heap.leaks.items.items[0];
	assert_int_equal(kept->pid, 100);
	assert_string_equal(kept->comm, "app");
	assert_int_equal(kept->scan.group_count, 1);
	assert_int_equal(kept->scan.groups[0].leak_class, LEAK_REACHABLE);
	assert_int_equal(kept->scan.groups[0].stack, world->heap.profile->entries.items[0].stack);
	assert_int_equal(world->heap.profile->threads.items[kept->scan.groups[0].thread].tid, 101);
}

static void leak_scans_of_other_times_are_left_out(void **state)
{
	struct world *world = *state;

	world->options.to_ns = 7000;
	record(&world->made);
	scan(&world->made);
	make_end(&world->made);
	assert_int_equal(load_heap(world->made.path, &world->options, &world->heap, NULL), 0);
	assert_int_equal(world->heap.leaks.items.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_heap_becomes_values_of_a_profile, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(old_stacks_of_the_library_end_with_a_return_address,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(stacks_that_say_so_end_in_the_call, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(stacks_of_probes_always_did, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stacks_are_chosen_by_their_functions, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_report_names_the_places_that_allocate, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(blocks_of_pools_have_rows_and_values_of_their_own,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(allocators_and_the_standard_library_are_passed_over,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_timeline_shows_what_is_live_and_whose, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			steps_are_those_asked_for_else_those_of_the_recording, set_up, tear_down),
		cmocka_unit_test_setup_teardown(leak_scans_have_the_stacks_of_the_profile, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(leak_scans_of_other_times_are_left_out, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(other_views_and_formats_have_them_too, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(slices_and_threads_are_chosen_by_the_options,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			texts_have_times_of_the_recording_and_what_was_recorded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(events_that_the_program_reports_do_not_come_first,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(samples_come_first_unless_a_value_is_asked_for,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_recording_without_allocations_says_how_to_get_some, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
