/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "step_target.h"
#include "unwind/arch/aarch64.h"
#include "unwind/arch/x86_64.h"
#include "unwind/step.h"

static enum unwind_end step(struct target *target, const struct unwind_rule *rule)
{
	return unwind_step(&target->limits, &target->reader, rule, &target->frame, NULL);
}

static void assert_frame(const struct target *target, uint64_t pc, uint64_t sp, uint64_t fp)
{
	assert_int_equal(target->frame.pc, pc);
	assert_int_equal(target->frame.sp, sp);
	assert_int_equal(target->frame.fp, fp);
}

static void a_leaf_returns_to_lr_with_the_same_sp(void **state)
{
	const struct unwind_rule rule = {.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_IN_LR};
	struct target target;

	target_init(&target, &unwind_aarch64);
	assert_int_equal(step(&target, &rule), UNWIND_GOING);
	assert_frame(&target, CODE + 0x1000, STACK, 0);
	assert_false(target.frame.exact);
	assert_int_equal(unwind_lookup_pc(&target.frame), CODE + 0xfff);
}

static void lr_is_not_believed_in_a_caller(void **state)
{
	const struct unwind_rule rule = {.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_IN_LR};
	struct target target;

	target_init(&target, &unwind_aarch64);
	target.frame.exact = target.frame.lr_valid = false;
	assert_int_equal(step(&target, &rule), UNWIND_NO_RULE);
}

static void sp_and_fp_rules_read_the_saved_pair(void **state)
{
	const struct unwind_rule rules[] = {
		{.cfa = UNWIND_CFA_SP,
		 .cfa_offset = 64,
		 .fp = UNWIND_FP_AT_CFA,
		 .fp_offset = -48,
		 .ra_offset = -40},
		{.cfa = UNWIND_CFA_FP,
		 .cfa_offset = 48,
		 .fp = UNWIND_FP_AT_CFA,
		 .fp_offset = -48,
		 .ra_offset = -40},
	};

	for (size_t i = 0; i < 2; i++) {
		struct target target;

		target_init(&target, &unwind_aarch64);
		target.frame.fp = STACK + 16;
		target.stack[2] = STACK + 128;
		target.stack[3] = 0x00ab000000000000 | (CODE + 0x1004); /* signed */
		assert_int_equal(step(&target, &rules[i]), UNWIND_GOING);
		assert_frame(&target, CODE + 0x1004, STACK + 64, STACK + 128);
	}
}

static void a_call_of_x86_64_leaves_its_address_on_the_stack(void **state)
{
	const struct unwind_rule rule = {.cfa = UNWIND_CFA_SP, .cfa_offset = 8, .ra_offset = -8};
	struct target target;

	target_init(&target, &unwind_x86_64);
	target.frame.fp = 7;
	target.stack[0] = CODE + 0x1234;
	assert_int_equal(step(&target, &rule), UNWIND_GOING);
	assert_frame(&target, CODE + 0x1234, STACK + 8, 7);
}

static void a_plt_stub_has_pushed_from_some_byte_on(void **state)
{
	const struct unwind_rule rule = {.cfa = UNWIND_CFA_PLT, .cfa_extra = 11, .ra_offset = -8};
	struct target target;

	for (uint64_t byte = 0; byte < 16; byte++) {
		uint64_t pushed = byte >= 11 ? 8 : 0;

		target_init(&target, &unwind_x86_64);
		target.frame.pc = CODE + 0x40 + byte;
		target.stack[pushed / 8] = CODE + 0x1234;
		assert_int_equal(step(&target, &rule), UNWIND_GOING);
		assert_frame(&target, CODE + 0x1234, STACK + 8 + pushed, 0);
	}
}

static void other_registers_serve_the_first_frame_only(void **state)
{
	const struct unwind_rule rule = {
		.cfa = UNWIND_CFA_REGISTER, .cfa_register = 12, .cfa_offset = 16, .ra_offset = -8};
	uint64_t registers[UNWIND_REGISTERS] = {[12] = STACK + 32};
	struct target target;

	target_init(&target, &unwind_x86_64);
	target.stack[5] = CODE + 0x1234;
	target.frame.registers = registers;
	assert_int_equal(step(&target, &rule), UNWIND_GOING);
	assert_frame(&target, CODE + 0x1234, STACK + 48, 0);
	assert_int_equal(step(&target, &rule), UNWIND_NO_RULE);
}

