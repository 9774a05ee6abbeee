/* SPDX-License-Identifier: BSD-2-Clause */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <wick/maps.h>

/* Paths that exist nowhere: offsets and vaddrs count as equal. */
static const char first_text[] = "10000-20000 r-xp 00000000 08:01 11 /none/a lib.so\n"
				 "30000-40000 r-xp 00005000 08:01 12 /none/b.so\n"
				 "50000-60000 rw-p 00000000 00:00 0  [heap]\n"
				 "70000-80000 rwxp 00000000 00:00 0 \n";
static const char second_text[] = "10000-20000 r-xp 00000000 08:01 13 /none/c.so\n"
				  "50000-60000 rw-p 00000000 00:00 0  [heap]\n"
				  "70000-80000 rwxp 00000000 00:00 0 \n";

static void add_text(struct wick_maps_converter *converter, uint64_t id, const char *text)
{
	struct wick_maps *maps;

	assert_int_equal(wick_maps_parse(text, strlen(text), 0, &maps, NULL), 0);
	assert_int_equal(wick_maps_converter_add(converter, id, maps), 0);
	wick_maps_free(maps);
}

static void add_self(struct wick_maps_converter *converter, uint64_t id)
{
	struct wick_maps *maps;

	assert_int_equal(wick_maps_read_self(0, &maps, NULL), 0);
	assert_int_equal(wick_maps_converter_add(converter, id, maps), 0);
	wick_maps_free(maps);
}

static const char *library_at(const struct wick_maps_converter *converter, uint64_t id,
			      uint64_t address)
{
	struct wick_maps_location location;

	(void)wick_maps_convert(converter, id, address, &location);
	return location.library;
}

static void an_address_becomes_library_offset_and_raw_address(void **state)
{
	struct wick_maps_converter *converter;
	struct wick_maps_location location;

	assert_int_equal(wick_maps_converter_new(&converter), 0);
	add_text(converter, 7, first_text);
	assert_int_equal(wick_maps_convert(converter, 7, 0x30123, &location), 1);
	assert_string_equal(location.library, "/none/b.so");
	assert_int_equal(location.offset, 0x5123);
	assert_int_equal(location.file_offset, 0x5123);
	assert_int_equal(location.address, 0x30123);
	assert_string_equal(location.build_id, "");
	wick_maps_converter_free(converter);
}

static void an_unknown_id_and_an_unknown_address_are_unknown(void **state)
{
	struct wick_maps_converter *converter;
	struct wick_maps_location location;

	assert_int_equal(wick_maps_converter_new(&converter), 0);
	add_text(converter, 7, first_text);
	assert_int_equal(wick_maps_convert(converter, 8, 0x30123, &location), 0);
	assert_string_equal(location.library, "[unknown]");
	assert_int_equal(wick_maps_convert(converter, 7, 0x20000, &location), 0);
	assert_string_equal(location.library, "[unknown]");
	assert_int_equal(location.offset, 0x20000);
	assert_int_equal(location.address, 0x20000);
	wick_maps_converter_free(converter);
}

static void each_id_keeps_its_own_moment(void **state)
{
	struct wick_maps_converter *converter;

	assert_int_equal(wick_maps_converter_new(&converter), 0);
	add_text(converter, 900, first_text);
	add_text(converter, 1, second_text);
	add_text(converter, 50, first_text);
	assert_string_equal(library_at(converter, 900, 0x10000), "/none/a lib.so");
	assert_string_equal(library_at(converter, 1, 0x10000), "/none/c.so");
	assert_string_equal(library_at(converter, 50, 0x10000), "/none/a lib.so");
	assert_string_equal(library_at(converter, 900, 0x30000), "/none/b.so");
	assert_string_equal(library_at(converter, 1, 0x30000), "[unknown]");
	assert_string_equal(library_at(converter, 50, 0x30000), "/none/b.so");
	assert_string_equal(library_at(converter, 1, 0x50000), "[heap]");
	wick_maps_converter_free(converter);
}

