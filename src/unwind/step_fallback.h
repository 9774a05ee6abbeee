/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_UNWIND_STEP_FALLBACK_H
#define WICK_UNWIND_STEP_FALLBACK_H

/*
 * step_fallback: a step without a known rule: signal trampolines, places where threads begin,
 * stubs, and code that uses frame pointers (JIT, Go, musl).
 *
 * A part of step.h, which includes it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "unwind/frame.h"
#include "unwind/step_code.h"
#include "unwind/step_stack.h"
#include "unwind/table.h"

/* Real frames are smaller; a wild frame pointer that points further is detected. */
#define UNWIND_GUESS_BYTES (1u << 20)

/* How far above sp a frame record may be in a leaf. */
#define UNWIND_LEAF_BYTES 1024u

UNWIND_INLINE bool unwind_maybe_code(const struct unwind_limits *limits,
				     const struct unwind_reader *reader, uint64_t address)
{
	address &= ~limits->pac_mask;
	return address >= 4096 &&
	       (!reader->is_code || reader->is_code(reader->context, address - 1));
}

/* Moves to the caller in a frame record. */
UNWIND_INLINE enum unwind_end unwind_record(const struct unwind_limits *limits,
					    const struct unwind_reader *reader, uint64_t record,
					    struct unwind_frame *frame)
{
	uint64_t frame_bytes = unwind_frame_bytes(limits->arch, reader, frame->pc);
	uint64_t fp;
	uint64_t ra;
	enum unwind_end end;

	if (record < frame->sp || record - frame->sp > UNWIND_GUESS_BYTES || record & 7)
		return UNWIND_NO_RULE;
	if (!reader->read(reader->context, record, &fp) ||
	    !reader->read(reader->context, record + 8, &ra))
		return UNWIND_UNREADABLE;
	if ((ra & ~limits->pac_mask) == 0) /* the first record of a thread is all zeros */
		return fp == 0 ? UNWIND_ROOT : UNWIND_NO_RULE;
	if (!unwind_maybe_code(limits, reader, ra))
		return UNWIND_NO_RULE;
	end = unwind_enter(limits, frame, record + (frame_bytes ? frame_bytes : 16), ra);
	frame->fp = fp;
	frame->fp_lost = false;
	frame->sp_guessed = !limits->arch->record_ends_frame && frame_bytes == 0;
	return end;
}

/*
 * The caller of an interrupted function without a rule, on a CPU with a link register. Most such
 * code is stubs without a frame (PLT, assembly). A function that has created its frame has saved lr
 * in a record: fp points to it, or sp does for the one instruction before fp is set. The first
 * entry of a PLT saves lr above another register.
 */
UNWIND_INLINE enum unwind_end unwind_leaf(const struct unwind_limits *limits,
					  const struct unwind_reader *reader,
					  struct unwind_frame *frame)
{
	uint64_t saved_fp;
	uint64_t saved_lr;

	if (frame->fp >= frame->sp && frame->fp - frame->sp < UNWIND_LEAF_BYTES &&
	    reader->read(reader->context, frame->fp + 8, &saved_lr) &&
	    (saved_lr == frame->lr ||
	     unwind_is_stale_lr(limits->arch, reader, frame->lr & ~limits->pac_mask, frame->pc)))
		return unwind_record(limits, reader, frame->fp, frame);
	if (reader->read(reader->context, frame->sp, &saved_fp) &&
	    reader->read(reader->context, frame->sp + 8, &saved_lr) && saved_lr == frame->lr) {
		if (saved_fp == frame->fp)
			return unwind_record(limits, reader, frame->sp, frame);
		return unwind_enter(limits, frame, frame->sp + 16, frame->lr);
	}
	if (unwind_maybe_code(limits, reader, frame->lr) ||
	    ((frame->lr & ~limits->pac_mask) == 0 && frame->fp == 0))
		return unwind_enter(limits, frame, frame->sp, frame->lr);
	return unwind_record(limits, reader, frame->fp, frame);
}

/*
 * The same where calls push the return address. It is at sp until the function creates a frame; for
 * the one instruction before fp is set, the caller's fp is at sp.
 */
UNWIND_INLINE enum unwind_end unwind_pushed_leaf(const struct unwind_limits *limits,
						 const struct unwind_reader *reader,
						 struct unwind_frame *frame)
{
	uint64_t first;
	uint64_t second;

	if (!reader->read(reader->context, frame->sp, &first))
		return UNWIND_UNREADABLE;
	if (unwind_maybe_code(limits, reader, first) && unwind_follows_call(reader, first))
		return unwind_enter(limits, frame, frame->sp + 8, first);
	if (first == frame->fp && reader->read(reader->context, frame->sp + 8, &second) &&
	    unwind_maybe_code(limits, reader, second) && unwind_follows_call(reader, second))
		return unwind_enter(limits, frame, frame->sp + 16, second);
	return UNWIND_NO_RULE;
}

