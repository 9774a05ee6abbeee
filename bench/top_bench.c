/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_bench: what it costs to draw wick top anew, all but the terminal, when ten thousand
 * functions are in the window: the profile, the sums, the flame graph, the text. Prints
 * milliseconds of CPU time, and how many stacks there were.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/vec.h"
#include "live/live_profile.h"
#include "load/load.h"
#include "model/profile.h"
#include "model/sink.h"
#include "view/top/top_screen.h"
#include "view/top/top_state.h"
#include "view/top/top_view.h"

#define FUNCTIONS 10000u
#define DEPTH 30u
#define SAMPLES 20000u /* ten seconds of 20 busy CPUs at 97 Hz */
#define REPEATS 9
#define START_NS (1000 * NS_PER_SEC)

static double cpu_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); /* cannot fail */
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int add_places(const struct sink *sink, uint32_t *places)
{
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		char name[64];
		struct place place = {.name = name,
				      .file = "",
				      .module = MODULE_NONE,
				      .origin = ORIGIN_PROGRAM,
				      .outer = PLACE_NONE};

		(void)snprintf(name, sizeof(name), "project::part_%u::function_%u", i % 97, i);
		if (sink_place(sink, &place, &places[i]) < 0)
			return -1;
	}
	return 0;
}

/* Every sample ends in another function than the one before, most stacks come once. */
static int add_samples(const struct sink *sink, uint32_t schema, uint32_t thread)
{
	static uint32_t places[FUNCTIONS];
	uint32_t random = 7;

	if (add_places(sink, places) < 0)
		return -1;
	for (uint32_t i = 0; i < SAMPLES; i++) {
		uint64_t time_ns = START_NS + i * (10 * NS_PER_SEC / SAMPLES);
		uint64_t weight = NS_PER_SEC / 97;
		uint32_t cpu = 0;
		struct frame frames[DEPTH];
		uint32_t stack;
		struct sample_batch batch = {.schema = schema,
					     .count = 1,
					     .stack = &stack,
					     .thread = &thread,
					     .cpu = &cpu,
					     .time_ns = &time_ns,
					     .weight = &weight};

		for (uint32_t at = 0; at < DEPTH; at++) {
			random = random * 1103515245u + 12345u;
			frames[at] = (struct frame){
				.kind = FRAME_CUSTOM,
				/* Near the root there are few, as in programs. */
				.a = places[at + 1 == DEPTH ? i % FUNCTIONS
							    : (random >> 8) % (at * 40 + 1)],
			};
		}
		if (sink_stack(sink, frames, DEPTH, &stack) < 0 ||
		    sink_batch(sink, &batch, NULL) < 0)
			return -1;
	}
	return 0;
}

static int fill(struct live_profile *live)
{
	const struct sink *sink = live_profile_sink(live);
	struct schema schema = {
		.event = "cpu-clock", .value = "cpu", .unit = "nanoseconds", .period = 1};
	struct process process = {.pid = 1, .comm = "app", .executable = ""};
	struct thread thread = {.tid = 1, .comm = "app"};
	uint32_t schema_id;
	uint32_t thread_id;

	if (sink_schema(sink, &schema, &schema_id) < 0 ||
	    sink_process(sink, &process, &thread.process) < 0 ||
	    sink_thread(sink, &thread, &thread_id) < 0)
		return -1;
	return add_samples(sink, schema_id, thread_id);
}

/* The least of some: what disturbs comes on top. The first one finds the names, too. */
static int measure(struct live_profile *live)
{
	struct top_state state = {0};
	struct top_model model = {0};
	struct top_screen screen = {0};
	struct top_facts facts = {
		.title = "app", .engine = "perf", .rate_hz = 97, .window_s = 10, .note = ""};
	const struct profile *profile = NULL;
	double least_ms = 1e9;
	double first_ms = 0;
	int r = 0;

	for (int i = 0; i < REPEATS && r == 0; i++) {
		double start_ms = cpu_ms();
		double spent_ms;

		r = live_profile_refresh(live, START_NS + 10 * NS_PER_SEC - 1, 10, &profile);
		if (r == 0)
			r = top_model_make(&model, profile, &state, top_view_flame(&state, 80, 24));
		top_screen_clear(&screen, 80, 24);
		if (r == 0)
			top_view_put(&screen, &model, &state, &facts);
		spent_ms = cpu_ms() - start_ms;
		least_ms = spent_ms < least_ms ? spent_ms : least_ms;
		first_ms = i == 0 ? spent_ms : first_ms;
	}
	if (r == 0)
		(void)printf("%.2f ms, the first %.2f ms; %zu functions, %zu stacks, %zu samples\n",
			     least_ms, first_ms, model.functions.count, profile->entries.count,
			     (size_t)profile->quality.samples);
	top_screen_fini(&screen);
	top_model_fini(&model);
	return r;
}

int main(void)
{
	struct load_options options = LOAD_OPTIONS_DEFAULT;
	struct live_profile_config config = {
		.options = &options, .title = "app", .start_ns = START_NS};
	struct live_profile *live = NULL;
	int r = live_profile_new(&config, &live, NULL);

	if (r == 0)
		r = fill(live);
	if (r == 0)
		r = measure(live);
	live_profile_free(live);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
