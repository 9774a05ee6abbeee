/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/live_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "load/load.h"
#include "model/profile.h"
#include "model/sink.h"

#define START_NS (1000 * NS_PER_SEC)
#define PERIOD_NS (10 * NS_PER_MS)

/* Samples are handed in as an engine does; names come with the frames. */
struct fixture {
	struct load_options options;
	struct live_profile *live;
	struct sink *sink;
	uint32_t schema;
	uint32_t thread;
	uint32_t second_thread;
};

static void add_program(struct fixture *fixture)
{
	struct schema schema = {
		.event = "cpu-clock", .value = "cpu", .unit = "nanoseconds", .period = PERIOD_NS};
	struct process process = {.pid = 7, .comm = "app", .executable = ""};
	struct thread thread = {.tid = 7, .comm = "app"};

	fixture->sink = live_profile_sink(fixture->live);
	assert_int_equal(sink_schema(fixture->sink, &schema, &fixture->schema), 0);
	assert_int_equal(sink_process(fixture->sink, &process, &thread.process), 0);
	assert_int_equal(sink_thread(fixture->sink, &thread, &fixture->thread), 0);
	thread = (struct thread){.process = thread.process, .tid = 8, .comm = "worker"};
	assert_int_equal(sink_thread(fixture->sink, &thread, &fixture->second_thread), 0);
}

static void set_up(struct fixture *fixture, size_t max_nodes)
{
	struct live_profile_config config = {.options = &fixture->options,
					     .title = "app",
					     .start_ns = START_NS,
					     .max_nodes = max_nodes};
	struct error err = {0};

	*fixture = (struct fixture){.options = LOAD_OPTIONS_DEFAULT};
	assert_int_equal(live_profile_new(&config, &fixture->live, &err), 0);
	add_program(fixture);
}

/* Names as engines give them tell the origin of those that have none. */
static enum function_origin origin_of(const char *name)
{
	if (strcmp(name, "[truncated]") == 0)
		return ORIGIN_TRUNCATED;
	return strncmp(name, "0x", 2) == 0 ? ORIGIN_UNKNOWN : ORIGIN_PROGRAM;
}

static uint32_t stack_of(struct fixture *fixture, const char *outer, const char *inner)
{
	const char *names[] = {outer, inner};
	struct frame frames[2];
	uint32_t id;

	for (size_t i = 0; i < 2; i++) {
		struct place place = {.name = names[i],
				      .file = "",
				      .module = MODULE_NONE,
				      .origin = origin_of(names[i]),
				      .outer = PLACE_NONE};

		frames[i] = (struct frame){.kind = FRAME_CUSTOM};
		assert_int_equal(sink_place(fixture->sink, &place, &frames[i].a), 0);
	}
	assert_int_equal(sink_stack(fixture->sink, frames, 2, &id), 0);
	return id;
}

static void put_weight(struct fixture *fixture, uint32_t stack, uint32_t thread, uint64_t time_ns,
		       uint64_t weight, uint32_t labels)
{
	uint32_t cpu = 0;
	struct sample_batch batch = {.schema = fixture->schema,
				     .count = 1,
				     .stack = &stack,
				     .thread = &thread,
				     .cpu = &cpu,
				     .labels = &labels,
				     .time_ns = &time_ns,
				     .weight = &weight};
	struct error err = {0};

	assert_int_equal(sink_batch(fixture->sink, &batch, &err), 0);
}

static void put(struct fixture *fixture, uint32_t stack, uint32_t thread, uint64_t time_ns)
{
	put_weight(fixture, stack, thread, time_ns, PERIOD_NS, 0);
}

static const struct profile *refresh(struct fixture *fixture, uint64_t second, uint32_t window_s)
{
	const struct profile *profile = NULL;

	assert_int_equal(live_profile_refresh(fixture->live,
					      START_NS + second * NS_PER_SEC + NS_PER_SEC / 2,
					      window_s, &profile),
			 0);
	return profile;
}

