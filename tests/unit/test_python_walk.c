/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/python_walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/python_thread.h"

#define BASE 0x7000000ull
#define WORDS 512u

/* The memory of an interpreter: frames of 80 bytes from 0x100 on, code objects from 0x800 on. */
struct world {
	uint64_t words[WORDS];
	uint64_t reads;
	uint64_t hole; /* cannot be read; 0: none */
};

#define STATE (BASE + 0x40)
#define C_FRAME (BASE + 0xc0)
#define FRAME(n) (BASE + 0x100 + (n)*80ull)
#define CODE(n) (BASE + 0x800 + (n)*16ull)
#define FIRST 184u

static const struct python_layout flagged = {
	.runtime = BASE,
	.thread_slack = 0,
	.interpreters = 0,
	.interpreter_next = 0,
	.threads = 8,
	.thread_next = 8,
	.thread_id = 24,
	.frame = 32,
	.c_frame = 8,
	.frame_bytes = 72,
	.code = 32,
	.previous = 48,
	.instruction = 56,
	.boundary = 68,
	.first_instruction = FIRST,
	.entry = PYTHON_ENTRY_FLAG,
};

static bool read_world(void *context, uint64_t address, void *ret, uint32_t size)
{
	struct world *world = context;

	world->reads++;
	if (address < BASE || address + size > BASE + sizeof(world->words) ||
	    (world->hole >= address && world->hole < address + size))
		return false;
	memcpy(ret, (const char *)world->words + (address - BASE), size);
	return true;
}

static void put(struct world *world, uint64_t address, uint64_t value)
{
	world->words[(address - BASE) / 8] = value;
}

static void put_frame(struct world *world, unsigned int n, uint64_t previous, unsigned int index,
		      unsigned int boundary)
{
	put(world, FRAME(n) + 32, CODE(n));
	put(world, FRAME(n) + 48, previous);
	put(world, FRAME(n) + 56, CODE(n) + FIRST + 2ull * index);
	put(world, FRAME(n) + 64, (uint64_t)boundary << 32);
}

/* A thread with three calls; C code made the first and the last. */
static struct world make_world(void)
{
	struct world world = {0};

	put(&world, STATE + 32, C_FRAME);
	put(&world, C_FRAME + 8, FRAME(2));
	put_frame(&world, 2, FRAME(1), 7, 1);
	put_frame(&world, 1, FRAME(0), 5, 0);
	put_frame(&world, 0, 0, 3, 1);
	return world;
}

static enum python_end walk(const struct python_layout *layout, struct world *world,
			    uint64_t *words, uint32_t capacity, uint32_t *ret_count)
{
	struct python_reader reader = {read_world, world};

	return python_walk(layout, &reader, STATE, words, capacity, ret_count);
}

static void calls_are_listed_from_the_innermost_with_their_instructions(void **state)
{
	struct world world = make_world();
	uint64_t words[8];
	uint32_t count;

	(void)state;
	assert_int_equal(walk(&flagged, &world, words, 8, &count), PYTHON_ROOT);
	assert_int_equal(count, 3);
	for (unsigned int i = 0; i < 3; i++) {
		assert_true(python_is_word(words[i]));
		assert_int_equal(python_word_code(words[i]), CODE(2 - i));
		assert_int_equal(python_word_index(words[i]), 7 - 2 * i);
	}
	assert_true(words[0] & PYTHON_WORD_ENTRY);
	assert_false(words[1] & PYTHON_WORD_ENTRY);
	assert_true(words[2] & PYTHON_WORD_ENTRY);
}

static void a_frame_without_code_marks_the_call_that_c_code_made(void **state)
{
	struct python_layout layout = flagged;
	struct world world = make_world();
	uint64_t words[8];
	uint32_t count;

	(void)state;
	layout.entry = PYTHON_ENTRY_SHIM;
	layout.shim = 3;
	put_frame(&world, 2, FRAME(1), 7, 0);
	put_frame(&world, 1, FRAME(0), 5, 3);
	put(&world, FRAME(1) + 32, 0);
	assert_int_equal(walk(&layout, &world, words, 8, &count), PYTHON_ROOT);
	assert_int_equal(count, 2);
	assert_true(words[0] & PYTHON_WORD_ENTRY);
	assert_int_equal(python_word_code(words[1]), CODE(0));
}

static void a_new_frame_is_at_its_first_instruction(void **state)
{
	struct world world = make_world();
	uint64_t words[8];
	uint32_t count;

	(void)state;
	put(&world, FRAME(2) + 56, CODE(2) + FIRST - 2);
	assert_int_equal(walk(&flagged, &world, words, 8, &count), PYTHON_ROOT);
	assert_int_equal(python_word_index(words[0]), 0);
}

