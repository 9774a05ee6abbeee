/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "step_target.h"
#include "unwind/step.h"
#include "unwind/step_plain.h"

/* Code that calls ends here, whatever the way. */
static void calls_are_known_by_their_bytes(void **state)
{
	static const uint64_t calls[] = {
		0x11223344e8000000, 0xd0ff000000000000, 0x17ff000000000000,
		0x0850ff0000000000, 0x8814ff0000000000, 0x088854ff00000000,
		0x1122334495ff0000, 0x1122334415ff0000, 0x112233448894ff00,
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		assert_true(unwind_ends_with_call(calls[i]));
	assert_false(unwind_ends_with_call(0x9090909090909090));
	assert_false(unwind_ends_with_call(0xe0ff000000000000)); /* jmp *%rax */
	assert_false(unwind_ends_with_call(0xe800000000000000));
}

/* A frame in compiled code without a rule, called from CODE + 16; fp is that of its caller. */
static void pushed_init(struct target *target)
{
	target_init(target, &unwind_x86_64);
	target->code[11] = 0xe8;
	target->frame = (struct unwind_frame){
		.pc = CODE + 0x8000, .sp = STACK + 8, .fp = STACK + 64, .exact = true};
	target->stack[8] = STACK + 128; /* the caller's record, which leads past the caller */
	target->stack[9] = CODE + 0x2000;
	assert_int_equal(unwind_begin(&target->limits, &target->frame), UNWIND_GOING);
}

static void a_leaf_without_a_frame_returns_to_what_is_at_sp(void **state)
{
	struct target target;

	pushed_init(&target);
	target.stack[1] = CODE + 16;
	assert_int_equal(unwind_step(&target.limits, &target.reader, NULL, &target.frame, NULL),
			 UNWIND_GOING);
	assert_int_equal(target.frame.pc, CODE + 16);
	assert_int_equal(target.frame.sp, STACK + 16);
	assert_int_equal(target.frame.fp, STACK + 64);
}

static void a_leaf_that_has_pushed_fp_returns_to_what_is_above_it(void **state)
{
	struct target target;

	pushed_init(&target);
	target.stack[1] = STACK + 64;
	target.stack[2] = CODE + 16;
	assert_int_equal(unwind_step(&target.limits, &target.reader, NULL, &target.frame, NULL),
			 UNWIND_GOING);
	assert_int_equal(target.frame.pc, CODE + 16);
	assert_int_equal(target.frame.sp, STACK + 24);
}

static void a_leaf_with_code_at_sp_that_nothing_called_has_a_record(void **state)
{
	struct target target;

	pushed_init(&target);
	target.stack[1] = CODE + 32; /* the address of a function, say */
	assert_int_equal(unwind_step(&target.limits, &target.reader, NULL, &target.frame, NULL),
			 UNWIND_GOING);
	assert_int_equal(target.frame.pc, CODE + 0x2000);
	assert_int_equal(target.frame.fp, STACK + 128);
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* Words that matter to a step: zeros, code, places in the stack and beside it. */
static uint64_t random_word(uint32_t *state)
{
	uint32_t kind = next_random(state) % 8;

	if (kind == 0)
		return 0;
	if (kind < 5)
		return CODE + next_random(state) % 0x10000;
	return STACK + next_random(state) % (WORDS * 8 + 64) - (kind == 5 ? 32 : 0);
}

static struct unwind_rule random_rule(uint32_t *state)
{
	return (struct unwind_rule){
		.cfa = (uint8_t)(next_random(state) % 4),
		.cfa_register = next_random(state) % 8 == 0 ? 19 : 0,
		.ra = (uint8_t)(next_random(state) % 8 == 0 ? next_random(state) % 4 : 0),
		.fp = (uint8_t)(next_random(state) % 4),
		.cfa_offset = (int32_t)(next_random(state) % 40) * 8 - 32,
		.ra_offset = -(int32_t)(next_random(state) % 8) * 8,
		.fp_offset = -(int32_t)(next_random(state) % 8) * 8,
	};
}

static void a_plain_step_is_the_step(void **state)
{
	const struct unwind_arch *archs[] = {&unwind_aarch64, &unwind_x86_64};
	uint32_t random = 1;
	uint32_t ends[UNWIND_ENDS] = {0};

	for (uint32_t i = 0; i < 200000; i++) {
		struct target target;
		struct unwind_rule rule = random_rule(&random);
		struct unwind_frame plain = {.pc = CODE + 4, .high = STACK + WORDS * 8};
		struct unwind_frame any;
		enum unwind_end end;

		target_init(&target, archs[i % 2]);
		for (uint32_t word = 0; word < 48; word++)
			target.stack[word] = random_word(&random);
		plain.sp = STACK + next_random(&random) % 32 * 8;
		plain.fp = STACK + next_random(&random) % 48 * 8;
		assert_true(unwind_frame_is_plain(&plain));
		if (!unwind_rule_is_plain(&rule))
			continue;
		any = plain;
		end = unwind_step_plain(&target.limits, &target.reader, &rule, &plain);
		assert_int_equal(end,
				 unwind_step(&target.limits, &target.reader, &rule, &any, NULL));
		ends[end]++;
		if (end == UNWIND_GOING)
			assert_memory_equal(&plain, &any, sizeof(plain));
	}
	assert_true(ends[UNWIND_GOING] > 1000 && ends[UNWIND_ROOT] > 100 &&
		    ends[UNWIND_NO_PROGRESS] > 100 && ends[UNWIND_UNREADABLE] > 100);
}

static void a_frame_with_a_mark_is_not_plain(void **state)
{
	struct unwind_frame frames[] = {
		{.exact = true},        {.lr_valid = true},    {.sp_guessed = true},
		{.fp_lost = true},      {.guessed = true},     {.switched = true},
		{.called_first = true}, {.kept_register = 19},
	};

	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++)
		assert_false(unwind_frame_is_plain(&frames[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_step_is_the_step),
		cmocka_unit_test(a_frame_with_a_mark_is_not_plain),
		cmocka_unit_test(calls_are_known_by_their_bytes),
		cmocka_unit_test(a_leaf_without_a_frame_returns_to_what_is_at_sp),
		cmocka_unit_test(a_leaf_that_has_pushed_fp_returns_to_what_is_above_it),
		cmocka_unit_test(a_leaf_with_code_at_sp_that_nothing_called_has_a_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
