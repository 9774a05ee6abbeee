/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf_world.h"
#include "engine/ebpf/bpf_sample.h"
#include "engine/ebpf/wakers.h"
#include "engine/engine.h"
#include "engine/perf/perf_engine.h"
#include "unwind/frame.h"
#include "wire/bpf_offcpu.h"
#include "wire/bpf_walk.h"

static void assert_state(const struct world *world, size_t sample, const char *wanted)
{
	const struct dictionary *dictionary = &world->fake.dictionary;
	struct label_set set =
		dictionary->labels.sets.items[world->fake.samples.items[sample].labels];

	assert_int_equal(set.count, 1);
	assert_string_equal(
		strings_get(&dictionary->strings, dictionary->labels.pairs.items[set.first].value),
		wanted);
}

static void a_stack_has_the_kernels_part_and_the_users(void **state)
{
	struct world *world = *state;
	struct {
		struct bpf_walk_head head;
		uint64_t pcs[3];
	} raw = {head_of(BPF_WALK_STACK, 1, 2, UNWIND_ROOT), {0xffff000000001000, 0x1000, 0x2000}};

	drain_raw(world, &raw, sizeof(raw));
	assert_int_equal(world->fake.samples.count, 1);
	assert_int_equal(depth_of(world, 0), 3);
	assert_int_equal(world->fake.samples.items[0].weight, PERIOD);
	assert_int_equal(world->engine->output.stats.stacks.ends[0], 1);
	assert_int_equal(world->engine->output.stats.stacks.truncated, 0);
	raw.head.end = UNWIND_DEPTH;
	drain_raw(world, &raw, sizeof(raw));
	assert_int_equal(depth_of(world, 1), 4); /* [truncated] */
	assert_int_equal(world->engine->output.stats.stacks.truncated, 1);
}

/* What the kernel writes behind a program's record. */
static void drain_group(struct world *world, uint32_t tid, uint64_t leader, uint64_t member)
{
	record_begin(&world->b, PERF_RECORD_SAMPLE, 0);
	put_u32(&world->b, PID);
	put_u32(&world->b, tid);
	put_u64(&world->b, 10);
	put_u64(&world->b, 0);
	put_u64(&world->b, 2);
	put_u64(&world->b, leader);
	put_u64(&world->b, member);
	ring_append(&world->engine->rings.items[0].ring, record_end(&world->b));
	assert_int_equal(perf_drain(world->engine, UINT64_MAX, NULL), 0);
}

static void counters_behind_a_sample_are_samples_of_their_own(void **state)
{
	struct world *world = *state;
	struct {
		struct bpf_walk_head head;
		uint64_t pcs[2];
	} raw = {head_of(BPF_WALK_STACK, 0, 2, UNWIND_ROOT), {0x1000, 0x2000}};

	world->engine->grouped = true;
	world->engine->output.member_count = 1;
	world->engine->output.columns[1].schema = 1;
	drain_raw(world, &raw, sizeof(raw));
	drain_group(world, PID, 100, 7);
	drain_group(world, PID, 150, 9); /* its sample was lost: the next has it */
	raw.pcs[0] = 0x3000;
	drain_raw(world, &raw, sizeof(raw));
	drain_group(world, PID, 200, 12);
	assert_int_equal(world->fake.samples.count, 4);
	assert_int_equal(world->fake.samples.items[0].schema, 0);
	assert_int_equal(world->fake.samples.items[1].schema, 1);
	assert_int_equal(world->fake.samples.items[1].weight, 7);
	assert_int_equal(world->fake.samples.items[1].stack, world->fake.samples.items[0].stack);
	assert_int_equal(world->fake.samples.items[3].schema, 1);
	assert_int_equal(world->fake.samples.items[3].weight, 5);
	assert_int_equal(world->fake.samples.items[3].stack, world->fake.samples.items[2].stack);
	assert_int_equal(world->engine->output.stats.samples.count, 2);
	assert_int_equal(world->engine->output.stats.samples.lost, 0);
}

