/* SPDX-License-Identifier: BSD-2-Clause */
#include "dwarf/dwarf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "dwarf_builder.h"
#include "elf/elf.h"

static struct dwarf_builder b;
static struct elf_builder image;
static struct dwarf *dwarf;
static struct dwarf_frames frames;

static int begin(void **state)
{
	dwarf_builder_init(&b);
	dwarf = NULL;
	return 0;
}

static int finish(void **state)
{
	dwarf_close(dwarf);
	dwarf_builder_fini(&b);
	return 0;
}

static int open_built(struct error *err)
{
	struct elf_file *elf = NULL;
	int r;

	dwarf_builder_image(&b, &image);
	assert_int_equal(elf_open_memory(image.data, image.size, "built", &elf, NULL), 0);
	r = dwarf_open(elf, NULL, &dwarf, err);
	if (r < 0)
		elf_close(elf);
	return r;
}

/* "inner:0 < outer:7": names and lines, innermost first. */
static const char *chain_at(uint64_t address)
{
	static char text[512];
	size_t size = 0;

	assert_true(dwarf_find(dwarf, address, &frames) >= 0);
	text[0] = '\0';
	for (size_t i = 0; i < frames.count; i++)
		size += (size_t)snprintf(
			text + size, sizeof(text) - size, "%s%s:%u", i ? " < " : "",
			frames.items[i].name ? frames.items[i].name : "?", frames.items[i].line);
	return text;
}

static void a_file_without_debug_information_says_so(void **state)
{
	struct error err = {0};

	assert_int_equal(open_built(&err), -ENODATA);
	assert_string_equal(err.text, "no debug information");
}

static void the_innermost_call_comes_first(void **state)
{
	uint32_t inner, middle;

	unit_begin(&b, "a.cc", 0x1000, 0x100);
	inner = die_named(&b, DIE_ABSTRACT, "inner");
	middle = die_named(&b, DIE_ABSTRACT, "middle");
	die_function(&b, "outer", 0x1000, 0x100);
	die_inlined(&b, middle, 0x1020, 0x40, 7);
	die_inlined(&b, inner, 0x1030, 0x10, 9);
	die_code(&b, DIE_END);
	die_code(&b, DIE_END);
	die_code(&b, DIE_END);
	unit_end(&b);
	assert_int_equal(open_built(NULL), 0);

	assert_string_equal(chain_at(0x1034), "inner:0 < middle:9 < outer:7");
	assert_string_equal(chain_at(0x1040), "middle:0 < outer:7");
	assert_string_equal(chain_at(0x1060), "outer:0");
	assert_int_equal(frames.items[0].low, 0x1000);
	assert_int_equal(frames.items[0].high, 0x1100);
	assert_false(frames.items[0].inlined);
}

static void what_no_function_covers_is_unknown(void **state)
{
	unit_begin(&b, "a.cc", 0x1000, 0x100);
	die_function(&b, "one", 0x1000, 0x10);
	die_code(&b, DIE_END);
	unit_end(&b);
	assert_int_equal(open_built(NULL), 0);

	assert_string_equal(chain_at(0xfff), "");
	assert_string_equal(chain_at(0x1010), "");
	assert_string_equal(chain_at(0x1100), "");
	assert_string_equal(chain_at(UINT64_MAX), "");
}

static void a_name_holds_its_namespaces_and_arguments(void **state)
{
	uint32_t deep, type, made;

	unit_begin(&b, "a.cc", 0x1000, 0x100);
	type = die_named(&b, DIE_TYPE, "long");
	die_named(&b, DIE_NAMESPACE, "one");
	die_named(&b, DIE_NAMESPACE, "");
	deep = die_named(&b, DIE_ABSTRACT, "deep");
	made = die_named(&b, DIE_TEMPLATE, "made");
	for (int i = 0; i < 2; i++) {
		die_code(&b, DIE_ARGUMENT);
		bytes_put_u32(&b.info, type);
	}
	die_code(&b, DIE_END);
	die_code(&b, DIE_END);
	die_code(&b, DIE_END);
	die_copy(&b, DIE_CLONE, deep, 0x1000, 0x10);
	die_copy(&b, DIE_CLONE, made, 0x1010, 0x10);
	unit_end(&b);
	assert_int_equal(open_built(NULL), 0);

	assert_string_equal(chain_at(0x1000), "one::(anonymous namespace)::deep:0");
	assert_false(frames.items[0].mangled);
	assert_string_equal(chain_at(0x1010), "one::(anonymous namespace)::made<long, long>:0");
}