/* The caller of code that is about to return, where calls push the return address. */
UNWIND_INLINE enum unwind_end unwind_returning(const struct unwind_limits *limits,
					       const struct unwind_reader *reader,
					       struct unwind_frame *frame)
{
	int removed = unwind_removed_bytes(reader, frame->pc);
	uint64_t place = frame->sp + (uint64_t)removed;
	uint64_t ra;

	if (removed < 0 || !reader->read(reader->context, place, &ra) ||
	    !unwind_maybe_code(limits, reader, ra))
		return UNWIND_NO_RULE;
	return unwind_enter(limits, frame, place + 8, ra);
}

UNWIND_INLINE enum unwind_end unwind_without_rule(const struct unwind_limits *limits,
						  const struct unwind_reader *reader,
						  struct unwind_frame *frame)
{
	uint64_t ra;

	if (unwind_is_trampoline(limits->arch, reader, frame)) {
		frame->guessed = false;
		return unwind_signal(limits, reader, frame);
	}
	/* The kernel returns from its own page like a function without a frame. */
	if (frame->exact && limits->arch->old_calls && frame->pc >> 12 == limits->arch->old_calls) {
		frame->guessed = false;
		if (!reader->read(reader->context, frame->sp, &ra))
			return UNWIND_UNREADABLE;
		return unwind_enter(limits, frame, frame->sp + 8, ra);
	}
	if (limits->arch->record_ends_frame && !frame->guessed && !frame->sp_guessed &&
	    unwind_returning(limits, reader, frame) == UNWIND_GOING)
		return UNWIND_GOING;
	frame->guessed = true;
	if (frame->exact && unwind_is_start(limits->arch, reader, frame->pc))
		return UNWIND_ROOT;
	if (frame->lr_valid)
		return unwind_leaf(limits, reader, frame);
	if (frame->exact && limits->arch->record_ends_frame &&
	    unwind_pushed_leaf(limits, reader, frame) == UNWIND_GOING)
		return UNWIND_GOING;
	if (frame->fp_lost)
		return UNWIND_NO_RULE;
	/* In both ABIs, fp is zero where a thread begins. */
	if (frame->fp == 0)
		return UNWIND_ROOT;
	return unwind_record(limits, reader, frame->fp, frame);
}

/*
 * Whether an address is in code that can be read. While a module is being loaded, any address may
 * be code: then a stack protector's canary passes for a return address, but cannot be read.
 */
UNWIND_INLINE bool unwind_is_readable_code(const struct unwind_limits *limits,
					   const struct unwind_reader *reader, uint64_t address)
{
	uint64_t code;

	address &= ~limits->pac_mask;
	return address >= 4096 && reader->read_code &&
	       reader->read_code(reader->context, address - 8, &code);
}

/*
 * The CFA of a rule relative to sp if sp is uncertain because the callee was found by its frame
 * record. sp is right if records end frames, as in clang's layout; a return address where the rule
 * expects it confirms that. Otherwise, a function that saved fp and lr side by side has made a
 * record, and fp points to it if it uses frame pointers.
 */
UNWIND_INLINE enum unwind_end unwind_guessed_cfa(const struct unwind_limits *limits,
						 const struct unwind_reader *reader,
						 const struct unwind_rule *rule,
						 const struct unwind_frame *frame, uint64_t *ret)
{
	uint64_t by_fp = frame->fp - (uint64_t)(int64_t)rule->fp_offset;
	bool is_code;
	uint64_t ra;

	*ret = frame->sp + (uint64_t)(int64_t)rule->cfa_offset;
	if (rule->ra != UNWIND_RA_AT_CFA)
		return UNWIND_GOING;
	is_code = reader->read(reader->context, *ret + (uint64_t)(int64_t)rule->ra_offset, &ra) &&
		  unwind_maybe_code(limits, reader, ra);
	if (is_code && (!reader->read_code || unwind_is_readable_code(limits, reader, ra)))
		return UNWIND_GOING;
	if (rule->fp != UNWIND_FP_AT_CFA || rule->ra_offset != rule->fp_offset + 8 ||
	    frame->fp_lost || frame->fp < frame->sp)
		return UNWIND_GOING;
	if (!is_code ||
	    (reader->read(reader->context, by_fp + (uint64_t)(int64_t)rule->ra_offset, &ra) &&
	     unwind_is_readable_code(limits, reader, ra)))
		*ret = by_fp;
	return UNWIND_GOING;
}

#endif