static void a_foreign_stack_is_counted(void **state)
{
	struct world *world = *state;
	struct bpf_walk_head head = head_of(BPF_WALK_STACK, 0, 0, BPF_WALK_FOREIGN_USER);

	drain_raw(world, &head, sizeof(head));
	assert_int_equal(world->fake.samples.count, 1);
	assert_int_equal(world->engine->output.stats.stacks.narrow, 1);
}

static void a_record_that_makes_no_sense_counts_as_lost(void **state)
{
	struct world *world = *state;
	struct {
		struct bpf_walk_head head;
		uint64_t pcs[2];
	} raw = {.head = head_of(BPF_WALK_STACK, 0, 2, UNWIND_ROOT)};
	uint64_t lost = 0;

	/* Each shorter form, and counts beyond all limits. */
	for (size_t size = 0; size < sizeof(raw); size += 8, lost++)
		drain_raw(world, &raw, size);
	raw.head.user_count = BPF_WALK_DEPTH + 1;
	drain_raw(world, &raw, sizeof(raw));
	raw.head.user_count = UINT32_MAX;
	drain_raw(world, &raw, sizeof(raw));
	raw.head.user_count = 0;
	raw.head.kernel_count = UINT16_MAX;
	drain_raw(world, &raw, sizeof(raw));
	lost += 3;
	assert_int_equal(world->fake.samples.count, 0);
	assert_int_equal(world->engine->output.stats.samples.lost, lost);
	assert_int_equal(world->fake.lost[LOSS_NO_MEMORY], lost);
}

static void an_end_that_nobody_knows_is_none(void **state)
{
	struct world *world = *state;
	struct bpf_walk_head head = head_of(BPF_WALK_STACK, 0, 0, 200);

	drain_raw(world, &head, sizeof(head));
	assert_int_equal(world->fake.samples.count, 1);
	for (size_t i = 0; i < ENGINE_ENDS; i++)
		assert_int_equal(world->engine->output.stats.stacks.ends[i], 0);
}

/* A slice of a stack with some words in it. */
static struct bpf_walk_slice *make_slice(uint8_t kind, uint64_t stack_bytes)
{
	struct bpf_walk_slice *slice = calloc(1, sizeof(*slice));

	assert_non_null(slice);
	slice->head = head_of(kind, 0, 0, 0);
	slice->pc = 0x1000;
	slice->stack_bytes = stack_bytes;
	return slice;
}

static void a_slice_is_walked_and_its_space_wanted(void **state)
{
	struct world *world = *state;
	struct bpf_walk_slice *slice = make_slice(BPF_WALK_SLICE, 64);
	size_t size = offsetof(struct bpf_walk_slice, stack) + 64;

	drain_raw(world, slice, size);
	assert_int_equal(world->fake.samples.count, 1);
	assert_int_equal(world->engine->output.stats.stacks.slices, 1);
	assert_int_equal(world->wanted, 1);
	slice->stack_bytes = 65; /* more than there is */
	drain_raw(world, slice, size);
	slice->stack_bytes = UINT64_MAX;
	drain_raw(world, slice, size);
	drain_raw(world, slice, offsetof(struct bpf_walk_slice, stack) - 8);
	assert_int_equal(world->fake.samples.count, 1);
	assert_int_equal(world->engine->output.stats.samples.lost, 3);
	assert_int_equal(world->wanted, 1);
	free(slice);
}

static const struct thread *thread_of(const struct world *world, size_t sample)
{
	return &world->fake.dictionary.threads.items[world->fake.samples.items[sample].thread];
}

