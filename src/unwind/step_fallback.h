/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_UNWIND_STEP_FALLBACK_H
#define WICK_UNWIND_STEP_FALLBACK_H

/*
 * step_fallback: a step where no rule is known: signal trampolines, places where
 * threads begin, stubs, and code that keeps frame pointers (JIT, Go, musl).
 *
 * A part of step.h, which includes it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "unwind/frame.h"
#include "unwind/table.h"

/*
 * Frames of real code are smaller; a wild frame pointer is caught when it points
 * further.
 */
#define UNWIND_GUESS_BYTES (1u << 20)

/* How far a frame record may lie above sp in a leaf, and how long the code before a thread's
   first call is. */
#define UNWIND_LEAF_BYTES 1024u
#define UNWIND_START_BYTES 64u

/* The pc of a trampoline is that of its start (returned to), or either of its instructions. */
UNWIND_INLINE bool unwind_is_trampoline(const struct unwind_arch *arch,
					const struct unwind_reader *reader,
					const struct unwind_frame *frame)
{
	const struct unwind_trampoline *code = &arch->trampoline;
	uint64_t pc = frame->pc;
	uint64_t bytes;

	if (!reader->read_code)
		return false;
	for (int i = 0; i < 2; i++, pc -= code->last_instruction) {
		if (i == 1 && !frame->exact)
			return false;
		if (reader->read_code(reader->context, pc, &bytes) && bytes == code->first &&
		    reader->read_code(reader->context, pc + code->second_offset, &bytes) &&
		    bytes == code->second)
			return true;
	}
	return false;
}

/* Whether an interrupted pc is in the code that a thread begins with. */
UNWIND_INLINE bool unwind_is_start(const struct unwind_arch *arch,
				   const struct unwind_reader *reader, uint64_t pc)
{
	uint64_t bytes;

	if (!reader->read_code || arch->start_code == 0)
		return false;
	for (uint64_t back = 0; back < UNWIND_START_BYTES; back += 4) {
		if (!reader->read_code(reader->context, pc + 4 - back, &bytes))
			return false;
		if (bytes == arch->start_code)
			return true;
	}
	return false;
}

UNWIND_INLINE bool unwind_maybe_code(const struct unwind_limits *limits,
				     const struct unwind_reader *reader, uint64_t address)
{
	address &= ~limits->pac_mask;
	return address >= 4096 &&
	       (!reader->is_code || reader->is_code(reader->context, address - 1));
}

/* Moves to the caller that a frame record names. */
UNWIND_INLINE enum unwind_end unwind_record(const struct unwind_limits *limits,
					    const struct unwind_reader *reader, uint64_t record,
					    struct unwind_frame *frame)
{
	uint64_t fp;
	uint64_t ra;
	enum unwind_end end;

	if (record < frame->sp || record - frame->sp > UNWIND_GUESS_BYTES || record & 7)
		return UNWIND_NO_RULE;
	if (!reader->read(reader->context, record, &fp) ||
	    !reader->read(reader->context, record + 8, &ra))
		return UNWIND_UNREADABLE;
	if ((ra & ~limits->pac_mask) != 0 && !unwind_maybe_code(limits, reader, ra))
		return UNWIND_NO_RULE;
	end = unwind_enter(limits, frame, record + 16, ra);
	frame->fp = fp;
	frame->fp_lost = false;
	frame->sp_guessed = !limits->arch->record_ends_frame;
	return end;
}

/*
 * The caller of an interrupted function without a rule, on a CPU with a link
 * register. Most such code are stubs without a frame (PLT, assembly). One that
 * has made its frame has saved lr in a record: fp points there, or sp does in
 * the one instruction before fp is set.
 */
UNWIND_INLINE enum unwind_end unwind_leaf(const struct unwind_limits *limits,
					  const struct unwind_reader *reader,
					  struct unwind_frame *frame)
{
	uint64_t saved_fp;
	uint64_t saved_lr;

	if (frame->fp >= frame->sp && frame->fp - frame->sp < UNWIND_LEAF_BYTES &&
	    reader->read(reader->context, frame->fp + 8, &saved_lr) && saved_lr == frame->lr)
		return unwind_record(limits, reader, frame->fp, frame);
	if (reader->read(reader->context, frame->sp, &saved_fp) && saved_fp == frame->fp &&
	    reader->read(reader->context, frame->sp + 8, &saved_lr) && saved_lr == frame->lr)
		return unwind_record(limits, reader, frame->sp, frame);
	if (unwind_maybe_code(limits, reader, frame->lr) || (frame->lr & ~limits->pac_mask) == 0)
		return unwind_enter(limits, frame, frame->sp, frame->lr);
	return unwind_record(limits, reader, frame->fp, frame);
}

UNWIND_INLINE enum unwind_end unwind_without_rule(const struct unwind_limits *limits,
						  const struct unwind_reader *reader,
						  struct unwind_frame *frame)
{
	if (unwind_is_trampoline(limits->arch, reader, frame)) {
		frame->guessed = false;
		return unwind_signal(limits, reader, frame);
	}
	frame->guessed = true;
	if (frame->exact && unwind_is_start(limits->arch, reader, frame->pc))
		return UNWIND_ROOT;
	if (frame->lr_valid)
		return unwind_leaf(limits, reader, frame);
	if (frame->fp_lost)
		return UNWIND_NO_RULE;
	/* Where a thread begins, by both ABIs, fp is zero. */
	if (frame->fp == 0)
		return UNWIND_ROOT;
	return unwind_record(limits, reader, frame->fp, frame);
}

/*
 * The CFA of a rule that counts from sp when sp is not known for sure, since the
 * callee was found by its frame record. A function that saved fp and lr side by
 * side has made a record of its own, and fp points to it if it keeps frame
 * pointers; otherwise sp is taken to be what it is at least.
 */
UNWIND_INLINE enum unwind_end unwind_guessed_cfa(const struct unwind_limits *limits,
						 const struct unwind_reader *reader,
						 const struct unwind_rule *rule,
						 const struct unwind_frame *frame, uint64_t *ret)
{
	uint64_t cfa = frame->fp - (uint64_t)(int64_t)rule->fp_offset;
	uint64_t ra;

	*ret = frame->sp + (uint64_t)(int64_t)rule->cfa_offset;
	if (rule->ra != UNWIND_RA_AT_CFA || rule->fp != UNWIND_FP_AT_CFA ||
	    rule->ra_offset != rule->fp_offset + 8 || frame->fp_lost || frame->fp < frame->sp)
		return UNWIND_GOING;
	if (reader->read(reader->context, frame->fp + 8, &ra) &&
	    unwind_maybe_code(limits, reader, ra))
		*ret = cfa;
	return UNWIND_GOING;
}

#endif