static void a_chain_that_is_a_ring_ends_at_the_limit(void **state)
{
	struct world world = make_world();
	uint64_t words[8];
	uint32_t count;

	(void)state;
	put(&world, FRAME(0) + 48, FRAME(2));
	assert_int_equal(walk(&flagged, &world, words, 8, &count), PYTHON_DEPTH);
	assert_int_equal(count, 8);
	assert_true(world.reads < 20);
}

static void a_ring_of_frames_without_code_is_torn(void **state)
{
	struct python_layout layout = flagged;
	struct world world = make_world();
	uint64_t words[8];
	uint32_t count;

	(void)state;
	layout.entry = PYTHON_ENTRY_SHIM;
	layout.shim = 3;
	put_frame(&world, 2, FRAME(1), 7, 3);
	put_frame(&world, 1, FRAME(2), 5, 3);
	assert_int_equal(walk(&layout, &world, words, 8, &count), PYTHON_TORN);
	assert_int_equal(count, 0);
}

static void what_is_no_frame_is_torn_and_has_no_calls(void **state)
{
	static const struct {
		uint64_t place;
		uint64_t value;
	} changes[] = {
		{FRAME(1) + 32, 0},                    /* no code */
		{FRAME(1) + 32, 1ull << 60},           /* not an address */
		{FRAME(1) + 56, CODE(1)},              /* before its instructions */
		{FRAME(1) + 56, CODE(1) + (1u << 28)}, /* long after them */
		{FRAME(1) + 48, FRAME(1)},             /* its own caller */
		{FRAME(1) + 48, FRAME(0) + 1},         /* not aligned */
	};
	uint64_t words[8];
	uint32_t count;

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct world world = make_world();

		put(&world, changes[i].place, changes[i].value);
		assert_int_equal(walk(&flagged, &world, words, 8, &count), PYTHON_TORN);
		assert_int_equal(count, 0);
	}
}

static void memory_that_is_gone_gives_no_calls(void **state)
{
	struct world world = make_world();
	uint64_t words[8];
	uint32_t count;

	(void)state;
	world.hole = FRAME(0) + 40;
	assert_int_equal(walk(&flagged, &world, words, 8, &count), PYTHON_UNREADABLE);
	assert_int_equal(count, 0);
}

static void a_thread_is_found_by_its_thread_pointer(void **state)
{
	struct python_layout layout = flagged;
	struct world world = make_world();
	struct python_reader reader = {read_world, &world};
	uint64_t interpreter = BASE + 0x20;
	uint64_t other = BASE + 0xe00;

	(void)state;
	layout.thread_slack = 4096;
	put(&world, BASE, interpreter);
	put(&world, interpreter + 8, other); /* of the first thread */
	put(&world, other + 8, STATE);
	put(&world, other + 24, 0x500000);
	put(&world, STATE, other);
	put(&world, STATE + 24, 0x900000);
	assert_int_equal(python_find_thread(&layout, &reader, 0x900000 + 1776), STATE);
	assert_int_equal(python_find_thread(&layout, &reader, 0x900000 + 9000), 0);
	assert_true(python_is_listed(&layout, &reader, STATE));
	put(&world, other + 8, 0);
	assert_false(python_is_listed(&layout, &reader, STATE));
}

static void an_endless_list_of_threads_is_given_up(void **state)
{
	struct world world = make_world();
	struct python_reader reader = {read_world, &world};

	(void)state;
	put(&world, BASE, BASE); /* an interpreter whose next one is itself */
	put(&world, BASE + 8, STATE);
	put(&world, STATE + 8, STATE);
	put(&world, STATE + 24, 1);
	assert_int_equal(python_find_thread(&flagged, &reader, 2), 0);
	assert_true(world.reads < 3 * (PYTHON_MAX_THREADS + PYTHON_MAX_INTERPRETERS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_listed_from_the_innermost_with_their_instructions),
		cmocka_unit_test(a_frame_without_code_marks_the_call_that_c_code_made),
		cmocka_unit_test(a_new_frame_is_at_its_first_instruction),
		cmocka_unit_test(a_chain_that_is_a_ring_ends_at_the_limit),
		cmocka_unit_test(a_ring_of_frames_without_code_is_torn),
		cmocka_unit_test(what_is_no_frame_is_torn_and_has_no_calls),
		cmocka_unit_test(memory_that_is_gone_gives_no_calls),
		cmocka_unit_test(a_thread_is_found_by_its_thread_pointer),
		cmocka_unit_test(an_endless_list_of_threads_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