static void who_is_gone_already_has_the_name_that_came_along(void **state)
{
	struct world *world = *state;
	struct bpf_walk_slice *slice = make_slice(BPF_WALK_SLICE, 64);
	struct bpf_walk_away away = {.head = head_of(BPF_WALK_AWAY, 0, 0, UNWIND_UNREADABLE),
				     .times = {.left_ns = 1,
					       .back_ns = 9,
					       .tid = PID + 2,
					       .tgid = PID + 1,
					       .comm = "slept"}};

	memcpy(slice->name.comm, "without a NUL: 16", BPF_WALK_COMM_BYTES);
	drain_raw(world, slice, offsetof(struct bpf_walk_slice, stack) + 64);
	assert_string_equal(thread_of(world, 0)->comm, "without a NUL: ");
	drain_raw(world, &away.head, BPF_WALK_AWAY_BYTES);
	assert_string_equal(thread_of(world, 1)->comm, "slept");
	assert_int_equal(thread_of(world, 1)->tid, PID + 2);
	free(slice);
}

static void a_thread_on_its_last_steps_is_still_that_thread(void **state)
{
	struct world *world = *state;
	struct {
		struct bpf_walk_head head;
		uint64_t pcs[1];
		struct bpf_walk_name name;
	} raw = {head_of(BPF_WALK_STACK, 1, 0, BPF_WALK_NO_USER),
		 {0xffff000000001000},
		 {.comm = "ending", .pid = PID, .tid = PID + 1}};

	raw.head.key.mm = 0;
	drain_raw_of(world, UINT32_MAX, &raw, sizeof(raw));
	assert_int_equal(world->fake.samples.count, 1);
	/* The same behind the user's part, of a child whose parent's tables served it. */
	raw.head = head_of(BPF_WALK_STACK, 0, 1, UNWIND_ROOT);
	raw.pcs[0] = 0x1000;
	memcpy(raw.name.comm, "child", sizeof("child"));
	drain_raw_of(world, PID + 7, &raw, sizeof(raw));
	assert_string_equal(thread_of(world, 1)->comm, "child");
	assert_string_equal(thread_of(world, 0)->comm, "ending");
	assert_int_equal(thread_of(world, 0)->tid, PID + 1);
	assert_int_equal(depth_of(world, 0), 1);
}

static void the_space_of_a_parent_that_is_known_is_met_too(void **state)
{
	struct world *world = *state;
	struct bpf_walk_slice *slice = make_slice(BPF_WALK_SLICE, 64);
	size_t size = offsetof(struct bpf_walk_slice, stack) + 64;

	process_tracker_fork(world->engine->output.tracker, 1, PID, PID, PID - 1, PID - 1);
	slice->parent = (struct bpf_walk_key){.mm = 9, .tgid = 1};
	slice->parent_pid = PID - 1;
	drain_raw(world, slice, size);
	assert_int_equal(world->met.mm, 0); /* nobody knows that process */
	process_tracker_fork(world->engine->output.tracker, 1, PID - 1, PID - 1, 1, 1);
	drain_raw(world, slice, size);
	assert_int_equal(world->met.mm, 9);
	slice->parent_pid = 0;
	world->met.mm = 0;
	drain_raw(world, slice, size);
	assert_int_equal(world->met.mm, 0);
	free(slice);
}

static void a_stack_that_was_walked_tells_of_its_space(void **state)
{
	struct world *world = *state;
	struct {
		struct bpf_walk_head head;
		uint64_t pcs[2];
	} raw = {head_of(BPF_WALK_STACK, 0, 2, UNWIND_ROOT), {0x1000, 0x2000}};

	drain_raw(world, &raw, sizeof(raw));
	assert_int_equal(world->met.mm, 1);
	assert_true(world->programs->news);
}

