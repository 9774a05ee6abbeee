/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/bytes.h"
#include "make_heap.h"
#include "view/heap/page/heap_page.h"

static json_t *data_of(struct made_heap *world)
{
	struct bytes text = {0};
	json_t *root;

	assert_int_equal(heap_page_put_data(&world->heap, &text), 0);
	root = json_loadb((const char *)text.data, text.size, 0, NULL);
	assert_non_null(root);
	bytes_fini(&text);
	return root;
}

static json_int_t number_at(json_t *list, size_t i)
{
	return json_integer_value(json_array_get(list, i));
}

static json_int_t bytes_in(json_t *object, const char *sum)
{
	return json_integer_value(json_object_get(json_object_get(object, sum), "bytes"));
}

/* "name name" of the lines of a stack, from the innermost on. */
static void assert_stack(json_t *root, json_t *site, const char *expected)
{
	json_t *frames =
		json_object_get(json_array_get(json_object_get(site, "where"), 0), "frames");
	char text[200] = "";

	for (size_t i = 0; i < json_array_size(frames); i++) {
		json_t *line = json_array_get(json_object_get(root, "lines"),
					      (size_t)number_at(frames, i));
		size_t used = strlen(text);

		(void)snprintf(text + used, sizeof(text) - used, "%s%s", used ? " " : "",
			       json_string_value(json_array_get(line, 0)));
	}
	assert_string_equal(text, expected);
}

static void places_have_their_stacks(void **state)
{
	struct made_heap *world = *state;
	json_t *root;
	json_t *sites;

	make_heap(world);
	root = data_of(world);
	sites = json_object_get(root, "sites");
	assert_int_equal(json_array_size(sites), 2);
	assert_int_equal(bytes_in(json_array_get(sites, 0), "peak"), 600);
	assert_int_equal(bytes_in(json_array_get(sites, 0), "live"), 100);
	assert_stack(root, json_array_get(sites, 0), "parse main");
	assert_int_equal(bytes_in(json_array_get(sites, 1), "peak"), 400);
	assert_stack(root, json_array_get(sites, 1), "libx.so+0x777 read main");
	json_decref(root);
}

static void totals_steps_sizes_and_lifetimes_are_there(void **state)
{
	struct made_heap *world = *state;
	json_t *root;
	json_t *steps;

	make_heap(world);
	root = data_of(world);
	assert_int_equal(bytes_in(json_object_get(root, "totals"), "peak"), 1000);
	assert_int_equal(json_array_size(json_object_get(root, "doubts")), 1); /* libx.so */
	steps = json_object_get(root, "steps");
	assert_int_equal(json_array_size(json_object_get(steps, "live")), 1);
	assert_int_equal(number_at(json_object_get(steps, "live"), 0), 500);
	assert_int_equal(number_at(json_object_get(steps, "most"), 0), 1000);
	assert_int_equal(number_at(json_object_get(steps, "allocated"), 0), 1100);
	assert_int_equal(number_at(json_object_get(steps, "freed"), 0), 600);
	assert_int_equal(json_array_size(json_object_get(root, "classes")), 3);
	/* 512 to 639: the block of 600 was at the peak, and is gone. */
	assert_int_equal(number_at(json_array_get(json_object_get(root, "classes"), 2), 0), 512);
	assert_int_equal(number_at(json_array_get(json_object_get(root, "classes"), 2), 3), 600);
	assert_int_equal(number_at(json_array_get(json_object_get(root, "classes"), 2), 4), 0);
	assert_int_equal(json_array_size(json_object_get(root, "lifetimes")), 1);
	json_decref(root);
}

static void a_place_is_told_over_time(void **state)
{
	struct made_heap *world = *state;
	json_t *root;
	json_t *places;

	make_heap(world);
	root = data_of(world);
	places = json_object_get(root, "over_time");
	assert_int_equal(json_array_size(places), 2);
	assert_int_equal(json_array_size(json_array_get(places, 0)), 2); /* one step, its bytes */
	assert_int_equal(number_at(json_array_get(places, 0), 0), 0);
	assert_int_equal(number_at(json_array_get(places, 0), 1), 100);
	assert_int_equal(number_at(json_array_get(places, 1), 1), 400);
	json_decref(root);
}

