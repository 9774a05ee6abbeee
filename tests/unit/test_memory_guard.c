/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/memory_guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"

#define LIMIT 100u

/* Looks once a second at a process of this size. Returns how often the step changed. */
static int let_pass(struct memory_guard *guard, uint64_t used, int seconds, uint64_t *now_ns)
{
	int changes = 0;

	while (seconds-- > 0) {
		*now_ns += NS_PER_SEC;
		changes += memory_guard_look(guard, used, *now_ns) == MEMORY_CHANGE;
	}
	return changes;
}

static void what_can_be_found_again_goes_first(void **state)
{
	struct memory_guard guard = {.limit_bytes = LIMIT};
	uint64_t now_ns = NS_PER_SEC;

	(void)state;
	assert_int_equal(memory_guard_look(&guard, 85, now_ns), MEMORY_FINE);
	assert_int_equal(memory_guard_look(&guard, 86, now_ns), MEMORY_TIDY);
	assert_int_equal(memory_guard_look(&guard, 86, now_ns), MEMORY_FINE); /* just done */
	assert_int_equal(let_pass(&guard, 86, 100, &now_ns), 0); /* nothing was won: not again */
	assert_int_equal(memory_guard_look(&guard, 93, now_ns), MEMORY_FINE);
	assert_int_equal(memory_guard_look(&guard, 95, now_ns), MEMORY_TIDY);
	assert_int_equal(let_pass(&guard, 99, 100, &now_ns), 0);
	assert_int_equal(guard.step, MEMORY_ALL);
}

static void above_the_limit_one_thing_after_another_is_given_up(void **state)
{
	struct memory_guard guard = {.limit_bytes = LIMIT};
	uint64_t now_ns = NS_PER_SEC;

	(void)state;
	assert_int_equal(let_pass(&guard, 120, 5, &now_ns), 1);
	assert_int_equal(guard.step, MEMORY_FEWER_SERVICES);
	assert_int_equal(let_pass(&guard, 120, 15, &now_ns), 0); /* it needs time to show */
	assert_int_equal(let_pass(&guard, 120, 10, &now_ns), 1);
	assert_int_equal(guard.step, MEMORY_SHORTER_STACKS);
	assert_int_equal(let_pass(&guard, 120, 100, &now_ns), 0); /* not so much as to pause */
	assert_int_equal(let_pass(&guard, 130, 13, &now_ns), 1);
	assert_int_equal(guard.step, MEMORY_PAUSE);
	assert_int_equal(let_pass(&guard, 120, 40, &now_ns), 0);
	assert_int_equal(let_pass(&guard, 120, 20, &now_ns), 1); /* a pause ends */
	assert_int_equal(guard.step, MEMORY_SHORTER_STACKS);
}

static void what_was_given_up_comes_back_when_there_is_room(void **state)
{
	struct memory_guard guard = {.limit_bytes = LIMIT};
	uint64_t now_ns = NS_PER_SEC;

	(void)state;
	assert_int_equal(let_pass(&guard, 120, 30, &now_ns), 2);
	assert_int_equal(let_pass(&guard, 70, 2000, &now_ns), 0); /* not enough room */
	assert_int_equal(let_pass(&guard, 50, 1, &now_ns), 1);
	assert_int_equal(guard.step, MEMORY_FEWER_SERVICES);
	assert_int_equal(let_pass(&guard, 50, 590, &now_ns), 0);
	assert_int_equal(let_pass(&guard, 50, 20, &now_ns), 1);
	assert_int_equal(guard.step, MEMORY_ALL);
}

static void without_a_limit_nothing_is_given_up(void **state)
{
	struct memory_guard guard = {0};
	uint64_t now_ns = NS_PER_SEC;

	(void)state;
	assert_int_equal(let_pass(&guard, UINT32_MAX, 100, &now_ns), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_can_be_found_again_goes_first),
		cmocka_unit_test(above_the_limit_one_thing_after_another_is_given_up),
		cmocka_unit_test(what_was_given_up_comes_back_when_there_is_room),
		cmocka_unit_test(without_a_limit_nothing_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