static void the_linker_name_is_preferred(void **state)
{
	uint32_t linked;

	unit_begin(&b, "a.cc", 0x1000, 0x100);
	linked = die_named(&b, DIE_LINKED, "plain");
	put_text(&b.info, "_Z5plainv");
	die_copy(&b, DIE_CLONE, linked, 0x1000, 0x10);
	unit_end(&b);
	assert_int_equal(open_built(NULL), 0);

	assert_string_equal(chain_at(0x1000), "_Z5plainv:0");
	assert_true(frames.items[0].mangled);
}

static void equal_names_are_one_pointer(void **state)
{
	const char *first;

	unit_begin(&b, "a.cc", 0x1000, 0x100);
	die_function(&b, "same", 0x1000, 0x10);
	die_code(&b, DIE_END);
	die_function(&b, "same", 0x1010, 0x10);
	die_code(&b, DIE_END);
	unit_end(&b);
	assert_int_equal(open_built(NULL), 0);

	assert_string_equal(chain_at(0x1000), "same:0");
	first = frames.items[0].name;
	assert_string_equal(chain_at(0x1010), "same:0");
	assert_ptr_equal(frames.items[0].name, first);
}

static void code_that_the_linker_threw_away_is_left_out(void **state)
{
	static const uint64_t tombstones[] = {0, 1, UINT64_MAX, UINT64_MAX - 1};

	unit_begin(&b, "a.cc", 0, 0x100000);
	for (size_t i = 0; i < 4; i++) {
		die_function(&b, "gone", tombstones[i], 0x2000);
		die_code(&b, DIE_END);
	}
	unit_end(&b);
	unit_begin(&b, "b.cc", 0x1000, 0x10);
	die_function(&b, "kept", 0x1000, 0x10);
	die_code(&b, DIE_END);
	unit_end(&b);
	assert_int_equal(open_built(NULL), 0);

	assert_string_equal(chain_at(0x1000), "kept:0");
	assert_string_equal(chain_at(0x10), "");
	assert_string_equal(chain_at(UINT64_MAX - 1), "");
}

static void a_bad_unit_costs_that_unit(void **state)
{
	size_t bad;

	unit_begin(&b, "a.cc", 0x1000, 0x10);
	bad = b.unit;
	die_function(&b, "lost", 0x1000, 0x10);
	die_code(&b, DIE_END);
	unit_end(&b);
	unit_begin(&b, "b.cc", 0x2000, 0x10);
	die_function(&b, "good", 0x2000, 0x10);
	die_code(&b, DIE_END);
	unit_end(&b);
	b.info.data[bad + 4] = 99; /* version */
	assert_int_equal(open_built(NULL), 0);

	assert_string_equal(chain_at(0x1000), "");
	assert_string_equal(chain_at(0x2000), "good:0");
	assert_int_equal(dwarf_stats(dwarf).units, 2);
	assert_int_equal(dwarf_stats(dwarf).bad_units, 1);
}

static void an_origin_that_leads_to_itself_has_no_name(void **state)
{
	uint32_t self;

	unit_begin(&b, "a.cc", 0x1000, 0x100);
	self = die_next(&b);
	die_copy(&b, DIE_CLONE, self, 0x1000, 0x10);
	unit_end(&b);
	assert_int_equal(open_built(NULL), 0);

	assert_string_equal(chain_at(0x1000), "?:0");
}

