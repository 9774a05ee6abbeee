/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_UNWIND_STEP_H
#define WICK_UNWIND_STEP_H

/*
 * step: from a frame to its caller.
 *
 * Written once, with callbacks that read the target's memory, for every walker: in the process,
 * from outside, offline, and in the kernel. Freestanding, and entirely in the headers frame.h,
 * step_*.h and this one: if a walker's reader consists of constant functions, they are inlined into
 * the step.
 *
 * A walk begins with the registers of the interrupted instruction and ends for one of the reasons
 * below; each stack carries its reason.
 *
 *	unwind_begin(limits, &frame)
 *	for (;;) {
 *		rule = the rule for unwind_lookup_pc(&frame), or NULL
 *		end = unwind_step(limits, reader, rule, &frame, NULL)
 *		...
 *	}
 */

#include <stddef.h>
#include <stdint.h>

#include "unwind/frame.h"
#include "unwind/step_fallback.h"
#include "unwind/step_stack.h"
#include "unwind/table.h"

/* Where a rule leads. */
struct unwind_caller {
	uint64_t cfa;
	uint64_t ra;
};

/* The CFA of the unusual rules. */
UNWIND_INLINE enum unwind_end unwind_unusual_cfa(const struct unwind_limits *limits,
						 const struct unwind_reader *reader,
						 const struct unwind_rule *rule,
						 const struct unwind_frame *frame, uint64_t *ret)
{
	uint64_t base;
	uint64_t value;

	switch (rule->cfa) {
	case UNWIND_CFA_REGISTER:
		if (!unwind_register(limits, reader, frame, rule->cfa_register, &base))
			return UNWIND_NO_RULE;
		*ret = base + (uint64_t)(int64_t)rule->cfa_offset;
		return UNWIND_GOING;
	case UNWIND_CFA_PLT:
		value = unwind_lookup_pc(frame) & 15;
		*ret = frame->sp + 8 + (value >= (uint64_t)(int64_t)rule->cfa_extra ? 8 : 0);
		return UNWIND_GOING;
	case UNWIND_CFA_DEREF_SP:
	case UNWIND_CFA_DEREF_FP:
		base = rule->cfa == UNWIND_CFA_DEREF_SP ? frame->sp : frame->fp;
		if (rule->cfa == UNWIND_CFA_DEREF_SP ? frame->sp_guessed : frame->fp_lost)
			return UNWIND_NO_RULE;
		if (rule->cfa_register != 0) {
			if (!unwind_register(limits, reader, frame, rule->cfa_register, &value))
				return UNWIND_NO_RULE;
			base += value * 8;
		}
		if (!reader->read(reader->context, base + (uint64_t)(int64_t)rule->cfa_offset,
				  &value))
			return UNWIND_UNREADABLE;
		*ret = value + (uint64_t)(int64_t)rule->cfa_extra;
		return UNWIND_GOING;
	default:
		return UNWIND_NO_RULE;
	}
}

/* The CFA where it does not depend on sp or fp alone. */
UNWIND_INLINE enum unwind_end unwind_other_cfa(const struct unwind_limits *limits,
					       const struct unwind_reader *reader,
					       const struct unwind_rule *rule,
					       struct unwind_frame *frame, uint64_t *ret)
{
	if (rule->cfa == UNWIND_CFA_SP)
		return unwind_guessed_cfa(limits, reader, rule, frame, ret);
	if (rule->cfa == UNWIND_CFA_FP_AWAY)
		return unwind_cfa_away(limits, reader, rule, frame, ret);
	return unwind_unusual_cfa(limits, reader, rule, frame, ret);
}

/* The return address of a rule. */
UNWIND_INLINE enum unwind_end unwind_rule_ra(const struct unwind_limits *limits,
					     const struct unwind_reader *reader,
					     const struct unwind_rule *rule,
					     const struct unwind_frame *frame, uint64_t cfa,
					     uint64_t *ret)
{
	if (rule->ra == UNWIND_RA_AT_CFA) {
		if (!reader->read(reader->context, cfa + (uint64_t)(int64_t)rule->ra_offset, ret))
			return UNWIND_UNREADABLE;
		return UNWIND_GOING;
	}
	if (rule->ra == UNWIND_RA_IN_LR) {
		*ret = frame->lr;
		return frame->lr_valid ? UNWIND_GOING : UNWIND_NO_RULE;
	}
	if (rule->ra == UNWIND_RA_REGISTER &&
	    unwind_register(limits, reader, frame, (uint32_t)rule->ra_offset, ret))
		return UNWIND_GOING;
	return UNWIND_NO_RULE;
}

/* A zero that was found by guessing does not mark the root: it is not a return address at all. */
UNWIND_INLINE enum unwind_end unwind_doubt(const struct unwind_limits *limits, bool was_guessed,
					   uint64_t ra, enum unwind_end end)
{
	bool is_zero = (ra & ~limits->pac_mask) == 0;

	return end == UNWIND_GOING && was_guessed && is_zero ? UNWIND_NO_RULE : end;
}

/*
 * Whether the epilogue of an aligned frame has already restored fp, which gcc's CFI does not say:
 * the frame's own fp is between sp and the CFA, the caller's is above.
 */
UNWIND_INLINE bool unwind_fp_is_back(const struct unwind_rule *rule, uint64_t cfa,
				     const struct unwind_frame *frame)
{
	return rule->fp == UNWIND_FP_AT_FP && rule->cfa == UNWIND_CFA_REGISTER &&
	       (frame->fp < frame->sp || frame->fp >= cfa);
}