static const char *leaf_name(const struct profile *profile, size_t entry)
{
	uint32_t node = profile->entries.items[entry].stack;
	uint32_t location = profile->stacks.nodes.items[node].frame;
	uint32_t line = profile->locations.items[location].first_line;

	return profile_text(profile,
			    profile->functions.items[profile->lines.items[line].function].name);
}

static void the_window_forgets_what_is_older(void **state)
{
	struct fixture fixture;
	const struct profile *profile;

	set_up(&fixture, 0);
	put(&fixture, stack_of(&fixture, "main", "early"), fixture.thread, START_NS);
	put(&fixture, stack_of(&fixture, "main", "late"), fixture.thread,
	    START_NS + 5 * NS_PER_SEC);
	put(&fixture, stack_of(&fixture, "main", "late"), fixture.thread,
	    START_NS + 5 * NS_PER_SEC + 1);

	profile = refresh(&fixture, 5, 3);
	assert_int_equal(profile->entries.count, 1);
	assert_string_equal(leaf_name(profile, 0), "late");
	assert_int_equal(profile_entry_values(profile, 0)[0], 2);
	assert_int_equal(profile_entry_values(profile, 0)[1], 2 * PERIOD_NS);
	assert_int_equal(profile->quality.samples, 2);
	assert_int_equal(profile->duration_ns, 5 * NS_PER_SEC / 2);

	profile = refresh(&fixture, 5, 0);
	assert_int_equal(profile->entries.count, 2);
	assert_int_equal(profile->quality.samples, 3);
	assert_int_equal(profile->duration_ns, 5 * NS_PER_SEC + NS_PER_SEC / 2);
	live_profile_free(fixture.live);
}

static void a_slice_is_used_again_a_minute_later(void **state)
{
	struct fixture fixture;
	uint64_t later_ns = START_NS + (LIVE_WINDOW_MAX_S + 1) * NS_PER_SEC;
	const struct profile *profile;

	set_up(&fixture, 0);
	put(&fixture, stack_of(&fixture, "main", "early"), fixture.thread, START_NS);
	put(&fixture, stack_of(&fixture, "main", "late"), fixture.thread, later_ns);
	/* Too old for its slice, which has been taken: it counts since the start alone. */
	put(&fixture, stack_of(&fixture, "main", "early"), fixture.thread, START_NS);

	profile = refresh(&fixture, LIVE_WINDOW_MAX_S + 1, LIVE_WINDOW_MAX_S);
	assert_int_equal(profile->entries.count, 1);
	assert_string_equal(leaf_name(profile, 0), "late");
	assert_int_equal(refresh(&fixture, LIVE_WINDOW_MAX_S + 1, 0)->quality.samples, 3);
	live_profile_free(fixture.live);
}

static void threads_are_kept_apart_and_other_events_left_out(void **state)
{
	struct schema told = {
		.event = "requests", .value = "n", .unit = "count", .kind = SCHEMA_TOLD};
	struct fixture fixture;
	const struct profile *profile;
	uint32_t stack;
	uint32_t sampled;

	set_up(&fixture, 0);
	sampled = fixture.schema;
	stack = stack_of(&fixture, "main", "work");
	put(&fixture, stack, fixture.thread, START_NS);
	put(&fixture, stack, fixture.second_thread, START_NS);
	assert_int_equal(sink_schema(fixture.sink, &told, &fixture.schema), 0);
	assert_int_not_equal(fixture.schema, sampled);
	put(&fixture, stack, fixture.thread, START_NS);

	profile = refresh(&fixture, 0, 10);
	assert_int_equal(profile->entries.count, 2);
	assert_int_equal(profile->quality.samples, 2);
	assert_string_equal(profile_text(profile, profile->threads.items[1].comm), "worker");
	live_profile_free(fixture.live);
}

