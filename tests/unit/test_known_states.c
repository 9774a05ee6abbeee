/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/python/known_states.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "language/language.h"
#include "unwind/python_layout.h"
#include "unwind/python_thread.h"

/* The runtime, one interpreter and the states of its threads, of 64 bytes each. */
#define BASE 0x7000000ull
#define INTERPRETER (BASE + 0x40)
#define THREADS 2000u
#define STATE(n) (BASE + 0x1000 + (n)*64ull)
#define FRAME(n) (0x9000000ull + (n)*128ull)
#define ID(n) (0xa000000ull + (n)*4096ull)
#define BYTES (0x1000u + (THREADS + 1) * 64u)

struct world {
	uint8_t bytes[BYTES];
	uint64_t reads;
	struct known_states known;
};

static const struct python_layout layout = {
	.runtime = BASE,
	.interpreters = 0,
	.interpreter_next = 0,
	.threads = 8,
	.thread_next = 8,
	.thread_id = 24,
	.frame = 32,
	.c_frame = PYTHON_NO_OFFSET,
};

static bool read_world(void *context, uint64_t address, void *ret, uint32_t size)
{
	struct world *world = context;

	world->reads++;
	if (address < BASE || address + size > BASE + BYTES)
		return false;
	memcpy(ret, world->bytes + (address - BASE), size);
	return true;
}

static void put(struct world *world, uint64_t address, uint64_t value)
{
	memcpy(world->bytes + (address - BASE), &value, sizeof(value));
}

/* A new thread at the head of the list. */
static void start(struct world *world, uint64_t number, uint64_t head)
{
	put(world, STATE(number) + PYTHON_THREAD_PREVIOUS, 0);
	put(world, STATE(number) + layout.thread_next, head);
	put(world, STATE(number) + PYTHON_THREAD_INTERPRETER, INTERPRETER);
	put(world, STATE(number) + layout.thread_id, ID(number));
	put(world, STATE(number) + layout.frame, FRAME(number));
	put(world, INTERPRETER + layout.threads, STATE(number));
	if (head != 0)
		put(world, head + PYTHON_THREAD_PREVIOUS, STATE(number));
}

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	put(world, BASE, INTERPRETER);
	for (uint64_t i = 0; i < THREADS; i++)
		start(world, i, i > 0 ? STATE(i - 1) : 0);
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	known_states_fini(&world->known);
	free(world);
	return 0;
}

static uint64_t search(struct world *world, uint64_t state, uint64_t frame)
{
	const uint64_t words[] = {1, STATE(3), frame, 0, state, state};
	const struct language_sample sample = {.words = words, .count = 6};
	const struct python_reader reader = {read_world, world};

	world->reads = 0;
	return known_states_search(&world->known, &layout, &reader, &sample);
}

static void a_thread_is_found_by_its_state_and_frame(void **state)
{
	struct world *world = *state;

	assert_int_equal(search(world, STATE(7), FRAME(7)), ID(7));
	assert_int_equal(search(world, STATE(7), FRAME(8)), 0);
	assert_int_equal(search(world, STATE(THREADS), FRAME(THREADS)), 0);
}

static void the_list_of_threads_is_read_once(void **state)
{
	struct world *world = *state;

	(void)search(world, STATE(7), FRAME(7));
	for (uint64_t i = 10; i < 60; i++) {
		assert_int_equal(search(world, STATE(i), FRAME(i)), ID(i));
		assert_true(world->reads < 20);
	}
}

static void a_new_thread_is_found(void **state)
{
	struct world *world = *state;

	(void)search(world, STATE(7), FRAME(7));
	start(world, THREADS, STATE(THREADS - 1));
	assert_int_equal(search(world, STATE(THREADS), FRAME(THREADS)), ID(THREADS));
	assert_true(world->reads < 20);
}

static void a_thread_that_has_ended_is_not_found(void **state)
{
	struct world *world = *state;

	(void)search(world, STATE(7), FRAME(7));
	put(world, STATE(8) + layout.thread_next, STATE(6));
	assert_int_equal(search(world, STATE(7), FRAME(7)), 0);
}

static void a_thread_behind_a_known_address_is_found_in_the_end(void **state)
{
	struct world *world = *state;
	uint32_t tries = 1;

	(void)search(world, STATE(7), FRAME(7));
	/* The newest thread ends, one starts, and then another at the old address. */
	start(world, THREADS, STATE(THREADS - 2));
	start(world, THREADS - 1, STATE(THREADS));
	while (search(world, STATE(THREADS), FRAME(THREADS)) == 0 && tries < 100)
		tries++;
	assert_in_range(tries, 2, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_thread_is_found_by_its_state_and_frame, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_list_of_threads_is_read_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_new_thread_is_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_thread_that_has_ended_is_not_found, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_thread_behind_a_known_address_is_found_in_the_end,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