static void a_sleep_and_the_wait_after_it_are_two_samples(void **state)
{
	struct world *world = *state;
	struct away_of_two raw = make_away(100, 400, 450);

	drain_raw(world, &raw, sizeof(raw));
	assert_int_equal(world->fake.samples.count, 2);
	assert_int_equal(world->fake.samples.items[0].time_ns, 100);
	assert_int_equal(world->fake.samples.items[0].weight, 300);
	assert_state(world, 0, "sleeping");
	assert_int_equal(world->fake.samples.items[1].time_ns, 400);
	assert_int_equal(world->fake.samples.items[1].weight, 50);
	assert_state(world, 1, "waiting for a CPU");
	assert_int_equal(depth_of(world, 0), 2);
}

static void stacks_count_for_each_sample_that_has_them(void **state)
{
	struct world *world = *state;
	struct away_of_two raw = make_away(0, 0, 450);
	const struct engine_stats *stats = &world->engine->output.stats;

	drain_raw(world, &raw, sizeof(raw)); /* it tells the stack of its place alone */
	assert_int_equal(stats->samples.count + stats->stacks.frames + stats->stacks.ends[0], 0);
	raw = make_away(100, 400, 450);
	drain_raw(world, &raw, sizeof(raw));
	assert_int_equal(stats->samples.count, 2);
	assert_int_equal(stats->stacks.frames, 4);
	assert_int_equal(stats->stacks.ends[0], 2);
}

static void who_was_preempted_only_waited(void **state)
{
	struct world *world = *state;
	struct away_of_two raw = make_away(100, 0, 450);

	raw.times.state = BPF_WALK_PREEMPTED;
	drain_raw(world, &raw, sizeof(raw));
	assert_int_equal(world->fake.samples.count, 1);
	assert_int_equal(world->fake.samples.items[0].weight, 350);
	assert_state(world, 0, "preempted");
}

static void times_that_make_no_sense_count_as_lost(void **state)
{
	struct world *world = *state;
	struct away_of_two raw = make_away(100, 500, 450); /* woken after it was back */

	drain_raw(world, &raw, sizeof(raw));
	raw = make_away(500, 0, 450); /* back before it left */
	drain_raw(world, &raw, sizeof(raw));
	raw = make_away(100, 0, 450);
	raw.times.state = 17;
	drain_raw(world, &raw, sizeof(raw));
	drain_raw(world, &raw, sizeof(raw.head) + 8); /* cut */
	raw = make_away(100, 0, 450);
	raw.head.user_count = 3; /* more than follow */
	drain_raw(world, &raw, sizeof(raw));
	assert_int_equal(world->fake.samples.count, 0);
	assert_int_equal(world->engine->output.stats.samples.lost, 5);
}

static void a_slice_that_came_before_is_the_stack_of_one_time_away(void **state)
{
	struct world *world = *state;
	struct bpf_walk_slice *slice = make_slice(BPF_WALK_LEAVING, 64);
	struct away_of_two raw = make_away(100, 0, 450);

	raw.head.kind = BPF_WALK_AWAY_SLICE;
	raw.head.user_count = 0;
	slice->head.value = PID + 1;
	drain_raw(world, slice, offsetof(struct bpf_walk_slice, stack) + 64);
	assert_int_equal(world->fake.samples.count, 0);
	drain_raw(world, &raw, offsetof(struct away_of_two, pcs));
	assert_int_equal(world->fake.samples.count, 1);
	/* The slice of the next one did not come. */
	drain_raw(world, &raw, offsetof(struct away_of_two, pcs));
	assert_int_equal(world->fake.samples.count, 1);
	assert_int_equal(world->engine->output.stats.samples.lost, 1);
	free(slice);
}

/* The name of a frame of a sample's stack, counted from the leaf; NULL when it has none. */
static const char *name_of(const struct world *world, size_t sample, size_t from_leaf)
{
	const struct dictionary *dictionary = &world->fake.dictionary;
	uint32_t node = world->fake.samples.items[sample].stack;
	struct frame frame;

	while (from_leaf-- > 0)
		node = dictionary->stacks.nodes.items[node].parent;
	frame = dictionary->frames.items[dictionary->stacks.nodes.items[node].frame];
	return frame.kind == FRAME_CUSTOM ? dictionary->places.items[frame.a].name : NULL;
}

