/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/python/threads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"
#include "language/python/layout.h"
#include "unwind/python_walk.h"

#define BASE 0x7000000ull
#define BYTES 16384u
#define RUNTIME BASE
#define INTERPRETER (BASE + 0x100)
#define TEXT_CLASS (BASE + 0x400)
#define INTEGER_CLASS (BASE + 0x800)
#define DICT_CLASS (BASE + 0xc00)
#define THREAD_CLASS (BASE + 0x1000)
#define FIRST_FREE 0x1800u
#define CLASS_KEYS 320u
#define PAIRS_MAX 3u

/* The memory of a program that runs. */
struct world {
	const struct python_structs *structs;
	uint64_t words[BYTES / 8];
	uint64_t free; /* offset */
	uint64_t active;
	char told[256]; /* "7 name;" for each thread */
};

struct pair {
	uint64_t key;
	uint64_t value;
};

#define LAYOUT                                                                                     \
	.frames = {.runtime = RUNTIME, .interpreters = 8, .interpreter_next = 0},                  \
	.code = {.ascii_bytes = 48, .unicode_bytes = 72}

static const struct python_structs layouts[] = {
	{LAYOUT, .objects = {.modules = 16, .attributes = PYTHON_ATTRIBUTES_DICT}},
	{LAYOUT, .objects = {.modules = 16,
			     .class_keys = CLASS_KEYS,
			     .attributes = PYTHON_ATTRIBUTES_BEFORE,
			     .small_keys = true}},
	{LAYOUT, .objects = {.modules = 16,
			     .class_keys = CLASS_KEYS,
			     .attributes = PYTHON_ATTRIBUTES_TAGGED,
			     .small_keys = true,
			     .digit_shift = 3}},
	{LAYOUT, .objects = {.modules = 16,
			     .class_keys = CLASS_KEYS,
			     .values = 8,
			     .attributes = PYTHON_ATTRIBUTES_INSIDE,
			     .small_keys = true,
			     .digit_shift = 3}},
};

static bool read_world(void *context, uint64_t address, void *ret, uint32_t size)
{
	const struct world *world = context;

	if (address < BASE || address + size > BASE + BYTES)
		return false;
	memcpy(ret, (const char *)world->words + (address - BASE), size);
	return true;
}

static void put(struct world *world, uint64_t address, uint64_t value)
{
	memcpy((char *)world->words + (address - BASE), &value, sizeof(value));
}

static uint64_t take(struct world *world, uint64_t bytes)
{
	uint64_t address = BASE + world->free;

	world->free += (bytes + 7) & ~7ull;
	assert_true(world->free <= BYTES);
	return address;
}

static uint64_t make_text(struct world *world, const char *text)
{
	uint64_t object = take(world, 48 + strlen(text));

	put(world, object + 8, TEXT_CLASS);
	put(world, object + 16, strlen(text));
	put(world, object + 32, 1u << 2 | 1u << 5 | 1u << 6);
	memcpy((char *)world->words + (object + 48 - BASE), text, strlen(text));
	return object;
}

static uint64_t make_integer(struct world *world, uint32_t value)
{
	uint64_t object = take(world, 32);

	put(world, object + 8, INTEGER_CLASS);
	put(world, object + 16, 1ull << world->structs->objects.digit_shift);
	put(world, object + 24, value);
	return object;
}

/* The keys of a dictionary with eight slots; kind 2: its values are elsewhere. */
static uint64_t make_keys(struct world *world, const struct pair *pairs, uint64_t n, unsigned kind)
{
	bool small = world->structs->objects.small_keys;
	uint64_t keys = take(world, 48 + PAIRS_MAX * 24);
	uint64_t entry = keys + (small ? 40 : 48);
	uint64_t entry_bytes = small && kind != 0 ? 16 : 24;

	put(world, keys + 8, small ? 3 | 3 << 8 | kind << 16 : 8);
	put(world, keys + (small ? 24 : 32), n);
	for (uint64_t i = 0; i < n; i++, entry += entry_bytes) {
		put(world, entry + entry_bytes - 16, pairs[i].key);
		put(world, entry + entry_bytes - 8, kind == 2 ? 0 : pairs[i].value);
	}
	return keys;
}

static uint64_t make_dict(struct world *world, const struct pair *pairs, uint64_t n)
{
	uint64_t dict = take(world, 48);

	put(world, dict + 8, DICT_CLASS);
	put(world, dict + 32, make_keys(world, pairs, n, 0));
	return dict;
}

