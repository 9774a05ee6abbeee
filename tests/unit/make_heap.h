/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_MAKE_HEAP_H
#define WICK_TESTS_MAKE_HEAP_H

/* make_heap: what is known of a small heap, for tests: make_heap_begin(), options, make_heap(). */

#include "heap/analysis.h"
#include "heap/heap_profile.h"
#include "load/filter/stack_filter.h"
#include "load/load.h"
#include "load/loader.h"
#include "make_recording.h"
#include "model/dictionary.h"
#include "model/heap_event.h"

struct made_heap {
	struct made made;
	struct load_options options;
	struct loader loader;
	struct stack_filter filter;
	struct heap_profile heap; /* borrows from the loader */
};

static inline int make_heap_begin(void **state)
{
	static struct made_heap world;

	world = (struct made_heap){.options = LOAD_OPTIONS_DEFAULT};
	world.options.heap = true;
	make_begin(&world.made);
	*state = &world;
	return 0;
}

static inline int make_heap_end(void **state)
{
	struct made_heap *world = *state;

	stack_filter_fini(&world->filter);
	loader_fini(&world->loader);
	made_fini(&world->made);
	return 0;
}

static inline void feed_heap(struct heap_analysis *analysis, uint32_t thread,
			     struct heap_event event)
{
	event.time_ns += START_NS;
	assert_int_equal(heap_analysis_batch(analysis, &(struct heap_batch){thread, 1, &event}), 0);
}

/*
 * Two threads allocate in main;parse and main;read;libx.so: 1000 bytes live at the peak, of
 * which parse frees 600 again.
 */
static inline void make_heap(struct made_heap *world)
{
	struct made *made = &world->made;
	struct frame parse[] = {user(made, 0x1050), user(made, 0x1110)};
	struct frame read[] = {user(made, 0x1050), user(made, 0x1210), library(made, 0x777)};
	struct samples *samples = &world->loader.samples;
	struct heap_config config = {.begin_ns = START_NS};
	const struct dictionary *dictionary;
	uint32_t stacks[2];

	make_sample_of(made, make_thread(made, made->process, 100, "app"), 1000, parse, 2);
	make_sample_of(made, make_thread(made, made->process, 101, "worker"), 2000, read, 3);
	make_end(made);
	world->loader.options = &world->options;
	world->loader.cache.fd = -1;
	assert_int_equal(samples_read(samples, open(made->path, O_RDONLY | O_CLOEXEC), "test",
				      &world->options, NULL, NULL),
			 0);
	dictionary = recording_reader_dictionary(samples->reader);
	stacks[0] = samples->sums.items[0].stack;
	stacks[1] = samples->sums.items[1].stack;
	config.dictionary = dictionary;
	assert_int_equal(heap_analysis_new(&config, &samples->heap), 0);
	feed_heap(
		samples->heap, 0,
		(struct heap_event){.time_ns = 1, .address = 16, .size = 600, .stack = stacks[0]});
	feed_heap(
		samples->heap, 1,
		(struct heap_event){.time_ns = 2, .address = 32, .size = 400, .stack = stacks[1]});
	feed_heap(samples->heap, 0,
		  (struct heap_event){.time_ns = 5, .address = 16, .op = HEAP_FREE});
	feed_heap(
		samples->heap, 1,
		(struct heap_event){.time_ns = 6, .address = 16, .size = 100, .stack = stacks[0]});
	assert_int_equal(heap_analysis_finish(samples->heap), 0);
	assert_int_equal(stack_filter_init(&world->filter, &world->options, NULL), 0);
	assert_int_equal(loader_prepare(&world->loader, NULL), 0);
	assert_int_equal(loader_add_heap(&world->loader, &world->filter), 0);
	loader_describe(&world->loader);
	world->heap = (struct heap_profile){.profile = world->loader.profile,
					    .analysis = samples->heap,
					    .stacks = world->loader.heap_stacks,
					    .threads = world->loader.threads.items};
}

#endif