/*
 * Whether a saved register has been restored, which gcc's CFI does not say in epilogues. Its slot
 * is below sp then, and copies of stacks do not include it.
 */
UNWIND_INLINE bool unwind_is_back(const struct unwind_limits *limits,
				  const struct unwind_frame *frame, uint64_t place)
{
	return frame->exact && place < frame->sp && frame->sp - place <= limits->arch->red_zone;
}

/* The frame pointer of the caller. */
UNWIND_INLINE enum unwind_end unwind_rule_fp(const struct unwind_limits *limits,
					     const struct unwind_reader *reader,
					     const struct unwind_rule *rule, uint64_t cfa,
					     struct unwind_frame *frame)
{
	uint64_t base = rule->fp == UNWIND_FP_AT_CFA ? cfa : frame->fp;
	uint64_t fp;

	if (rule->fp == UNWIND_FP_SAME || unwind_fp_is_back(rule, cfa, frame))
		return UNWIND_GOING;
	if (rule->fp != UNWIND_FP_AT_CFA && (rule->fp != UNWIND_FP_AT_FP || frame->fp_lost)) {
		frame->fp_lost = true;
		return UNWIND_GOING;
	}
	frame->fp_lost = false;
	base += (uint64_t)(int64_t)rule->fp_offset;
	if (reader->read(reader->context, base, &fp))
		frame->fp = fp;
	else if (!unwind_is_back(limits, frame, base))
		return UNWIND_UNREADABLE;
	return UNWIND_GOING;
}

/* Enters the caller with the register that the rule tracks, if it can be read. */
UNWIND_INLINE enum unwind_end unwind_enter_keeping(const struct unwind_limits *limits,
						   const struct unwind_reader *reader,
						   const struct unwind_rule *rule,
						   struct unwind_frame *frame,
						   const struct unwind_caller *caller)
{
	uint64_t place = caller->cfa + (uint64_t)(int64_t)rule->cfa_extra;
	uint64_t value = 0;
	bool known = rule->cfa_extra != 0 && reader->read(reader->context, place, &value);
	enum unwind_end end;

	if (!known && (rule->cfa_extra == 0 || unwind_is_back(limits, frame, place)))
		known = unwind_register(limits, reader, frame, rule->cfa_register, &value);
	end = unwind_enter(limits, frame, caller->cfa, caller->ra);
	if (known) {
		frame->kept = value;
		frame->kept_register = rule->cfa_register;
	}
	return end;
}

/*
 * Turns the frame into that of its caller. rule is the one for unwind_lookup_pc(), or NULL. When
 * the walk ends, the frame is unchanged or half changed: it must not be used. ret_slots may be
 * NULL.
 */
UNWIND_INLINE enum unwind_end unwind_step(const struct unwind_limits *limits,
					  const struct unwind_reader *reader,
					  const struct unwind_rule *rule,
					  struct unwind_frame *frame,
					  struct unwind_slots *ret_slots)
{
	enum unwind_end end;
	uint64_t cfa;
	uint64_t ra = 0;
	bool ordinary;
	bool was_guessed = frame->guessed;

	if (ret_slots)
		*ret_slots = (struct unwind_slots){0};
	if (!rule || rule->cfa == UNWIND_CFA_NONE)
		return unwind_without_rule(limits, reader, frame);
	frame->guessed = false;
	if (rule->ra == UNWIND_RA_ROOT)
		return UNWIND_ROOT;
	ordinary = !frame->exact && rule->ra == UNWIND_RA_AT_CFA;
	if (rule->cfa == UNWIND_CFA_SP && !frame->sp_guessed && !was_guessed) {
		cfa = frame->sp + (uint64_t)(int64_t)rule->cfa_offset;
	} else if (rule->cfa == UNWIND_CFA_FP && !frame->fp_lost) {
		cfa = frame->fp + (uint64_t)(int64_t)rule->cfa_offset;
	} else {
		ordinary = false;
		if (rule->cfa == UNWIND_CFA_SIGNAL)
			return unwind_signal(limits, reader, frame);
		end = unwind_other_cfa(limits, reader, rule, frame, &cfa);
		if (end != UNWIND_GOING)
			return end;
	}
	end = unwind_rule_ra(limits, reader, rule, frame, cfa, &ra);
	end = unwind_doubt(limits, was_guessed, ra, end);
	if (end != UNWIND_GOING)
		return end;
	end = unwind_rule_fp(limits, reader, rule, cfa, frame);
	if (end != UNWIND_GOING)
		return end;
	ordinary = ordinary && rule->fp <= UNWIND_FP_AT_CFA;
	if (ret_slots && ordinary) {
		ret_slots->ra = cfa + (uint64_t)(int64_t)rule->ra_offset;
		ret_slots->fp =
			rule->fp == UNWIND_FP_AT_CFA ? cfa + (uint64_t)(int64_t)rule->fp_offset : 0;
		ret_slots->by_fp = rule->cfa == UNWIND_CFA_FP;
	}
	frame->sp_guessed = false;
	if (rule->cfa_register != 0 && rule->cfa <= UNWIND_CFA_FP)
		return unwind_enter_keeping(limits, reader, rule, frame,
					    &(const struct unwind_caller){cfa, ra});
	return unwind_enter(limits, frame, cfa, ra);
}

#endif