static void a_scratch_register_serves_the_caller_of_the_first_frame_too(void **state)
{
	const struct unwind_rule leaf = {.cfa = UNWIND_CFA_SP, .cfa_offset = 8, .ra_offset = -8};
	const struct unwind_rule rule = {
		.cfa = UNWIND_CFA_REGISTER, .cfa_register = 11, .cfa_offset = 8, .ra_offset = -8};
	uint64_t registers[UNWIND_REGISTERS] = {[11] = STACK + 32};
	struct target target;

	target_init(&target, &unwind_x86_64);
	target.stack[0] = target.stack[4] = CODE + 0x1234;
	target.frame.registers = registers;
	assert_int_equal(step(&target, &leaf), UNWIND_GOING);
	assert_int_equal(step(&target, &rule), UNWIND_GOING);
	assert_frame(&target, CODE + 0x1234, STACK + 40, 0);
	assert_int_equal(step(&target, &rule), UNWIND_NO_RULE);

	/* What a signal interrupted has registers of its own, and so has who called that. */
	target_init(&target, &unwind_x86_64);
	target.stack[0] = CODE + 0x1234;
	target.frame.registers = registers;
	target.frame.saved = STACK + 512;
	assert_int_equal(step(&target, &leaf), UNWIND_GOING);
	assert_int_equal(step(&target, &rule), UNWIND_NO_RULE);
}

static void a_cfa_in_memory_may_be_behind_as_many_words_as_a_register_says(void **state)
{
	const struct unwind_rule rule = {.cfa = UNWIND_CFA_DEREF_SP,
					 .cfa_register = 9,
					 .cfa_offset = 8,
					 .cfa_extra = 8,
					 .ra_offset = -8};
	uint64_t registers[UNWIND_REGISTERS] = {[9] = 4};
	struct target target;

	target_init(&target, &unwind_x86_64);
	target.stack[5] = STACK + 64;
	target.stack[8] = CODE + 0x1234;
	target.frame.registers = registers;
	assert_int_equal(step(&target, &rule), UNWIND_GOING);
	assert_frame(&target, CODE + 0x1234, STACK + 72, 0);
}

static void an_epilogue_that_has_given_fp_back_need_not_say_so(void **state)
{
	const struct unwind_rule rule = {.cfa = UNWIND_CFA_SP,
					 .cfa_offset = 8,
					 .ra_offset = -8,
					 .fp = UNWIND_FP_AT_CFA,
					 .fp_offset = -24};
	struct target target;

	target_init(&target, &unwind_x86_64);
	target.frame.fp = STACK + 128;
	target.stack[0] = CODE + 0x1234;
	assert_int_equal(step(&target, &rule), UNWIND_GOING);
	assert_frame(&target, CODE + 0x1234, STACK + 8, STACK + 128);
	assert_false(target.frame.fp_lost);
}

static void an_epilogue_that_has_given_a_kept_register_back_need_not_say_so(void **state)
{
	const struct unwind_rule rule = {.cfa = UNWIND_CFA_SP,
					 .cfa_offset = 8,
					 .ra_offset = -8,
					 .cfa_register = 3,
					 .cfa_extra = -24};
	const struct unwind_rule counting = {
		.cfa = UNWIND_CFA_REGISTER, .cfa_register = 3, .cfa_offset = 16, .ra_offset = -8};
	uint64_t registers[UNWIND_REGISTERS] = {[3] = STACK + 64};
	struct target target;

	target_init(&target, &unwind_x86_64);
	target.frame.registers = registers;
	target.stack[0] = target.stack[9] = CODE + 0x1234;
	assert_int_equal(step(&target, &rule), UNWIND_GOING);
	assert_int_equal(step(&target, &counting), UNWIND_GOING);
	assert_frame(&target, CODE + 0x1234, STACK + 80, 0);
}

static void the_vsyscall_page_returns_as_a_function_without_a_frame(void **state)
{
	struct target target;

	target_init(&target, &unwind_x86_64);
	target.frame.pc = 0xffffffffff600400;
	target.frame.fp = STACK + 128;
	target.stack[0] = CODE + 0x1234;
	assert_int_equal(step(&target, NULL), UNWIND_GOING);
	assert_frame(&target, CODE + 0x1234, STACK + 8, STACK + 128);
	assert_false(target.frame.guessed);
}

