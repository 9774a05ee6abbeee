/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/engine_stats.h"
#include "engine/signal/session_notes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "wire/session.h"

static void threads_without_room_are_told_with_a_remedy_that_is_there(void **state)
{
	uint64_t counts[SESSION_COUNTS] = {[SESSION_NO_SLOT] = 7};
	struct engine_stats stats = {.samples.count = 1};

	session_note_threads(&stats, counts);
	assert_string_equal(
		stats.remark,
		"not recorded: 7 threads beyond the limit of 8192 at once; use --engine perf");
	stats = (struct engine_stats){.heap.events = 1}; /* wick heap has no --engine */
	session_note_threads(&stats, counts);
	assert_string_equal(stats.remark, "not recorded: 7 threads beyond the limit of 8192 at "
					  "once; record the heap from outside: wick heap -p PID");
}

static void calls_that_were_not_seen_have_their_true_reason(void **state)
{
	uint64_t counts[SESSION_COUNTS] = {[SESSION_HEAP_MISSED] = 2};
	struct heap_marks marks = {0};
	struct engine_stats stats = {.heap.events = 1};

	session_note_heap(&stats, counts, &marks);
	assert_string_equal(stats.remark, "lost: 2 allocator calls, by threads that started "
					  "without the C library, or inside another call");
	counts[SESSION_NO_SLOT] = 1;
	stats.remark[0] = '\0';
	session_note_heap(&stats, counts, &marks);
	assert_string_equal(stats.remark,
			    "lost: 2 allocator calls, by threads that had no buffer space");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_without_room_are_told_with_a_remedy_that_is_there),
		cmocka_unit_test(calls_that_were_not_seen_have_their_true_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
