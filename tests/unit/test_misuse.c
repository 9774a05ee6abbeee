/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/misuse.h"

#include "heap_stream.h"

#define A 0x1000u
#define B 0x2000u

/* A free, or a realloc(), with its stack. */
static void put(struct stream *stream, enum heap_op op, uint32_t thread, uint64_t time_ns,
		uint64_t address, uint32_t stack)
{
	stream_put(
		stream, thread,
		(struct heap_event){
			.time_ns = time_ns, .address = address, .stack = stack, .op = (uint8_t)op});
}

static void freed_twice_has_three_stacks_and_is_counted(void **state)
{
	const struct heap_misuse *group;
	const struct heap_report *report;
	struct stream stream;

	(void)state;
	stream_open(&stream, (struct heap_config){0});
	for (uint64_t i = 0; i < 10; i++) {
		stream_alloc(&stream, 0, 10000 * i + 1, A, 100, 1);
		put(&stream, HEAP_FREE, 0, 10000 * i + 2, A, 2);
		put(&stream, HEAP_FREE, 1, 10000 * i + 3, A, 3);
	}
	stream_alloc(&stream, 0, 200000, A, 50, 4); /* another way */
	put(&stream, HEAP_FREE, 0, 200001, A, 2);
	put(&stream, HEAP_MOVE, 0, 200002, A, 5); /* by realloc() */
	report = stream_finish(&stream);
	assert_int_equal(report->misuses.groups.count, 2);
	group = &report->misuses.groups.items[0];
	assert_int_equal(group->kind, HEAP_DOUBLE_FREE);
	assert_int_equal(group->count, 10);
	assert_int_equal(group->allocated_stack, 1);
	assert_int_equal(group->freed_stack, 2);
	assert_int_equal(group->stack, 3);
	assert_int_equal(group->address, A);
	assert_int_equal(group->size, 100);
	assert_int_equal(group->freed_ns, 2);
	assert_int_equal(group->time_ns, 3);
	assert_int_equal(group->freed_thread, 0);
	assert_int_equal(group->thread, 1);
	group = &report->misuses.groups.items[1];
	assert_int_equal(group->allocated_stack, 4);
	assert_int_equal(group->stack, 5);
	assert_int_equal(group->op, HEAP_MOVE);
	assert_int_equal(group->count, 1);
	stream_close(&stream);
}

static void what_nobody_gave_is_foreign(void **state)
{
	const struct heap_report *report;
	struct stream stream;

	(void)state;
	stream_open(&stream, (struct heap_config){0});
	stream_alloc(&stream, 0, 1, A, 100, 1);
	put(&stream, HEAP_FREE, 0, 2, A + 16, 2); /* into a block */
	put(&stream, HEAP_FREE, 0, 3, A + 16, 2);
	put(&stream, HEAP_FREE, 2, 5000, A, 3); /* of another process */
	put(&stream, HEAP_FREE, 0, 6000, A, 4); /* and this is in order */
	report = stream_finish(&stream);
	assert_int_equal(report->misuses.groups.count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct heap_misuse *group = &report->misuses.groups.items[i];

		assert_int_equal(group->kind, HEAP_FOREIGN_FREE);
		assert_int_equal(group->count, 2 - i);
		assert_int_equal(group->stack, 2 + i);
		assert_int_equal(group->freed_stack, ID_NONE);
		assert_int_equal(group->allocated_stack, ID_NONE);
	}
	stream_close(&stream);
}

/* Clocks of two CPUs differ: a free may seem to come before its allocation. */
static void a_free_that_comes_early_is_none(void **state)
{
	const struct heap_report *report;
	struct stream stream;

	(void)state;
	stream_open(&stream, (struct heap_config){0});
	put(&stream, HEAP_FREE, 1, 1000, A, 2);
	stream_alloc(&stream, 0, 1500, A, 100, 1);
	put(&stream, HEAP_FREE, 1, 9000, B, 2);
	stream_alloc(&stream, 0, 9001 + HEAP_CLOCK_SKEW_NS, B, 100, 1); /* too late to be that */
	report = stream_finish(&stream);
	assert_int_equal(report->quality.swapped, 1);
	assert_int_equal(report->misuses.groups.count, 1);
	assert_int_equal(report->misuses.groups.items[0].address, B);
	stream_close(&stream);
}