#define TIMER 0xffff000000100000u
#define LOCAL 0xffff000000200000u
#define WAKE_UP 0xffff000000300000u
#define SOFTIRQ 0xffff000000400000u
#define ENTRY 0xffff000000500000u
#define FUNCTION_BYTES 64u

static uint64_t find_function(void *self, const char *name, uint64_t *ret_bytes)
{
	static const struct {
		const char *name;
		uint64_t start;
	} functions[] = {
		{"hrtimer_interrupt", TIMER},
		{"__local_bh_enable_ip", LOCAL},
		{"handle_softirqs", SOFTIRQ},
		{"asm_sysvec_reschedule_ipi", ENTRY},
	};

	(void)self;
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (strcmp(functions[i].name, name) == 0) {
			*ret_bytes = FUNCTION_BYTES;
			return functions[i].start;
		}
	return 0;
}

static void want_wakers(struct world *world)
{
	struct engine_config config = {.kernel_address = find_function};

	world->programs->wake_up = WAKE_UP;
	world->programs->wakers = wakers_new(&config);
	assert_non_null(world->programs->wakers);
}

struct waker_of_five {
	struct bpf_walk_head head;
	uint64_t pcs[5];
};

/* A program, the function it is called from, another of the kernel, then two of the user. */
static struct waker_of_five make_waker(enum bpf_walk_waker context, uint64_t kernel_function)
{
	struct waker_of_five raw = {
		head_of(BPF_WALK_WAKER, 3, 2, UNWIND_ROOT),
		{0xffff000000900000, WAKE_UP + 64, kernel_function + 8, 0x5000, 0x6000}};

	raw.head.value = BPF_WALK_WAKER_VALUE(PID + 1, context);
	return raw;
}

static void who_wakes_stands_above_who_slept_but_not_above_who_waits(void **state)
{
	struct world *world = *state;
	struct waker_of_five waker = make_waker(BPF_WALK_BY_TASK, 0xffff000000800000);
	struct away_of_two raw = make_away(100, 400, 450);

	want_wakers(world);
	drain_raw(world, &waker, sizeof(waker));
	assert_int_equal(world->fake.samples.count, 0);
	drain_raw(world, &raw, sizeof(raw));
	assert_int_equal(world->fake.samples.count, 2);
	/* 2 of the sleeper, the mark, the name, 2 of the user, 2 of the kernel */
	assert_int_equal(depth_of(world, 0), 8);
	assert_string_equal(name_of(world, 0, 5), "[woken by]");
	assert_string_equal(strrchr(name_of(world, 0, 4), '/'), "/5000000");
	assert_int_equal(depth_of(world, 1), 2);
	/* It was for one sleep alone. */
	drain_raw(world, &raw, sizeof(raw));
	assert_int_equal(depth_of(world, 2), 2);
	assert_int_equal(world->engine->output.stats.samples.lost, 0);
}

static void what_an_interrupt_wakes_has_the_interrupts_frames_alone(void **state)
{
	static const struct {
		enum bpf_walk_waker context;
		uint64_t function;
		const char *name;
		size_t depth;
	} cases[] = {
		{BPF_WALK_BY_INTERRUPT, TIMER, "[timer]", 6},
		{BPF_WALK_BY_SOFTIRQ, TIMER, "[timer]", 6},
		{BPF_WALK_BY_INTERRUPT, 0xffff000000800000, "[interrupt]", 6},
		{BPF_WALK_BY_SOFTIRQ, LOCAL, NULL, 8}, /* the task itself */
		{BPF_WALK_BY_UNKNOWN, TIMER, "[timer]", 6},
		{BPF_WALK_BY_UNKNOWN, SOFTIRQ, "[interrupt]", 6},
		{BPF_WALK_BY_UNKNOWN, ENTRY, "[interrupt]", 6},
		{BPF_WALK_BY_UNKNOWN, ENTRY + FUNCTION_BYTES, NULL, 8}, /* what follows it */
		{BPF_WALK_BY_UNKNOWN, LOCAL, NULL, 8},
		{BPF_WALK_BY_UNKNOWN, 0xffff000000800000, NULL, 8},
	};
	struct world *world = *state;

	want_wakers(world);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct waker_of_five waker = make_waker(cases[i].context, cases[i].function);
		struct away_of_two raw = make_away(100, 0, 450);

		drain_raw(world, &waker, sizeof(waker));
		drain_raw(world, &raw, sizeof(raw));
		assert_int_equal(depth_of(world, i), cases[i].depth);
		if (cases[i].name)
			assert_string_equal(name_of(world, i, 2), cases[i].name);
	}
}