static void an_origin_outside_the_unit_has_no_name(void **state)
{
	unit_begin(&b, "a.cc", 0x1000, 0x100);
	die_copy(&b, DIE_CLONE, 0x7fffffff, 0x1000, 0x10);
	unit_end(&b);
	assert_int_equal(open_built(NULL), 0);

	assert_string_equal(chain_at(0x1000), "?:0");
}

static void deep_nesting_is_cut_not_followed(void **state)
{
	uint32_t inner;

	unit_begin(&b, "a.cc", 0x1000, 0x100);
	inner = die_named(&b, DIE_ABSTRACT, "inner");
	die_function(&b, "outer", 0x1000, 0x100);
	for (int i = 0; i < 2000; i++)
		die_inlined(&b, inner, 0x1000, 0x100, 1);
	for (int i = 0; i <= 2000; i++)
		die_code(&b, DIE_END);
	unit_end(&b);
	assert_int_equal(open_built(NULL), 0);

	assert_in_range(dwarf_find(dwarf, 0x1080, &frames), 100, DWARF_MAX_FRAMES);
	assert_string_equal(frames.items[frames.count - 1].name, "outer");
}

static void a_narrow_function_wins_over_a_wide_one(void **state)
{
	unit_begin(&b, "a.cc", 0x1000, 0x1000);
	die_function(&b, "wide", 0x1000, 0x1000);
	die_code(&b, DIE_END);
	die_function(&b, "narrow", 0x1100, 0x10);
	die_code(&b, DIE_END);
	unit_end(&b);
	assert_int_equal(open_built(NULL), 0);

	assert_string_equal(chain_at(0x1108), "narrow:0");
	assert_string_equal(chain_at(0x1110), "wide:0");
}

static void little_memory_changes_no_answer(void **state)
{
	for (uint64_t i = 0; i < 20; i++) {
		unit_begin(&b, "a.cc", 0x1000 + 0x100 * i, 0x100);
		die_function(&b, i % 2 ? "odd" : "even", 0x1000 + 0x100 * i, 0x100);
		die_code(&b, DIE_END);
		unit_end(&b);
	}
	assert_int_equal(open_built(NULL), 0);
	dwarf_set_limit(dwarf, 1);

	for (uint64_t i = 0; i < 60; i++)
		assert_string_equal(chain_at(0x1010 + 0x100 * (i * 7 % 20)),
				    i * 7 % 20 % 2 ? "odd:0" : "even:0");
}

static void details_tell_unit_and_signature(void **state)
{
	struct dwarf_details details;

	unit_begin(&b, "a.cc", 0x1000, 0x100);
	die_named(&b, DIE_NAMESPACE, "ns");
	die_function(&b, "one", 0x1000, 0x10);
	die_code(&b, DIE_END);
	die_code(&b, DIE_END);
	unit_end(&b);
	assert_int_equal(open_built(NULL), 0);

	assert_int_equal(dwarf_find_details(dwarf, 0x1000, &details), 0);
	assert_string_equal(details.unit, "a.cc");
	assert_string_equal(details.signature, "void ns::one()");
	assert_int_equal(dwarf_find_details(dwarf, 0x5000, &details), -ENOENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_without_debug_information_says_so),
		TEST(the_innermost_call_comes_first),
		TEST(what_no_function_covers_is_unknown),
		TEST(a_name_holds_its_namespaces_and_arguments),
		TEST(the_linker_name_is_preferred),
		TEST(equal_names_are_one_pointer),
		TEST(code_that_the_linker_threw_away_is_left_out),
		TEST(a_bad_unit_costs_that_unit),
		TEST(an_origin_that_leads_to_itself_has_no_name),
		TEST(an_origin_outside_the_unit_has_no_name),
		TEST(deep_nesting_is_cut_not_followed),
		TEST(a_narrow_function_wins_over_a_wide_one),
		TEST(little_memory_changes_no_answer),
		TEST(details_tell_unit_and_signature),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