/* An object with attributes where its version has them. */
static uint64_t make_thread(struct world *world, uint64_t name, uint64_t tid)
{
	struct pair pairs[] = {{make_text(world, "_daemonic"), 0},
			       {make_text(world, "_name"), name},
			       {make_text(world, "_native_id"), tid}};
	uint64_t before = take(world, 32);
	uint64_t object = take(world, 64);
	uint64_t values = object + 24;

	put(world, object + 8, THREAD_CLASS);
	if (world->structs->objects.attributes == PYTHON_ATTRIBUTES_DICT) {
		put(world, THREAD_CLASS + 288, 16);
		put(world, object + 16, make_dict(world, pairs, ARRAY_SIZE(pairs)));
		return object;
	}
	if (world->structs->objects.attributes == PYTHON_ATTRIBUTES_BEFORE) {
		put(world, THREAD_CLASS + 168, 1u << 4);
		put(world, before, values);
	} else if (world->structs->objects.attributes == PYTHON_ATTRIBUTES_TAGGED) {
		put(world, THREAD_CLASS + 168, 1u << 4);
		put(world, before + 8, values - 1);
	} else {
		put(world, THREAD_CLASS + 168, 1u << 4 | 1u << 2);
		put(world, THREAD_CLASS + 32, 16);
		put(world, object + 16, 1u << 24);
	}
	put(world, THREAD_CLASS + CLASS_KEYS, make_keys(world, pairs, ARRAY_SIZE(pairs), 2));
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		put(world, values + i * 8, pairs[i].value);
	return object;
}

static void begin(struct world *world, const struct python_structs *structs)
{
	*world = (struct world){.structs = structs, .free = FIRST_FREE};
	put(world, TEXT_CLASS + 168, 1u << 28);
	put(world, INTEGER_CLASS + 168, 1u << 24);
	put(world, DICT_CLASS + 168, 1u << 29);
	put(world, RUNTIME + 8, INTERPRETER);
}

/* The program has imported threading, and has these threads. */
static void finish(struct world *world, uint64_t first, uint64_t second)
{
	struct pair threads[] = {{0, first}, {0, second}};
	struct pair attributes[] = {{make_text(world, "_active"), 0}};
	uint64_t module = take(world, 24);
	struct pair modules[] = {{make_text(world, "sys"), 0},
				 {make_text(world, "threading"), module}};

	world->active = make_dict(world, threads, second != 0 ? 2 : 1);
	attributes[0].value = world->active;
	put(world, module + 16, make_dict(world, attributes, 1));
	put(world, INTERPRETER + 16, make_dict(world, modules, 2));
}

static void tell(void *self, uint32_t tid, const char *name)
{
	struct world *world = self;
	size_t length = strlen(world->told);

	(void)snprintf(world->told + length, sizeof(world->told) - length, "%u %s;", tid, name);
}

static const char *names_in(struct world *world)
{
	struct python_reader reader = {read_world, world};
	struct python_thread_list list = {0};

	world->told[0] = '\0';
	python_threads_names(world->structs, &reader, &list, tell, world);
	return world->told;
}

static void names_are_read_wherever_a_version_keeps_attributes(void **state)
{
	struct world world;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		begin(&world, &layouts[i]);
		finish(&world,
		       make_thread(&world, make_text(&world, "reader"), make_integer(&world, 7)),
		       make_thread(&world, make_text(&world, "writer"), make_integer(&world, 9)));
		assert_string_equal(names_in(&world), "7 reader;9 writer;");
	}
}

static void names_that_python_made_up_are_left_out(void **state)
{
	struct world world;

	(void)state;
	begin(&world, &layouts[0]);
	finish(&world,
	       make_thread(&world, make_text(&world, "MainThread"), make_integer(&world, 7)),
	       make_thread(&world, make_text(&world, "Dummy-3"), make_integer(&world, 9)));
	assert_string_equal(names_in(&world), "");
}

static void objects_of_another_kind_have_no_name(void **state)
{
	struct world world;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		begin(&world, &layouts[i]);
		finish(&world,
		       make_thread(&world, make_integer(&world, 1), make_integer(&world, 7)),
		       make_thread(&world, make_text(&world, "x"), make_text(&world, "9")));
		assert_string_equal(names_in(&world), "");
		begin(&world, &layouts[i]);
		finish(&world, make_integer(&world, 1), 0xdead0);
		assert_string_equal(names_in(&world), "");
	}
}

static void a_dictionary_that_was_changing_is_not_walked(void **state)
{
	struct world world;
	uint64_t keys;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		bool small = layouts[i].objects.small_keys;

		begin(&world, &layouts[i]);
		finish(&world, make_thread(&world, make_text(&world, "x"), make_integer(&world, 7)),
		       0);
		memcpy(&keys, (char *)world.words + (world.active + 32 - BASE), sizeof(keys));
		put(&world, keys + (small ? 24 : 32), UINT64_MAX);
		assert_string_equal(names_in(&world), "");
		put(&world, keys + (small ? 24 : 32), 1);
		put(&world, keys + 8, UINT64_MAX);
		assert_string_equal(names_in(&world), "");
		put(&world, world.active + 8, INTEGER_CLASS);
		assert_string_equal(names_in(&world), "");
	}
}

static void a_version_without_offsets_has_no_names(void **state)
{
	struct python_structs unknown = layouts[0];
	struct world world;

	(void)state;
	unknown.objects.modules = 0;
	begin(&world, &unknown);
	finish(&world, make_thread(&world, make_text(&world, "x"), make_integer(&world, 7)), 0);
	assert_string_equal(names_in(&world), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_read_wherever_a_version_keeps_attributes),
		cmocka_unit_test(names_that_python_made_up_are_left_out),
		cmocka_unit_test(objects_of_another_kind_have_no_name),
		cmocka_unit_test(a_dictionary_that_was_changing_is_not_walked),
		cmocka_unit_test(a_version_without_offsets_has_no_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