/* It has all blocks of its parent, and may free each once. */
static void a_forked_child_frees_what_it_was_born_with(void **state)
{
	const struct heap_report *report;
	struct stream stream;

	(void)state;
	stream_open(&stream, (struct heap_config){0});
	stream.dictionary.processes.items[1].parent_pid = stream.dictionary.processes.items[0].pid;
	stream_alloc(&stream, 0, 1, A, 100, 1);
	put(&stream, HEAP_FREE, 2, 2, A, 2);
	put(&stream, HEAP_FREE, 0, 3, A, 3);
	put(&stream, HEAP_FREE, 2, 4, A, 4); /* again */
	report = stream_finish(&stream);
	assert_int_equal(report->misuses.groups.count, 1);
	assert_int_equal(report->misuses.groups.items[0].kind, HEAP_DOUBLE_FREE);
	assert_int_equal(report->misuses.groups.items[0].freed_stack, 2);
	assert_int_equal(report->misuses.groups.items[0].stack, 4);
	stream_close(&stream);
}

static void frees_without_stacks_say_nothing(void **state)
{
	const struct heap_report *report;
	struct stream stream;

	(void)state;
	stream_open(&stream, (struct heap_config){0});
	stream_alloc(&stream, 0, 1, A, 100, 1);
	stream_free(&stream, 0, 2, A);
	stream_free(&stream, 0, 3, A);
	report = stream_finish(&stream);
	assert_int_equal(report->quality.unknown_frees, 1);
	assert_int_equal(report->misuses.groups.count, 0);
	assert_null(report->misuses.freed);
	stream_close(&stream);
}

/* Of many frees the last ones are remembered, and none is taken for another. */
static void memory_is_bounded(void **state)
{
	const struct heap_report *report;
	uint64_t time_ns = 0;
	struct stream stream;

	(void)state;
	stream_open(&stream, (struct heap_config){0});
	for (uint64_t i = 0; i < HEAP_FREES_KEPT + 1; i++) {
		stream_alloc(&stream, 0, ++time_ns, A + i * 16, 8, 1);
		put(&stream, HEAP_FREE, 0, ++time_ns, A + i * 16, 2);
	}
	time_ns += 10000;
	put(&stream, HEAP_FREE, 0, ++time_ns, A, 3);      /* forgotten */
	put(&stream, HEAP_FREE, 0, ++time_ns, A + 16, 4); /* the oldest that is known */
	put(&stream, HEAP_FREE, 0, ++time_ns, A + HEAP_FREES_KEPT * 16, 5);
	for (uint32_t i = 0; i < HEAP_MISUSES; i++) /* each in its own way */
		put(&stream, HEAP_FREE, 0, ++time_ns, 16, 100 + i);
	report = stream_finish(&stream);
	assert_int_equal(report->misuses.groups.count, HEAP_MISUSES);
	assert_int_equal(report->misuses.left_out, 3);
	assert_int_equal(report->misuses.groups.items[0].kind, HEAP_FOREIGN_FREE);
	assert_int_equal(report->misuses.groups.items[1].kind, HEAP_DOUBLE_FREE);
	assert_int_equal(report->misuses.groups.items[2].kind, HEAP_DOUBLE_FREE);
	stream_close(&stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(freed_twice_has_three_stacks_and_is_counted),
		cmocka_unit_test(what_nobody_gave_is_foreign),
		cmocka_unit_test(a_free_that_comes_early_is_none),
		cmocka_unit_test(a_forked_child_frees_what_it_was_born_with),
		cmocka_unit_test(frees_without_stacks_say_nothing),
		cmocka_unit_test(memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
