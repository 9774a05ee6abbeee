/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/arch/aarch64.h"
#include "unwind/arch/x86_64.h"
#include "unwind/step.h"
#include "unwind/step_plain.h"

#define STACK 0x7ff000000000ull
#define ALTERNATE 0x7fe000000000ull
#define CODE 0x400000ull
#define WORDS 256

/* A target of two stacks and a little code. */
struct target {
	uint64_t stack[WORDS];
	uint64_t alternate[WORDS];
	unsigned char code[256];
	struct unwind_limits limits;
	struct unwind_frame frame;
	struct unwind_reader reader;
};

static bool read_words(void *context, uint64_t address, uint64_t *ret)
{
	struct target *target = context;

	if (address >= STACK && address < STACK + WORDS * 8 && address % 8 == 0)
		*ret = target->stack[(address - STACK) / 8];
	else if (address >= ALTERNATE && address < ALTERNATE + WORDS * 8 && address % 8 == 0)
		*ret = target->alternate[(address - ALTERNATE) / 8];
	else
		return false;
	return true;
}

static bool read_code(void *context, uint64_t address, uint64_t *ret)
{
	struct target *target = context;

	if (address < CODE || address > CODE + sizeof(target->code) - 8)
		return false;
	memcpy(ret, target->code + (address - CODE), 8);
	return true;
}

static bool is_code(void *context, uint64_t address)
{
	return address >= CODE && address < CODE + 0x10000;
}

static void target_init(struct target *target, const struct unwind_arch *arch)
{
	*target = (struct target){
		.limits = {.arch = arch,
			   .pac_mask = UNWIND_PAC_MASK,
			   .stack = {STACK, STACK + WORDS * 8},
			   .alternate = {ALTERNATE, ALTERNATE + WORDS * 8}},
		.reader = {.read = read_words, .read_code = read_code, .is_code = is_code},
		.frame = {.pc = CODE + 0x80, .sp = STACK, .exact = true},
	};
	target->reader.context = target;
	if (arch == &unwind_aarch64) {
		target->frame.lr = CODE + 0x1000;
		target->frame.lr_valid = true;
	}
	assert_int_equal(unwind_begin(&target->limits, &target->frame), UNWIND_GOING);
}

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
		{.cfa = UNWIND_CFA_SP, .cfa_offset = 24, .ra_offset = -16},       /* not aligned */
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
		cmocka_unit_test(calls_are_known_by_their_bytes),
		cmocka_unit_test(a_leaf_without_a_frame_returns_to_what_is_at_sp),
		cmocka_unit_test(a_leaf_that_has_pushed_fp_returns_to_what_is_above_it),
		cmocka_unit_test(a_leaf_with_code_at_sp_that_nothing_called_has_a_record),
		cmocka_unit_test(a_frame_with_a_mark_is_not_plain),
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
		cmocka_unit_test(memory_that_cannot_be_read_ends_a_walk),
		cmocka_unit_test(code_without_a_rule_is_a_stub_or_keeps_frame_pointers),
		cmocka_unit_test(a_wild_frame_pointer_is_no_caller),
		cmocka_unit_test(sp_is_found_again_after_a_guess),
		cmocka_unit_test(a_trampoline_is_known_by_its_code_or_its_rule),
		cmocka_unit_test(other_registers_serve_an_interrupted_frame_too),
		cmocka_unit_test(the_alternate_stack_is_left_once),
		cmocka_unit_test(a_signal_frame_must_not_lead_down),
		cmocka_unit_test(a_kept_register_leads_through_a_frame_that_counts_from_it),
		cmocka_unit_test(a_kept_register_is_forgotten_in_code_that_does_not_tell),
		cmocka_unit_test(an_aligned_frame_reads_the_callers_fp_where_fp_points),
		cmocka_unit_test(an_aligned_frame_that_has_given_fp_back_leaves_it_alone),
		cmocka_unit_test(a_zero_that_a_guess_has_led_to_is_no_root),
		cmocka_unit_test(a_caller_of_unknown_code_is_found_by_its_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