static void a_waker_that_makes_no_sense_is_left_out(void **state)
{
	struct world *world = *state;
	struct waker_of_five waker = make_waker(BPF_WALK_BY_INTERRUPT, TIMER);
	struct away_of_two raw = make_away(100, 0, 450);

	want_wakers(world);
	for (size_t size = 1; size < sizeof(waker.head) + 24; size += 7)
		drain_raw(world, &waker, size);
	waker.head.kernel_count = UINT16_MAX;
	drain_raw(world, &waker, sizeof(waker));
	waker = make_waker(BPF_WALK_BY_TASK, TIMER);
	waker.head.user_count = UINT32_MAX;
	drain_raw(world, &waker, sizeof(waker));
	drain_raw(world, &raw, sizeof(raw));
	assert_int_equal(world->fake.samples.count, 1);
	assert_int_equal(depth_of(world, 0), 2);
}

static void who_is_away_still_counts_up_to_now(void **state)
{
	struct world *world = *state;
	struct bpf_walk_away away = {
		.head = head_of(BPF_WALK_AWAY, 0, 0, UNWIND_UNREADABLE),
		.times = {.left_ns = 100, .tid = PID, .tgid = PID, .state = BPF_WALK_SLEEPING},
		.taken = true,
	};

	world->still = &away;
	assert_int_equal(bpf_sample_still_away(world->programs, 1100, NULL), 0);
	assert_int_equal(bpf_sample_still_away(world->programs, 50, NULL), 0); /* left since */
	assert_int_equal(perf_drain(world->engine, UINT64_MAX, NULL), 0);
	assert_int_equal(world->fake.samples.count, 1);
	assert_int_equal(world->fake.samples.items[0].weight, 1000);
	assert_int_equal(world->engine->output.stats.stacks.truncated, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_stack_has_the_kernels_part_and_the_users),
		TEST(counters_behind_a_sample_are_samples_of_their_own),
		TEST(a_foreign_stack_is_counted),
		TEST(a_record_that_makes_no_sense_counts_as_lost),
		TEST(an_end_that_nobody_knows_is_none),
		TEST(a_slice_is_walked_and_its_space_wanted),
		TEST(who_is_gone_already_has_the_name_that_came_along),
		TEST(a_thread_on_its_last_steps_is_still_that_thread),
		TEST(the_space_of_a_parent_that_is_known_is_met_too),
		TEST(a_stack_that_was_walked_tells_of_its_space),
		TEST(a_sleep_and_the_wait_after_it_are_two_samples),
		TEST(stacks_count_for_each_sample_that_has_them),
		TEST(who_was_preempted_only_waited),
		TEST(times_that_make_no_sense_count_as_lost),
		TEST(a_slice_that_came_before_is_the_stack_of_one_time_away),
		TEST(who_wakes_stands_above_who_slept_but_not_above_who_waits),
		TEST(what_an_interrupt_wakes_has_the_interrupts_frames_alone),
		TEST(a_waker_that_makes_no_sense_is_left_out),
		TEST(who_is_away_still_counts_up_to_now),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
