/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_ARCH_A64_FRAME_H
#define WICK_CFI_ARCH_A64_FRAME_H

/*
 * a64_frame: where a function's frame is while its instructions build and remove it.
 *
 * Everything is relative to the CFA, the sp of the caller at the call.
 */

#include <stdbool.h>
#include <stdint.h>

struct a64_insn;
struct unwind_rule;

struct a64_frame {
	int32_t sp;    /* CFA - sp */
	int32_t fp;    /* CFA - x29 */
	int32_t ra_at; /* offset from the CFA where x30 was saved, 0 if it was not */
	int32_t fp_at; /* the same for x29 */
	bool has_sp;   /* sp is known */
	bool has_fp;   /* x29 points into the frame */
	bool ra_in_register;
	bool fp_in_register;
};

/* At the first instruction of a function. */
struct a64_frame a64_frame_at_entry(void);
/* The frame that a rule describes; only for rules that start from sp or x29. */
struct a64_frame a64_frame_from_rule(const struct unwind_rule *rule);
bool a64_frame_equal(const struct a64_frame *a, const struct a64_frame *b);

/* Applies an instruction to the frame. False if it cannot be tracked further. */
bool a64_frame_step(struct a64_frame *frame, const struct a64_insn *insn);

/* Whether the rule unwinds this frame correctly. */
bool a64_frame_agrees(const struct a64_frame *frame, const struct unwind_rule *rule);
/* The rule for this frame; false if there is none. */
bool a64_frame_rule(const struct a64_frame *frame, struct unwind_rule *ret);

#endif