static void an_empty_first_snapshot_stays_empty(void **state)
{
	struct wick_maps_converter *converter;

	assert_int_equal(wick_maps_converter_new(&converter), 0);
	add_text(converter, 1, "");
	add_text(converter, 2, first_text);
	assert_string_equal(library_at(converter, 1, 0x10000), "[unknown]");
	assert_string_equal(library_at(converter, 2, 0x10000), "/none/a lib.so");
	wick_maps_converter_free(converter);
}

static void memory_without_a_name_is_anonymous_and_keeps_its_address(void **state)
{
	struct wick_maps_converter *converter;
	struct wick_maps_location location;

	assert_int_equal(wick_maps_converter_new(&converter), 0);
	add_text(converter, 1, first_text);
	assert_int_equal(wick_maps_convert(converter, 1, 0x70010, &location), 1);
	assert_string_equal(location.library, "[anonymous]");
	assert_int_equal(location.offset, 0x70010);
	wick_maps_converter_free(converter);
}

static void an_id_is_taken_once(void **state)
{
	struct wick_maps_converter *converter;
	struct wick_maps *maps;

	assert_int_equal(wick_maps_converter_new(&converter), 0);
	add_text(converter, 1, first_text);
	assert_int_equal(wick_maps_parse(second_text, sizeof(second_text) - 1, 0, &maps, NULL), 0);
	assert_int_equal(wick_maps_converter_add(converter, 1, maps), -EEXIST);
	assert_string_equal(library_at(converter, 1, 0x10000), "/none/a lib.so");
	wick_maps_free(maps);
	wick_maps_converter_free(converter);
}

static void a_batch_equals_its_single_conversions(void **state)
{
	enum { COUNT = 200 };
	struct wick_maps_converter *converter;
	struct wick_maps_location many[COUNT];
	uint64_t addresses[COUNT];
	size_t known = 0;

	assert_int_equal(wick_maps_converter_new(&converter), 0);
	add_text(converter, 1, first_text);
	add_text(converter, 2, second_text);
	for (size_t i = 0; i < COUNT; i++)
		addresses[i] = (i * 37 % COUNT) * 0x900;
	size_t found = wick_maps_convert_batch(converter, 1, addresses, COUNT, many);
	for (size_t i = 0; i < COUNT; i++) {
		struct wick_maps_location one;

		known += (size_t)wick_maps_convert(converter, 1, addresses[i], &one);
		assert_string_equal(one.library, many[i].library);
		assert_int_equal(one.offset, many[i].offset);
		assert_int_equal(one.file_offset, many[i].file_offset);
		assert_int_equal(one.address, many[i].address);
	}
	assert_int_equal(found, known);
	wick_maps_converter_free(converter);
}

static void a_loaded_library_is_known_only_while_it_is_loaded(void **state)
{
	struct wick_maps_converter *converter;
	struct wick_maps_location location;

	assert_int_equal(wick_maps_converter_new(&converter), 0);
	void *library = dlopen(TINY_LIBRARY, RTLD_NOW);
	assert_non_null(library);
	struct link_map *object = NULL;
	assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &object), 0);
	uint64_t bias = object->l_addr;
	uint64_t function = (uintptr_t)dlsym(library, "tiny_function");
	add_self(converter, 1);
	assert_int_equal(dlclose(library), 0);
	add_self(converter, 2);
	library = dlopen(TINY_LIBRARY, RTLD_NOW);
	assert_non_null(library);
	uint64_t again = (uintptr_t)dlsym(library, "tiny_function");
	add_self(converter, 3);

	assert_int_equal(wick_maps_convert(converter, 1, function, &location), 1);
	assert_non_null(strstr(location.library, "libtiny.so"));
	assert_int_equal(location.offset, function - bias);
	assert_string_not_equal(location.build_id, "");
	uint64_t offset = location.offset;
	assert_null(strstr(library_at(converter, 2, function), "libtiny.so"));
	assert_int_equal(wick_maps_convert(converter, 3, again, &location), 1);
	assert_int_equal(location.offset, offset);
	assert_int_equal(dlclose(library), 0);
	wick_maps_converter_free(converter);
}

