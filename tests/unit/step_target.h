/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_STEP_TARGET_H
#define WICK_TESTS_STEP_TARGET_H

/* step_target: a target whose stacks and code are arrays, for tests of the step. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "unwind/arch/aarch64.h"
#include "unwind/arch/x86_64.h"
#include "unwind/step.h"

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

static inline bool read_words(void *context, uint64_t address, uint64_t *ret)
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

static inline bool read_code(void *context, uint64_t address, uint64_t *ret)
{
	struct target *target = context;

	if (address < CODE || address > CODE + sizeof(target->code) - 8)
		return false;
	memcpy(ret, target->code + (address - CODE), 8);
	return true;
}

static inline bool is_code(void *context, uint64_t address)
{
	return address >= CODE && address < CODE + 0x10000;
}

static inline void target_init(struct target *target, const struct unwind_arch *arch)
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

#endif
