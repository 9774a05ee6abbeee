/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/heap/exit_scan.h"
#include "preload/heap/heap.h"
#include "preload/heap/heap_memory.h"
#include "preload/heap/heap_sample.h"

#define RATE 10000u
#define BLOCK(number) ((const void *)(uintptr_t)(0x10000u + 16u * (number)))

/* What the library has of its own. */
struct preload_runtime preload;
static struct preload_thread thread;

/* Nobody looks for leaks here. */
void exit_scan_note_own(uint64_t address, uint64_t bytes)
{
	assert_true(address > 0 && bytes > 0);
}

/* Nothing is near its limit here, nor damaged. */
void heap_step(void)
{
	fail();
}

void heap_end(void)
{
	fail();
}

static void begin(void)
{
	static struct session_control control;

	control.heap_sample_bytes = RATE;
	preload.control = &control;
	thread = (struct preload_thread){.random = 88172645463325252u};
}

static void bytes_are_marked_one_in_so_many(void **state)
{
	uint64_t sum = 0;

	begin();
	for (int i = 0; i < 10000; i++) {
		heap_sample_next(&thread);
		sum += thread.left_bytes;
	}
	assert_in_range(sum / 10000, RATE * 97 / 100, RATE * 103 / 100); /* three errors */
}

static void the_end_of_a_block_is_known_by_its_address_and_kind(void **state)
{
	begin();
	heap_sample_add(SESSION_MALLOC, BLOCK(1));
	assert_false(heap_sample_remove(SESSION_MALLOC, BLOCK(2)));
	assert_false(heap_sample_remove(SESSION_POOL, BLOCK(1)));
	assert_true(heap_sample_remove(SESSION_NEW, BLOCK(1))); /* all of the allocator are one */
	assert_false(heap_sample_remove(SESSION_MALLOC, BLOCK(1)));
}

static void a_block_is_the_last_until_others_take_of_what_is_left(void **state)
{
	begin();
	heap_sample_next(&thread);
	assert_false(heap_sample_is_last(&thread, SESSION_MALLOC, BLOCK(1)));
	heap_sample_note(&thread, SESSION_MALLOC, BLOCK(1));
	assert_true(heap_sample_is_last(&thread, SESSION_MALLOC, BLOCK(1)));
	assert_false(heap_sample_is_last(&thread, SESSION_MALLOC, BLOCK(2)));
	assert_false(heap_sample_is_last(&thread, SESSION_POOL, BLOCK(1)));
	thread.left_bytes -= 1; /* a block that is not recorded */
	assert_false(heap_sample_is_last(&thread, SESSION_MALLOC, BLOCK(1)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_marked_one_in_so_many),
		cmocka_unit_test(the_end_of_a_block_is_known_by_its_address_and_kind),
		cmocka_unit_test(a_block_is_the_last_until_others_take_of_what_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