static void threads_have_their_names(void **state)
{
	struct made_heap *world = *state;
	json_t *root;
	json_t *threads;

	make_heap(world);
	root = data_of(world);
	threads = json_object_get(root, "threads");
	assert_int_equal(json_array_size(threads), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(threads, 1), "name")),
			    "worker");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(threads, 1), "tid")),
			 101);
	assert_int_equal(bytes_in(json_array_get(threads, 1), "allocated"), 500);
	assert_int_equal(bytes_in(json_array_get(threads, 0), "freed"), 600);
	json_decref(root);
}

static void what_was_not_freed_is_told_as_not_scanned(void **state)
{
	struct made_heap *world = *state;
	json_t *root;
	json_t *leaks;

	make_heap(world);
	root = data_of(world);
	leaks = json_object_get(root, "leaks");
	assert_true(json_is_false(json_object_get(leaks, "scanned")));
	assert_int_equal(bytes_in(json_object_get(leaks, "sums"), "unscanned"), 500);
	assert_int_equal(json_array_size(json_object_get(leaks, "leaks")), 2);
	json_decref(root);
}

static void places_that_are_filtered_out_are_not_there(void **state)
{
	static const char *const only[] = {"read"};
	struct made_heap *world = *state;
	json_t *root;

	world->options.only = only;
	world->options.only_count = 1;
	make_heap(world);
	root = data_of(world);
	assert_int_equal(json_array_size(json_object_get(root, "sites")), 1);
	assert_stack(root, json_array_get(json_object_get(root, "sites"), 0),
		     "libx.so+0x777 read main");
	json_decref(root);
}

static void doubts_are_told_in_words(void **state)
{
	struct made_heap *world = *state;
	json_t *root;
	json_t *doubt;

	make_heap(world);
	world->loader.profile->quality.lost = 7;
	root = data_of(world);
	doubt = json_array_get(json_object_get(root, "doubts"), 0);
	assert_int_equal(number_at(doubt, 0), 7);
	assert_non_null(strstr(json_string_value(json_array_get(doubt, 1)), "lost"));
	json_decref(root);
}

static void no_title_is_markup_and_nothing_is_loaded(void **state)
{
	const struct heap_page_options options = {.title = "</script><img src=x onerror=run()>"};
	struct made_heap *world = *state;
	struct bytes text = {0};

	make_heap(world);
	assert_int_equal(heap_page_write(&world->heap, &options, &text, NULL), 0);
	bytes_put_u8(&text, 0);
	assert_non_null(strstr((const char *)text.data, "default-src 'none'"));
	assert_null(strstr((const char *)text.data, "<img"));
	assert_null(strstr((const char *)text.data, "<script src"));
	assert_null(strstr((const char *)text.data, "</script><img"));
	bytes_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(places_have_their_stacks, make_heap_begin,
						make_heap_end),
		cmocka_unit_test_setup_teardown(totals_steps_sizes_and_lifetimes_are_there,
						make_heap_begin, make_heap_end),
		cmocka_unit_test_setup_teardown(a_place_is_told_over_time, make_heap_begin,
						make_heap_end),
		cmocka_unit_test_setup_teardown(what_was_not_freed_is_told_as_not_scanned,
						make_heap_begin, make_heap_end),
		cmocka_unit_test_setup_teardown(threads_have_their_names, make_heap_begin,
						make_heap_end),
		cmocka_unit_test_setup_teardown(places_that_are_filtered_out_are_not_there,
						make_heap_begin, make_heap_end),
		cmocka_unit_test_setup_teardown(doubts_are_told_in_words, make_heap_begin,
						make_heap_end),
		cmocka_unit_test_setup_teardown(no_title_is_markup_and_nothing_is_loaded,
						make_heap_begin, make_heap_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