static void a_return_address_may_be_in_a_register(void **state)
{
	const struct unwind_rule rule = {
		.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_REGISTER, .ra_offset = 9};
	uint64_t registers[UNWIND_REGISTERS] = {[9] = CODE + 0x2000};
	struct target target;

	target_init(&target, &unwind_aarch64);
	target.frame.registers = registers;
	assert_int_equal(step(&target, &rule), UNWIND_GOING);
	assert_frame(&target, CODE + 0x2000, STACK, 0);
}

static void a_realigned_frame_keeps_its_cfa_in_memory(void **state)
{
	const struct unwind_rule from_fp = {.cfa = UNWIND_CFA_DEREF_FP,
					    .cfa_offset = -8,
					    .ra_offset = -8,
					    .fp = UNWIND_FP_SAME};
	const struct unwind_rule from_sp = {
		.cfa = UNWIND_CFA_DEREF_SP, .cfa_offset = 24, .cfa_extra = 8, .ra_offset = -8};
	struct target target;

	target_init(&target, &unwind_x86_64);
	target.frame.fp = STACK + 32;
	target.stack[3] = STACK + 80;
	target.stack[9] = CODE + 0x1234;
	assert_int_equal(step(&target, &from_fp), UNWIND_GOING);
	assert_frame(&target, CODE + 0x1234, STACK + 80, STACK + 32);

	target_init(&target, &unwind_x86_64);
	target.stack[3] = STACK + 72;
	target.stack[9] = CODE + 0x1234;
	assert_int_equal(step(&target, &from_sp), UNWIND_GOING);
	assert_frame(&target, CODE + 0x1234, STACK + 80, 0);
}

static void a_lost_frame_pointer_is_not_used(void **state)
{
	const struct unwind_rule loses = {
		.cfa = UNWIND_CFA_SP, .cfa_offset = 16, .ra_offset = -8, .fp = UNWIND_FP_UNKNOWN};
	const struct unwind_rule needs = {.cfa = UNWIND_CFA_FP, .cfa_offset = 16, .ra_offset = -8};
	struct target target;

	target_init(&target, &unwind_x86_64);
	target.frame.fp = STACK + 64;
	target.stack[1] = CODE + 0x1234;
	assert_int_equal(step(&target, &loses), UNWIND_GOING);
	assert_int_equal(step(&target, &needs), UNWIND_NO_RULE);
}

static void roots_end_a_walk(void **state)
{
	const struct unwind_rule undefined = {.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_ROOT};
	const struct unwind_rule leaf = {.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_IN_LR};
	struct target target;

	target_init(&target, &unwind_aarch64);
	assert_int_equal(step(&target, &undefined), UNWIND_ROOT);
	target.frame.lr = 0;
	assert_int_equal(step(&target, &leaf), UNWIND_ROOT);
	target_init(&target, &unwind_x86_64);
	target.frame.exact = false;
	assert_int_equal(step(&target, NULL), UNWIND_ROOT); /* fp is zero */
}

static void the_first_code_of_a_thread_is_known_by_its_instructions(void **state)
{
	const uint32_t start[] = {0xd503201f, 0xd280001d, 0xd280001e, 0xaa0003e5};
	struct target target;

	for (size_t i = 0; i < 4; i++) {
		target_init(&target, &unwind_aarch64);
		memcpy(target.code + 0x80, start, sizeof(start));
		target.frame.pc = CODE + 0x80 + 4 * i;
		target.frame.fp = STACK + 16;
		assert_int_equal(step(&target, NULL), UNWIND_ROOT);
	}
}

static void a_frame_must_be_above_its_callee(void **state)
{
	static const struct unwind_rule rules[] = {
		{.cfa = UNWIND_CFA_SP, .cfa_offset = 0, .ra_offset = 8},          /* the same */
		{.cfa = UNWIND_CFA_SP, .cfa_offset = -16, .ra_offset = 24},       /* below */
		{.cfa = UNWIND_CFA_SP, .cfa_offset = 20, .ra_offset = -12},       /* not aligned */
		{.cfa = UNWIND_CFA_SP, .cfa_offset = 65536, .ra_offset = -65528}, /* outside */
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct target target;

		target_init(&target, &unwind_aarch64);
		target.frame.exact = target.frame.lr_valid = false;
		target.stack[1] = CODE + 0x1000;
		assert_int_equal(step(&target, &rules[i]), UNWIND_NO_PROGRESS);
	}
}