static void what_is_shown_stays_when_stacks_are_forgotten(void **state)
{
	struct fixture fixture;
	const struct profile *profile;
	struct error err = {0};
	char name[16];

	set_up(&fixture, 64);
	for (unsigned int i = 0; i < 100; i++) {
		(void)snprintf(name, sizeof(name), "f%u", i);
		put(&fixture, stack_of(&fixture, "main", name), fixture.thread, START_NS);
	}
	for (unsigned int i = 0; i < 3; i++)
		put(&fixture, stack_of(&fixture, "main", "f42"), fixture.thread,
		    START_NS + 70 * NS_PER_SEC);
	profile = refresh(&fixture, 70, 0);
	/* The slice of the first second is used for another one: only sums need its stacks. */
	put(&fixture, stack_of(&fixture, "main", "f7"), fixture.thread,
	    START_NS + (LIVE_WINDOW_MAX_S + 1) * NS_PER_SEC);

	assert_int_equal(sink_trim(fixture.sink, &err), 1);
	assert_int_equal(profile->entries.count, 100);
	assert_string_equal(leaf_name(profile, 0), "f0");

	/* The heavy ones stay, with their names; what the others weighed is told. */
	profile = refresh(&fixture, 70, 0);
	assert_int_equal(profile->entries.count, 50);
	assert_string_equal(leaf_name(profile, 0), "f42");
	assert_int_equal(profile_entry_values(profile, 0)[0], 4);
	assert_int_equal(live_profile_forgotten(fixture.live).samples + profile->quality.samples,
			 104);
	assert_int_equal(live_profile_forgotten(fixture.live).weight,
			 live_profile_forgotten(fixture.live).samples * PERIOD_NS);
	/* New ids mean what they should. */
	put(&fixture, stack_of(&fixture, "main", "f42"), fixture.thread,
	    START_NS + 70 * NS_PER_SEC);
	profile = refresh(&fixture, 70, 1);
	assert_int_equal(profile->entries.count, 1);
	assert_int_equal(profile_entry_values(profile, 0)[0], 4);
	assert_int_equal(sink_trim(fixture.sink, &err), 0);
	live_profile_free(fixture.live);
}

static void what_is_wrong_with_samples_is_of_the_window_too(void **state)
{
	struct fixture fixture;
	const struct profile *profile;

	set_up(&fixture, 0);
	put(&fixture, stack_of(&fixture, "[truncated]", "early"), fixture.thread, START_NS);
	assert_int_equal(sink_loss(fixture.sink, LOSS_RING_FULL, START_NS, 5), 0);
	put(&fixture, stack_of(&fixture, "[truncated]", "late"), fixture.thread,
	    START_NS + 5 * NS_PER_SEC);
	put(&fixture, stack_of(&fixture, "main", "0x1234"), fixture.thread,
	    START_NS + 5 * NS_PER_SEC);
	assert_int_equal(sink_loss(fixture.sink, LOSS_RING_FULL, START_NS + 5 * NS_PER_SEC, 2), 0);

	profile = refresh(&fixture, 5, 3);
	assert_int_equal(profile->quality.samples, 2);
	assert_int_equal(profile->quality.truncated, 1);
	assert_int_equal(profile->quality.name_only, 1);
	assert_int_equal(profile->quality.unsymbolised, 1);
	assert_int_equal(profile->quality.lost, 2);

	profile = refresh(&fixture, 5, 0);
	assert_int_equal(profile->quality.samples, 3);
	assert_int_equal(profile->quality.truncated, 2);
	assert_int_equal(profile->quality.name_only, 2);
	assert_int_equal(profile->quality.lost, 7);
	live_profile_free(fixture.live);
}

/* The sum of the profile's only entry, in tenths of seconds. */
static uint64_t tenths(const struct profile *profile)
{
	assert_int_equal(profile->entries.count, 1);
	return (uint64_t)profile_entry_values(profile, 0)[1] / (NS_PER_SEC / 10);
}

