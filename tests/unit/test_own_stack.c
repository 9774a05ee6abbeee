/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "own_modules.h"
#include "unwind/arch/native.h"

#define FRAMES 128
#define NOINLINE __attribute__((noinline))

static struct unwind_own own = {.pac_mask = UNWIND_PAC_MASK};
static struct unwind_thread thread;
static uint64_t pcs[FRAMES];
static struct unwind_trace trace;

/* Every allocation of this program comes by here. */
static int allocations;
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *place, size_t size);
void __real_free(void *place);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *place, size_t size);
void __wrap_free(void *place);

void *__wrap_malloc(size_t size)
{
	allocations++;
	return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	allocations++;
	return __real_calloc(count, size);
}

void *__wrap_realloc(void *place, size_t size)
{
	allocations++;
	return __real_realloc(place, size);
}

void __wrap_free(void *place)
{
	allocations++;
	__real_free(place);
}

static int set_up(void **state)
{
	(void)unwind_own_publish(&own, own_modules_build(1));
	thread.stack = preload_own_stack();
	return 0;
}

static int tear_down(void **state)
{
	const struct unwind_modules *last = unwind_own_publish(&own, NULL);

	if (last)
		own_modules_free(last);
	return 0;
}

static NOINLINE void walk_here(uint32_t capacity)
{
	struct unwind_frame frame;

	trace = (struct unwind_trace){.pcs = pcs, .capacity = capacity};
	unwind_capture(&frame);
	unwind_own_walk(&own, &thread, &frame, &trace);
}

static NOINLINE long descend(int depth)
{
	volatile long room[8];

	room[depth % 8] = depth;
	if (depth == 0) {
		walk_here(FRAMES);
		return 1;
	}
	return descend(depth - 1) + room[depth % 8];
}

static uint32_t frames_at(int depth)
{
	(void)descend(depth);
	assert_int_equal(trace.end, UNWIND_ROOT);
	return trace.count;
}

static void a_walk_reaches_the_root_with_every_frame(void **state)
{
	uint32_t shallow = frames_at(5);
	uint32_t deep = frames_at(25);

	assert_int_equal(deep - shallow, 20);
	assert_int_equal(trace.guessed, 0);
}

static void a_walk_allocates_nothing(void **state)
{
	int before = allocations;

	assert_true(before > 0); /* the list of modules: so they are counted */
	for (int way = 0; way < 4; way++) {
		thread.no_cache = (way & 1) != 0;
		thread.no_anchors = (way & 2) != 0;
		(void)descend(20);
		(void)descend(40);
	}
	thread.no_cache = thread.no_anchors = false;
	assert_int_equal(allocations, before);
}

static void all_ways_say_the_same(void **state)
{
	uint64_t first[FRAMES];

	for (int way = 0; way < 4; way++) {
		thread.no_cache = (way & 1) != 0;
		thread.no_anchors = (way & 2) != 0;
		(void)descend(20);
		(void)descend(20);
		/* What lies above this loop, its own calls aside, is the same. */
		if (way == 0)
			memcpy(first, pcs, sizeof(first));
		assert_memory_equal(first, pcs, 20 * sizeof(first[0]));
		assert_int_equal(trace.end, UNWIND_ROOT);
	}
	thread.no_cache = thread.no_anchors = false;
}

static void an_unchanged_stack_is_reused(void **state)
{
	for (int i = 0; i < 2; i++) {
		uint64_t before = thread.reused;

		(void)descend(30);
		if (i == 1)
			assert_true(thread.reused - before >= 30);
	}
}

static NOINLINE long other_way(int depth)
{
	volatile long room[8];

	room[depth % 8] = depth;
	if (depth == 0) {
		walk_here(FRAMES);
		return 2;
	}
	return other_way(depth - 1) + room[depth % 8] + 1;
}

static void a_changed_slot_is_noticed(void **state)
{
	uint64_t before[FRAMES];
	uint32_t count;

	/* Frames of the same size at the same places, with other return addresses. */
	(void)descend(20);
	(void)other_way(20);
	count = trace.count;
	memcpy(before, pcs, sizeof(before));
	thread.anchor_count = 0;
	(void)other_way(20);
	assert_int_equal(trace.count, count);
	/* Two calls from here differ; all frames between are those of other_way(). */
	assert_memory_equal(before, pcs, 21 * sizeof(before[0]));
}

static void a_limit_of_frames_is_told(void **state)
{
	walk_here(3);
	assert_int_equal(trace.count, 3);
	assert_int_equal(trace.end, UNWIND_DEPTH);
}

static void a_foreign_stack_is_not_walked(void **state)
{
	struct unwind_thread other = {.stack = {4096, 8192}};
	struct unwind_frame frame;

	unwind_capture(&frame);
	trace = (struct unwind_trace){.pcs = pcs, .capacity = FRAMES};
	unwind_own_walk(&own, &other, &frame, &trace);
	assert_int_equal(trace.count, 1);
	assert_int_equal(trace.end, UNWIND_UNREADABLE);
}

static void a_new_list_of_modules_is_learnt(void **state)
{
	uint32_t count = frames_at(10);
	const struct unwind_modules *before = unwind_own_publish(&own, own_modules_build(2));

	assert_int_equal(before->generation, 1);
	assert_int_equal(frames_at(10), count);
	assert_int_equal(thread.generation, 2);
	assert_int_equal(unwind_thread_walks(&thread) % 2, 0);
	own_modules_free(before);
}

static void handle(int number)
{
	walk_here(FRAMES);
}

static NOINLINE void interrupted(int flags)
{
	struct sigaction action = {.sa_handler = handle, .sa_flags = flags};

	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	assert_int_equal(raise(SIGUSR1), 0);
}

static void a_handler_is_walked_through(void **state)
{
	static char memory[65536] __attribute__((aligned(16)));
	const stack_t alternate = {.ss_sp = memory, .ss_size = sizeof(memory)};
	uint32_t count;

	interrupted(0);
	assert_int_equal(trace.end, UNWIND_ROOT);
	count = trace.count;
	assert_int_equal(sigaltstack(&alternate, NULL), 0);
	thread.alternate =
		(struct unwind_stack){(uintptr_t)memory, (uintptr_t)memory + sizeof(memory)};
	interrupted(SA_ONSTACK);
	assert_int_equal(trace.end, UNWIND_ROOT);
	assert_int_equal(trace.count, count);
}

static void a_walk_inside_a_walk_does_without_memory(void **state)
{
	uint32_t count = frames_at(4);
	uint64_t generation = thread.generation;

	atomic_fetch_add(&thread.walks, 1);
	thread.generation = 77; /* not looked at */
	assert_int_equal(frames_at(4), count);
	assert_int_equal(thread.generation, 77);
	thread.generation = generation;
	atomic_fetch_add(&thread.walks, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_walk_reaches_the_root_with_every_frame),
		cmocka_unit_test(a_walk_allocates_nothing),
		cmocka_unit_test(all_ways_say_the_same),
		cmocka_unit_test(an_unchanged_stack_is_reused),
		cmocka_unit_test(a_changed_slot_is_noticed),
		cmocka_unit_test(a_limit_of_frames_is_told),
		cmocka_unit_test(a_foreign_stack_is_not_walked),
		cmocka_unit_test(a_new_list_of_modules_is_learnt),
		cmocka_unit_test(a_handler_is_walked_through),
		cmocka_unit_test(a_walk_inside_a_walk_does_without_memory),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