/* ffi_call_SYSV: five words that its caller has made for it, in the midst of its own. */
static void a_frame_of_libffi_need_not_end_where_sp_may_be(void **state)
{
	const struct unwind_rule rule = {.cfa = UNWIND_CFA_FP,
					 .cfa_offset = 40,
					 .ra_offset = -32,
					 .fp = UNWIND_FP_AT_CFA,
					 .fp_offset = -40};
	struct target target;

	target_init(&target, &unwind_aarch64);
	target.frame.exact = target.frame.lr_valid = false;
	target.frame.fp = STACK + 32;
	target.stack[4] = STACK + 160;
	target.stack[5] = CODE + 0x1234;
	assert_int_equal(step(&target, &rule), UNWIND_GOING);
	assert_frame(&target, CODE + 0x1234, STACK + 72, STACK + 160);
}

static void memory_that_cannot_be_read_ends_a_walk(void **state)
{
	const struct unwind_rule ra = {.cfa = UNWIND_CFA_SP, .cfa_offset = 65536, .ra_offset = -8};
	const struct unwind_rule fp = {.cfa = UNWIND_CFA_SP,
				       .cfa_offset = 16,
				       .ra_offset = -8,
				       .fp = UNWIND_FP_AT_CFA,
				       .fp_offset = -4096};
	struct target target;

	target_init(&target, &unwind_x86_64);
	assert_int_equal(step(&target, &ra), UNWIND_UNREADABLE);
	assert_int_equal(step(&target, &fp), UNWIND_UNREADABLE);
	target.frame.sp = 0x1000;
	assert_int_equal(unwind_begin(&target.limits, &target.frame), UNWIND_UNREADABLE);
}

static void code_without_a_rule_is_a_stub_or_keeps_frame_pointers(void **state)
{
	struct target target;

	target_init(&target, &unwind_aarch64); /* a stub: nothing saved */
	assert_int_equal(step(&target, NULL), UNWIND_GOING);
	assert_frame(&target, CODE + 0x1000, STACK, 0);
	assert_true(target.frame.guessed);

	target_init(&target, &unwind_aarch64); /* lr has been saved in a record */
	target.frame.fp = STACK + 32;
	target.stack[4] = STACK + 96;
	target.stack[5] = target.frame.lr;
	assert_int_equal(step(&target, NULL), UNWIND_GOING);
	assert_frame(&target, CODE + 0x1000, STACK + 48, STACK + 96);
	assert_true(target.frame.sp_guessed);

	target_init(&target, &unwind_aarch64); /* the same before fp is set */
	target.frame.fp = STACK + 96;
	target.stack[0] = STACK + 96;
	target.stack[1] = target.frame.lr;
	assert_int_equal(step(&target, NULL), UNWIND_GOING);
	assert_frame(&target, CODE + 0x1000, STACK + 16, STACK + 96);

	target_init(&target, &unwind_x86_64);
	target.frame.fp = STACK + 32;
	target.stack[4] = STACK + 96;
	target.stack[5] = CODE + 0x1000;
	assert_int_equal(step(&target, NULL), UNWIND_GOING);
	assert_frame(&target, CODE + 0x1000, STACK + 48, STACK + 96);
	assert_false(target.frame.sp_guessed);
}

static void a_wild_frame_pointer_is_no_caller(void **state)
{
	static const uint64_t wild[] = {STACK - 8, STACK + 12, STACK + (2u << 20), 1, UINT64_MAX};

	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		struct target target;

		target_init(&target, &unwind_x86_64);
		target.frame.fp = wild[i];
		assert_int_equal(step(&target, NULL), UNWIND_NO_RULE);
	}
}

static void sp_is_found_again_after_a_guess(void **state)
{
	const struct unwind_rule rule = {.cfa = UNWIND_CFA_SP,
					 .cfa_offset = 96,
					 .fp = UNWIND_FP_AT_CFA,
					 .fp_offset = -64,
					 .ra_offset = -56};
	struct target target;

	target_init(&target, &unwind_aarch64);
	target.frame.exact = target.frame.lr_valid = false;
	target.frame.sp_guessed = true; /* the true sp is STACK + 32 */
	target.frame.fp = STACK + 64;
	target.stack[8] = STACK + 192;
	target.stack[9] = CODE + 0x1000;
	assert_int_equal(step(&target, &rule), UNWIND_GOING);
	assert_frame(&target, CODE + 0x1000, STACK + 128, STACK + 192);
	assert_false(target.frame.sp_guessed);
}