static void the_regions_of_a_snapshot_can_be_listed(void **state)
{
	struct wick_maps *maps;
	struct wick_maps_region region;

	assert_int_equal(wick_maps_parse(first_text, sizeof(first_text) - 1,
					 WICK_MAPS_EXECUTABLE_ONLY, &maps, NULL),
			 0);
	assert_int_equal(wick_maps_count(maps), 3);
	assert_int_equal(wick_maps_bad_lines(maps), 0);
	assert_int_equal(wick_maps_region_at(maps, 1, &region), 0);
	assert_int_equal(region.start, 0x30000);
	assert_int_equal(region.file_offset, 0x5000);
	assert_int_equal(region.kind, WICK_MAPS_FILE);
	assert_int_equal(region.protection, WICK_MAPS_READ | WICK_MAPS_EXEC);
	assert_string_equal(region.path, "/none/b.so");
	assert_int_equal(wick_maps_region_at(maps, 3, &region), -ERANGE);
	wick_maps_free(maps);
}

static void a_missing_process_is_told_in_words(void **state)
{
	struct wick_maps *maps = NULL;
	struct wick_error err;

	assert_int_equal(wick_maps_read_pid(0x7ffffff0, 0, &maps, &err), -ESRCH);
	assert_string_equal(err.text, "no such process: 2147483632");
	assert_string_not_equal(err.remedy, "");
	assert_int_equal(wick_maps_read_pid(-3, 0, &maps, NULL), -EINVAL);
	assert_null(maps);
}

static void null_where_something_must_be_is_refused(void **state)
{
	struct wick_maps *maps = NULL;
	struct wick_error err = {0};

	assert_int_equal(wick_maps_read_self(0, NULL, &err), -EINVAL);
	assert_string_equal(err.text, "ret is NULL");
	assert_int_equal(wick_maps_parse(NULL, 9, 0, &maps, &err), -EINVAL);
	assert_int_equal(wick_maps_region_at(NULL, 0, NULL), -EINVAL);
	assert_int_equal(wick_maps_count(NULL), 0);
	assert_int_equal(wick_maps_converter_new(NULL), -EINVAL);
	assert_int_equal(wick_maps_converter_add(NULL, 1, NULL), -EINVAL);
	assert_int_equal(wick_maps_convert(NULL, 1, 0, NULL), -EINVAL);
	assert_int_equal(wick_maps_convert_batch(NULL, 1, NULL, 1, NULL), 0);
	assert_null(maps);
}

static void two_processes_do_not_mix(void **state)
{
	struct wick_maps_converter *converter;

	assert_int_equal(wick_maps_converter_new(&converter), 0);
	add_self(converter, 1);
	add_text(converter, 2, first_text);
	add_self(converter, 3);
	uint64_t here = (uintptr_t)&two_processes_do_not_mix;
	assert_non_null(strstr(library_at(converter, 1, here), "test_api_maps"));
	assert_string_equal(library_at(converter, 2, here), "[unknown]");
	assert_non_null(strstr(library_at(converter, 3, here), "test_api_maps"));
	wick_maps_converter_free(converter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_becomes_library_offset_and_raw_address),
		cmocka_unit_test(an_unknown_id_and_an_unknown_address_are_unknown),
		cmocka_unit_test(each_id_keeps_its_own_moment),
		cmocka_unit_test(an_empty_first_snapshot_stays_empty),
		cmocka_unit_test(memory_without_a_name_is_anonymous_and_keeps_its_address),
		cmocka_unit_test(an_id_is_taken_once),
		cmocka_unit_test(a_batch_equals_its_single_conversions),
		cmocka_unit_test(a_loaded_library_is_known_only_while_it_is_loaded),
		cmocka_unit_test(the_regions_of_a_snapshot_can_be_listed),
		cmocka_unit_test(a_missing_process_is_told_in_words),
		cmocka_unit_test(null_where_something_must_be_is_refused),
		cmocka_unit_test(two_processes_do_not_mix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