static void a_wait_is_in_each_slice_that_it_covers(void **state)
{
	struct label label = {.key = "state", .value = "sleeping"};
	struct fixture fixture;
	uint32_t stack;
	uint32_t asleep;

	set_up(&fixture, 0);
	assert_int_equal(sink_labels(fixture.sink, &label, 1, &asleep), 0);
	live_profile_set_cover(fixture.live, SAMPLE_COVERS_AFTER);
	stack = stack_of(&fixture, "main", "nap");
	/* From 0.5 s on for 6 s. */
	put_weight(&fixture, stack, fixture.thread, START_NS + NS_PER_SEC / 2, 6 * NS_PER_SEC,
		   asleep);

	assert_int_equal(tenths(refresh(&fixture, 6, 1)), 5);
	assert_int_equal(tenths(refresh(&fixture, 6, 3)), 25);
	assert_int_equal(tenths(refresh(&fixture, 6, 10)), 60);
	assert_int_equal(tenths(refresh(&fixture, 6, 0)), 60);
	assert_int_equal(tenths(refresh(&fixture, 8, 4)), 15);
	/* It is one sample, wherever the window begins. */
	assert_int_equal(refresh(&fixture, 8, 4)->quality.samples, 1);
	assert_int_equal(refresh(&fixture, 8, 10)->quality.samples, 1);
	/* What is since a restart counts, of one that began before it. */
	live_profile_restart(fixture.live, START_NS + 8 * NS_PER_SEC);
	put_weight(&fixture, stack, fixture.thread, START_NS + 7 * NS_PER_SEC, 2 * NS_PER_SEC,
		   asleep);
	assert_int_equal(tenths(refresh(&fixture, 9, 10)), 10);
	assert_int_equal(tenths(refresh(&fixture, 9, 0)), 10);
	live_profile_free(fixture.live);
}

static void a_wait_longer_than_all_slices_fills_them(void **state)
{
	struct label label = {.key = "state", .value = "sleeping"};
	struct fixture fixture;
	uint32_t asleep;

	set_up(&fixture, 0);
	assert_int_equal(sink_labels(fixture.sink, &label, 1, &asleep), 0);
	live_profile_set_cover(fixture.live, SAMPLE_COVERS_AFTER);
	put_weight(&fixture, stack_of(&fixture, "main", "nap"), fixture.thread, START_NS,
		   300 * NS_PER_SEC + NS_PER_SEC / 2, asleep);
	assert_int_equal(tenths(refresh(&fixture, 300, 10)), 95);
	assert_int_equal(tenths(refresh(&fixture, 300, LIVE_WINDOW_MAX_S)), 595);
	assert_int_equal(tenths(refresh(&fixture, 300, 0)), 3005);
	live_profile_free(fixture.live);
}

static void a_sample_of_a_running_thread_is_of_its_moment(void **state)
{
	struct fixture fixture;

	set_up(&fixture, 0);
	live_profile_set_cover(fixture.live, SAMPLE_COVERS_AFTER);
	put_weight(&fixture, stack_of(&fixture, "main", "work"), fixture.thread,
		   START_NS + NS_PER_SEC / 2, 3 * NS_PER_SEC, 0);
	assert_int_equal(tenths(refresh(&fixture, 0, 1)), 30);
	assert_int_equal(refresh(&fixture, 1, 1)->entries.count, 0);
	live_profile_free(fixture.live);
}

static void a_restart_begins_with_nothing(void **state)
{
	struct fixture fixture;

	set_up(&fixture, 0);
	put(&fixture, stack_of(&fixture, "main", "work"), fixture.thread, START_NS);
	assert_int_equal(sink_loss(fixture.sink, LOSS_RING_FULL, START_NS, 5), 0);
	assert_int_equal(refresh(&fixture, 0, 10)->quality.lost, 5);
	live_profile_restart(fixture.live, START_NS + NS_PER_SEC);
	/* One that was under way is from before. */
	put(&fixture, stack_of(&fixture, "main", "work"), fixture.thread, START_NS);
	assert_int_equal(sink_loss(fixture.sink, LOSS_RING_FULL, START_NS, 5), 0);

	assert_int_equal(refresh(&fixture, 1, 10)->entries.count, 0);
	assert_int_equal(refresh(&fixture, 1, 10)->quality.lost, 0);
	assert_int_equal(refresh(&fixture, 1, 0)->entries.count, 0);
	assert_int_equal(refresh(&fixture, 1, 0)->quality.lost, 0);
	live_profile_free(fixture.live);
}