static bool is_any_code(void *context, uint64_t address)
{
	(void)context;
	(void)address;
	return true; /* a module is being loaded */
}

static void a_canary_does_not_pass_for_a_return_address(void **state)
{
	const struct unwind_rule rule = {.cfa = UNWIND_CFA_SP,
					 .cfa_offset = 96,
					 .fp = UNWIND_FP_AT_CFA,
					 .fp_offset = -64,
					 .ra_offset = -56};
	struct target target;

	for (int readable = 0; readable < 2; readable++) {
		target_init(&target, &unwind_aarch64);
		target.reader.is_code = is_any_code;
		target.frame.exact = target.frame.lr_valid = false;
		target.frame.sp_guessed = true;
		target.frame.fp = STACK + 64;
		target.stack[5] = 0x8fd35b509e539800; /* where sp puts the return address */
		target.stack[8] = STACK + 192;
		target.stack[9] = readable ? CODE + 0x90 : CODE + 0x1000;
		assert_int_equal(step(&target, &rule), UNWIND_GOING);
		if (readable)
			assert_frame(&target, CODE + 0x90, STACK + 128, STACK + 192);
		else /* neither can be confirmed */
			assert_int_equal(target.frame.pc, 0x5b509e539800);
	}
}

/* Writes the registers of an interrupted frame at word of a stack. */
static void save_registers(uint64_t *words, const struct unwind_arch *arch, uint64_t sp)
{
	words[arch->saved_pc / 8] = CODE + 0x3000;
	words[arch->saved[arch->sp_register] / 8] = sp;
	words[arch->saved[arch->fp_register] / 8] = 77;
	if (arch->lr_register < UNWIND_REGISTERS)
		words[arch->saved[arch->lr_register] / 8] = CODE + 0x4000;
	words[arch->saved[3] / 8] = STACK + 1024;
}

static void a_zero_that_a_guess_has_led_to_is_no_root(void **state)
{
	const struct unwind_rule rule = {.cfa = UNWIND_CFA_SP, .cfa_offset = 32, .ra_offset = -8};
	struct target target;

	for (int guessed = 0; guessed < 2; guessed++) {
		target_init(&target, &unwind_aarch64);
		memset(target.stack, 0, sizeof(target.stack));
		target.frame.exact = target.frame.lr_valid = false;
		target.frame.guessed = guessed;
		assert_int_equal(step(&target, &rule), guessed ? UNWIND_NO_RULE : UNWIND_ROOT);
	}
	for (int last = 0; last < 2; last++) { /* of a chain of frame records */
		target_init(&target, &unwind_aarch64);
		memset(target.stack, 0, sizeof(target.stack));
		target.frame.exact = target.frame.lr_valid = false;
		target.frame.fp = STACK + 64;
		target.stack[8] = last ? 0 : STACK + 128;
		assert_int_equal(step(&target, NULL), last ? UNWIND_ROOT : UNWIND_NO_RULE);
	}
}

/* Code without a rule that has made a frame and kept its caller's frame pointer. */
static void a_caller_of_unknown_code_is_found_by_its_record(void **state)
{
	const struct unwind_rule rule = {.cfa = UNWIND_CFA_SP,
					 .cfa_offset = 32,
					 .ra_offset = -24,
					 .fp = UNWIND_FP_AT_CFA,
					 .fp_offset = -32};
	struct target target;

	target_init(&target, &unwind_aarch64);
	memset(target.stack, 0, sizeof(target.stack));
	target.frame.exact = target.frame.lr_valid = false;
	target.frame.guessed = true; /* its sp is 64 bytes too low */
	target.frame.fp = STACK + 64;
	target.stack[8] = 77;
	target.stack[9] = CODE + 0x1234;
	assert_int_equal(step(&target, &rule), UNWIND_GOING);
	assert_frame(&target, CODE + 0x1234, STACK + 96, 77);
}

