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
#include "base/error.h"
#include "export/export.h"
#include "heap/analysis.h"
#include "heap/heap_profile.h"
#include "heap/values.h"
#include "make_heap.h"
#include "model/dictionary.h"
#include "model/heap_event.h"
#include "pipeline/load.h"
#include "pipeline/loader.h"
#include "pipeline/stack_filter.h"
#include "view/report.h"
#include "view/site_report.h"

static int64_t sum_of(const struct profile *profile, uint32_t value)
{
	int64_t sum = 0;

	for (size_t i = 0; i < profile->entries.count; i++)
		sum += profile_entry_values(profile, i)[value];
	return sum;
}

static void the_heap_becomes_values_of_a_profile(void **state)
{
	struct made_heap *world = *state;
	const struct profile *profile;

	make_heap(world);
	profile = world->loader.profile;
	assert_int_equal(profile->value_count, HEAP_VALUES);
	assert_string_equal(profile->value_types[profile->main_value].name, "peak_space");
	assert_int_equal(profile->entries.count, 3);
	assert_int_equal(sum_of(profile, HEAP_ALLOC_SPACE), 1100);
	assert_int_equal(sum_of(profile, HEAP_ALLOC_OBJECTS), 3);
	assert_int_equal(sum_of(profile, HEAP_PEAK_SPACE), 1000);
	assert_int_equal(sum_of(profile, HEAP_PEAK_OBJECTS), 2);
	assert_int_equal(sum_of(profile, HEAP_INUSE_SPACE), 500);
	assert_int_equal(sum_of(profile, HEAP_INUSE_OBJECTS), 2);
	assert_int_equal(sum_of(profile, HEAP_TEMPORARY_OBJECTS), 1);
}

static void stacks_are_chosen_by_their_functions(void **state)
{
	static const char *const only[] = {"read"};
	struct made_heap *world = *state;

	world->options.only = only;
	world->options.only_count = 1;
	make_heap(world);
	assert_int_equal(world->loader.profile->entries.count, 1);
	assert_int_equal(sum_of(world->loader.profile, HEAP_PEAK_SPACE), 400);
}

static void a_report_names_the_places_that_allocate(void **state)
{
	struct made_heap *world = *state;
	struct site_report_options options = {.json = true};
	struct bytes text = {0};
	json_t *root;
	json_t *row;

	make_heap(world);
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
	assert_non_null(strstr((const char *)text.data, "at most 1000 B live in 2 blocks"));
	assert_non_null(strstr((const char *)text.data, " parse\n"));
	assert_non_null(strstr((const char *)text.data, "1 more with 400 B at the peak"));
	bytes_fini(&text);
}

static void other_views_and_formats_have_them_too(void **state)
{
	struct made_heap *world = *state;
	struct report_options options = REPORT_OPTIONS_DEFAULT;
	struct bytes text = {0};
	json_t *root;

	make_heap(world);
	options.value_name = "alloc_objects";
	assert_int_equal(report_write(world->loader.profile, &options, &text, NULL), 0);
	bytes_put_u8(&text, 0);
	assert_non_null(strstr((const char *)text.data, "alloc_objects 3"));
	bytes_clear(&text);
	assert_int_equal(exporter_write(exporter_find("json"), world->loader.profile,
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

static void a_recording_without_allocations_says_how_to_get_some(void **state)
{
	struct made_heap *world = *state;
	struct heap_profile heap;
	struct error err = {0};

	make_heap(world);
	assert_int_equal(load_heap(world->made.path, &world->options, &heap, &err), -EINVAL);
	assert_non_null(strstr(err.text, "has no allocations"));
	assert_non_null(strstr(err.remedy, "wick heap"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_heap_becomes_values_of_a_profile,
						make_heap_begin, make_heap_end),
		cmocka_unit_test_setup_teardown(stacks_are_chosen_by_their_functions,
						make_heap_begin, make_heap_end),
		cmocka_unit_test_setup_teardown(a_report_names_the_places_that_allocate,
						make_heap_begin, make_heap_end),
		cmocka_unit_test_setup_teardown(other_views_and_formats_have_them_too,
						make_heap_begin, make_heap_end),
		cmocka_unit_test_setup_teardown(
			a_recording_without_allocations_says_how_to_get_some, make_heap_begin,
			make_heap_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
