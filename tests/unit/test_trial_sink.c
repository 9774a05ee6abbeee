/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/trial_sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/id_index.h"
#include "elf/elf.h"
#include "model/heap_event.h"

struct fixture {
	struct trial_sink count;
	const struct sink_ops *ops;
	uint32_t program; /* module ids */
	uint32_t other;
	uint64_t entry;
};

static void set_up(struct fixture *fixture)
{
	struct elf_file *elf = NULL;

	trial_sink_init(&fixture->count);
	fixture->ops = fixture->count.sink.ops;
	assert_int_equal(elf_open("/proc/self/exe", &elf, NULL), 0);
	fixture->entry = elf_entry(elf);
	elf_close(elf);
	assert_int_equal(fixture->ops->module(
				 &fixture->count,
				 &(struct module){.kind = MODULE_FILE, .path = "/proc/self/exe"},
				 &fixture->program),
			 0);
	assert_int_equal(
		fixture->ops->module(&fixture->count,
				     &(struct module){.kind = MODULE_FILE, .path = "/not/there"},
				     &fixture->other),
		0);
}

static uint32_t stack_of(struct fixture *fixture, struct frame root)
{
	const struct frame frames[] = {root, {FRAME_NATIVE, fixture->program, 0x10}};
	uint32_t id;

	assert_int_equal(fixture->ops->stack(&fixture->count, frames, 2, &id), 0);
	return id;
}

static void a_stack_is_whole_that_begins_at_the_entry_of_a_program(void **state)
{
	struct fixture fixture;
	uint32_t stacks[5];

	set_up(&fixture);
	stacks[0] = stack_of(&fixture,
			     (struct frame){FRAME_NATIVE, fixture.program, fixture.entry + 40});
	stacks[1] = stack_of(&fixture,
			     (struct frame){FRAME_NATIVE, fixture.program, fixture.entry + 4000});
	stacks[2] = stack_of(&fixture, (struct frame){FRAME_NATIVE, fixture.other, 0});
	stacks[3] = stack_of(&fixture, (struct frame){.kind = FRAME_TRUNCATED});
	stacks[4] = stack_of(&fixture, (struct frame){FRAME_NATIVE, MODULE_NONE, fixture.entry});
	assert_int_equal(fixture.ops->batch(&fixture.count,
					    &(struct sample_batch){.count = 5, .stack = stacks},
					    NULL),
			 0);
	assert_int_equal(fixture.count.stacks, 5);
	assert_int_equal(fixture.count.whole_stacks, 1);
	assert_int_equal(trial_sink_late_cut(&fixture.count), 3);
	trial_sink_fini(&fixture.count);
}

static void of_the_heap_blocks_are_counted_and_not_what_frees_them(void **state)
{
	struct fixture fixture;
	struct heap_event events[2] = {{.op = HEAP_ALLOC}, {.op = HEAP_FREE, .stack = ID_NONE}};

	set_up(&fixture);
	events[0].stack =
		stack_of(&fixture, (struct frame){FRAME_NATIVE, fixture.program, fixture.entry});
	assert_int_equal(fixture.ops->heap(&fixture.count,
					   &(struct heap_batch){.count = 2, .events = events},
					   NULL),
			 0);
	assert_int_equal(fixture.count.stacks, 1);
	assert_int_equal(fixture.count.whole_stacks, 1);
	trial_sink_fini(&fixture.count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_is_whole_that_begins_at_the_entry_of_a_program),
		cmocka_unit_test(of_the_heap_blocks_are_counted_and_not_what_frees_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