struct row_sum {
	uint64_t samples;
	size_t rows;
};

static int add_row(void *self, const struct live_row *row)
{
	struct row_sum *sum = self;

	sum->samples += row->samples;
	sum->rows++;
	return 0;
}

static uint64_t samples_at(struct fixture *fixture, uint64_t time_ns)
{
	struct row_sum sum = {0};

	assert_int_equal(live_profile_visit(fixture->live, time_ns, add_row, &sum), 0);
	assert_true(sum.rows <= 1);
	return sum.samples;
}

static bool meet_all(void *self, const struct dictionary *dictionary, uint32_t process)
{
	(void)self;
	(void)dictionary;
	(void)process;
	return true;
}

/* A window of 60 s with two slices, one of 5 s, and again one of 60 s. */
static void slices_change_their_length_with_the_first_one_open(void **state)
{
	struct fixture fixture = {.options = LOAD_OPTIONS_DEFAULT};
	struct live_profile_config config = {.options = &fixture.options,
					     .title = "app",
					     .start_ns = START_NS,
					     .by_process = true,
					     .slice_ns = 30 * NS_PER_SEC,
					     .meet = meet_all,
					     .max_nodes = 1000};
	uint64_t at = START_NS + 60 * NS_PER_SEC;
	struct error err = {0};
	uint32_t stack;

	(void)state;
	assert_int_equal(live_profile_new(&config, &fixture.live, &err), 0);
	add_program(&fixture);
	stack = stack_of(&fixture, "main", "work");
	put(&fixture, stack, fixture.thread, START_NS + NS_PER_SEC);
	put(&fixture, stack, fixture.thread, at - NS_PER_SEC);
	put(&fixture, stack, fixture.thread, at + NS_PER_SEC);
	live_profile_drop(fixture.live, at);
	live_profile_set_slice(fixture.live, at, 5 * NS_PER_SEC);
	put(&fixture, stack, fixture.thread, at + 2 * NS_PER_SEC);
	put(&fixture, stack, fixture.thread, at + 6 * NS_PER_SEC);
	put(&fixture, stack, fixture.thread, START_NS + 2 * NS_PER_SEC); /* late */
	assert_int_equal(samples_at(&fixture, at), 3);
	assert_int_equal(samples_at(&fixture, at + 5 * NS_PER_SEC), 1);
	at += 5 * NS_PER_SEC;
	live_profile_drop(fixture.live, at);
	live_profile_set_slice(fixture.live, at, 30 * NS_PER_SEC);
	put(&fixture, stack, fixture.thread, at + 29 * NS_PER_SEC);
	put(&fixture, stack, fixture.thread, at + 31 * NS_PER_SEC);
	assert_int_equal(samples_at(&fixture, at), 2);
	assert_int_equal(samples_at(&fixture, at + 30 * NS_PER_SEC), 1);
	assert_int_equal(samples_at(&fixture, at + 60 * NS_PER_SEC), 0);
	live_profile_free(fixture.live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_window_forgets_what_is_older),
		cmocka_unit_test(a_slice_is_used_again_a_minute_later),
		cmocka_unit_test(threads_are_kept_apart_and_other_events_left_out),
		cmocka_unit_test(what_is_shown_stays_when_stacks_are_forgotten),
		cmocka_unit_test(what_is_wrong_with_samples_is_of_the_window_too),
		cmocka_unit_test(a_wait_is_in_each_slice_that_it_covers),
		cmocka_unit_test(a_wait_longer_than_all_slices_fills_them),
		cmocka_unit_test(a_sample_of_a_running_thread_is_of_its_moment),
		cmocka_unit_test(a_restart_begins_with_nothing),
		cmocka_unit_test(slices_change_their_length_with_the_first_one_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