static const unsigned char aarch64_return[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};
static const unsigned char x86_64_return[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

static void a_trampoline_is_known_by_its_code_or_its_rule(void **state)
{
	const struct unwind_rule rule = {.cfa = UNWIND_CFA_SIGNAL};
	static const struct unwind_arch *const arches[] = {&unwind_aarch64, &unwind_x86_64};

	for (int i = 0; i < 8; i++) {
		const struct unwind_arch *arch = arches[i & 1];
		bool by_rule = (i & 2) != 0;
		bool exact = (i & 4) != 0;
		struct target target;

		target_init(&target, arch);
		if (!by_rule && (i & 1))
			memcpy(target.code + 0x80, x86_64_return, sizeof(x86_64_return));
		else if (!by_rule)
			memcpy(target.code + 0x80, aarch64_return, sizeof(aarch64_return));
		target.frame.exact = exact;
		target.frame.lr_valid = false;
		if (exact) /* at its last instruction */
			target.frame.pc += arch->trampoline.last_instruction;
		save_registers(target.stack, arch, STACK + 800);
		assert_int_equal(step(&target, by_rule ? &rule : NULL), UNWIND_GOING);
		assert_frame(&target, CODE + 0x3000, STACK + 800, 77);
		assert_true(target.frame.exact);
		assert_false(target.frame.guessed);
		assert_int_equal(unwind_lookup_pc(&target.frame), CODE + 0x3000);
		assert_int_equal(target.frame.lr_valid, arch == &unwind_aarch64);
	}
}

static void other_registers_serve_an_interrupted_frame_too(void **state)
{
	const struct unwind_rule signal = {.cfa = UNWIND_CFA_SIGNAL};
	const struct unwind_rule rule = {
		.cfa = UNWIND_CFA_REGISTER, .cfa_register = 3, .cfa_offset = 16, .ra_offset = -8};
	struct target target;

	target_init(&target, &unwind_x86_64);
	save_registers(target.stack, &unwind_x86_64, STACK + 800);
	target.stack[129] = CODE + 0x1234;
	assert_int_equal(step(&target, &signal), UNWIND_GOING);
	assert_int_equal(step(&target, &rule), UNWIND_GOING);
	assert_frame(&target, CODE + 0x1234, STACK + 1040, 77);
}

static void the_alternate_stack_is_left_once(void **state)
{
	const struct unwind_rule rule = {.cfa = UNWIND_CFA_SIGNAL};
	struct target target;

	target_init(&target, &unwind_aarch64);
	target.frame.sp = ALTERNATE;
	assert_int_equal(unwind_begin(&target.limits, &target.frame), UNWIND_GOING);
	save_registers(target.alternate, &unwind_aarch64, STACK + 160);
	save_registers(target.stack + 20, &unwind_aarch64, ALTERNATE + 800);
	assert_int_equal(step(&target, &rule), UNWIND_GOING);
	assert_frame(&target, CODE + 0x3000, STACK + 160, 77);
	assert_int_equal(step(&target, &rule), UNWIND_NO_PROGRESS); /* and not gone back to */
}

static void a_signal_frame_must_not_lead_down(void **state)
{
	const struct unwind_rule rule = {.cfa = UNWIND_CFA_SIGNAL};
	struct target target;

	target_init(&target, &unwind_aarch64);
	target.frame.sp = STACK + 64;
	save_registers(target.stack + 8, &unwind_aarch64, STACK + 64);
	assert_int_equal(step(&target, &rule), UNWIND_NO_PROGRESS);
}

static void a_frame_on_a_stack_that_was_left_is_found_by_fp_once(void **state)
{
	const struct unwind_rule rule = {
		.cfa = UNWIND_CFA_FP_AWAY, .cfa_offset = 40, .ra_offset = -32};
	struct target target;

	target_init(&target, &unwind_aarch64);
	target.frame.sp = ALTERNATE + 64;
	target.frame.fp = STACK + 152; /* below the frame's sp */
	assert_int_equal(unwind_begin(&target.limits, &target.frame), UNWIND_GOING);
	target.stack[20] = CODE + 0x1234;
	assert_int_equal(step(&target, &rule), UNWIND_GOING);
	assert_frame(&target, CODE + 0x1234, STACK + 192, STACK + 152);
	assert_int_equal(step(&target, &rule), UNWIND_NO_PROGRESS); /* and not gone back to */
	target.frame.fp_lost = true;
	assert_int_equal(step(&target, &rule), UNWIND_NO_RULE);
}

/* The lazy resolver's frame counts from rbx, which functions that it calls have saved. */
static void a_kept_register_leads_through_a_frame_that_counts_from_it(void **state)
{
	const struct unwind_rule saves = {.cfa = UNWIND_CFA_SP,
					  .cfa_register = 3,
					  .cfa_offset = 32,
					  .cfa_extra = -24,
					  .ra_offset = -8};
	const struct unwind_rule keeps = {
		.cfa = UNWIND_CFA_SP, .cfa_register = 3, .cfa_offset = 16, .ra_offset = -8};
	const struct unwind_rule counts = {
		.cfa = UNWIND_CFA_REGISTER, .cfa_register = 3, .cfa_offset = 24, .ra_offset = -8};
	struct target target;

	target_init(&target, &unwind_x86_64);
	target.stack[1] = STACK + 80; /* rbx of the caller */
	target.stack[3] = CODE + 0x200;
	target.stack[5] = CODE + 0x300;
	target.stack[12] = CODE + 0x400;
	assert_int_equal(step(&target, &saves), UNWIND_GOING);
	assert_int_equal(step(&target, &keeps), UNWIND_GOING);
	assert_int_equal(step(&target, &counts), UNWIND_GOING);
	assert_frame(&target, CODE + 0x400, STACK + 104, 0);
	assert_int_equal(target.frame.kept_register, 0);
}

static void a_kept_register_is_forgotten_in_code_that_does_not_tell(void **state)
{
	const struct unwind_rule saves = {.cfa = UNWIND_CFA_SP,
					  .cfa_register = 3,
					  .cfa_offset = 32,
					  .cfa_extra = -24,
					  .ra_offset = -8};
	const struct unwind_rule silent = {.cfa = UNWIND_CFA_SP, .cfa_offset = 16, .ra_offset = -8};
	const struct unwind_rule counts = {
		.cfa = UNWIND_CFA_REGISTER, .cfa_register = 3, .cfa_offset = 24, .ra_offset = -8};
	struct target target;

	target_init(&target, &unwind_x86_64);
	target.stack[1] = STACK + 80;
	target.stack[3] = CODE + 0x200;
	target.stack[5] = CODE + 0x300;
	assert_int_equal(step(&target, &saves), UNWIND_GOING);
	assert_int_equal(step(&target, &silent), UNWIND_GOING);
	assert_int_equal(step(&target, &counts), UNWIND_NO_RULE);
}

static void an_aligned_frame_reads_the_callers_fp_where_fp_points(void **state)
{
	const struct unwind_rule rule = {.cfa = UNWIND_CFA_DEREF_FP,
					 .cfa_offset = -8,
					 .ra_offset = -8,
					 .fp = UNWIND_FP_AT_FP};
	struct target target;

	target_init(&target, &unwind_x86_64);
	target.frame.fp = STACK + 32;
	target.stack[3] = STACK + 80; /* the CFA */
	target.stack[4] = STACK + 160;
	target.stack[9] = CODE + 0x200;
	assert_int_equal(step(&target, &rule), UNWIND_GOING);
	assert_frame(&target, CODE + 0x200, STACK + 80, STACK + 160);
	assert_false(target.frame.fp_lost);
}

static void an_aligned_frame_that_has_given_fp_back_leaves_it_alone(void **state)
{
	const struct unwind_rule rule = {.cfa = UNWIND_CFA_REGISTER,
					 .cfa_register = 10,
					 .ra_offset = -8,
					 .fp = UNWIND_FP_AT_FP};
	uint64_t registers[UNWIND_REGISTERS] = {[10] = STACK + 80};
	struct target target;

	target_init(&target, &unwind_x86_64);
	target.frame.registers = registers;
	target.frame.fp = 0x1234;
	target.stack[9] = CODE + 0x200;
	assert_int_equal(step(&target, &rule), UNWIND_GOING);
	assert_frame(&target, CODE + 0x200, STACK + 80, 0x1234);

	target_init(&target, &unwind_x86_64);
	target.frame.registers = registers;
	target.frame.fp = STACK + 32;
	target.stack[3] = 0x1234; /* another register was pushed before the CFA */
	target.stack[4] = 0x5678;
	target.stack[9] = CODE + 0x200;
	assert_int_equal(step(&target, &rule), UNWIND_GOING);
	assert_frame(&target, CODE + 0x200, STACK + 80, 0x5678);
}

/* As Python's -X perf generates them: call *%rcx; add $8, %rsp; ret. */
static const unsigned char stub[] = {0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3};

static void a_stub_that_is_about_to_return_needs_no_rule_and_no_frame_pointer(void **state)
{
	struct target target;

	for (uint64_t at = 0; at <= 2; at += 2) {
		target_init(&target, &unwind_x86_64);
		memcpy(target.code + 0x80, stub, sizeof(stub));
		target.frame.pc += at;
		target.frame.exact = at == 0;
		target.frame.fp = 0x1234; /* its callers use it as they like */
		target.stack[1] = CODE + 0x200;
		assert_int_equal(step(&target, NULL), UNWIND_GOING);
		assert_frame(&target, CODE + 0x200, STACK + 16, 0x1234);
		assert_false(target.frame.guessed);
	}
}

static void a_stub_is_not_believed_where_sp_is_a_guess_or_no_code_is_above(void **state)
{
	struct target target;

	for (int i = 0; i < 2; i++) {
		target_init(&target, &unwind_x86_64);
		memcpy(target.code + 0x80, stub, sizeof(stub));
		target.frame.pc += 2;
		target.frame.exact = false;
		target.frame.guessed = i == 0;
		target.frame.fp = STACK + 32;
		target.stack[1] = i == 0 ? CODE + 0x200 : 77;
		target.stack[4] = STACK + 64;
		target.stack[5] = CODE + 0x300;
		assert_int_equal(step(&target, NULL), UNWIND_GOING);
		assert_frame(&target, CODE + 0x300, STACK + 48, STACK + 64);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_leaf_returns_to_lr_with_the_same_sp),
		cmocka_unit_test(lr_is_not_believed_in_a_caller),
		cmocka_unit_test(sp_and_fp_rules_read_the_saved_pair),
		cmocka_unit_test(a_call_of_x86_64_leaves_its_address_on_the_stack),
		cmocka_unit_test(a_plt_stub_has_pushed_from_some_byte_on),
		cmocka_unit_test(other_registers_serve_the_first_frame_only),
		cmocka_unit_test(a_scratch_register_serves_the_caller_of_the_first_frame_too),
		cmocka_unit_test(a_cfa_in_memory_may_be_behind_as_many_words_as_a_register_says),
		cmocka_unit_test(an_epilogue_that_has_given_fp_back_need_not_say_so),
		cmocka_unit_test(an_epilogue_that_has_given_a_kept_register_back_need_not_say_so),
		cmocka_unit_test(the_vsyscall_page_returns_as_a_function_without_a_frame),
		cmocka_unit_test(a_return_address_may_be_in_a_register),
		cmocka_unit_test(a_realigned_frame_keeps_its_cfa_in_memory),
		cmocka_unit_test(a_lost_frame_pointer_is_not_used),
		cmocka_unit_test(roots_end_a_walk),
		cmocka_unit_test(the_first_code_of_a_thread_is_known_by_its_instructions),
		cmocka_unit_test(a_frame_must_be_above_its_callee),
		cmocka_unit_test(a_frame_of_libffi_need_not_end_where_sp_may_be),
		cmocka_unit_test(memory_that_cannot_be_read_ends_a_walk),
		cmocka_unit_test(code_without_a_rule_is_a_stub_or_keeps_frame_pointers),
		cmocka_unit_test(a_wild_frame_pointer_is_no_caller),
		cmocka_unit_test(sp_is_found_again_after_a_guess),
		cmocka_unit_test(a_canary_does_not_pass_for_a_return_address),
		cmocka_unit_test(a_trampoline_is_known_by_its_code_or_its_rule),
		cmocka_unit_test(other_registers_serve_an_interrupted_frame_too),
		cmocka_unit_test(the_alternate_stack_is_left_once),
		cmocka_unit_test(a_signal_frame_must_not_lead_down),
		cmocka_unit_test(a_frame_on_a_stack_that_was_left_is_found_by_fp_once),
		cmocka_unit_test(a_kept_register_leads_through_a_frame_that_counts_from_it),
		cmocka_unit_test(a_kept_register_is_forgotten_in_code_that_does_not_tell),
		cmocka_unit_test(an_aligned_frame_reads_the_callers_fp_where_fp_points),
		cmocka_unit_test(an_aligned_frame_that_has_given_fp_back_leaves_it_alone),
		cmocka_unit_test(a_zero_that_a_guess_has_led_to_is_no_root),
		cmocka_unit_test(a_caller_of_unknown_code_is_found_by_its_record),
		cmocka_unit_test(a_stub_that_is_about_to_return_needs_no_rule_and_no_frame_pointer),
		cmocka_unit_test(a_stub_is_not_believed_where_sp_is_a_guess_or_no_code_is_above),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
