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

/*
 * How far a frame record may lie above sp in a leaf, and how much code is looked
 * at for the beginning of a thread, for a call, and for the beginning of a frame.
 */
#define UNWIND_LEAF_BYTES 1024u
#define UNWIND_START_BYTES 64u
#define UNWIND_CALL_BYTES 256u
#define UNWIND_FRAME_BYTES 1024u

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

UNWIND_INLINE bool unwind_is(const struct unwind_code *code, uint64_t word)
{
	return code->mask != 0 && ((uint32_t)word & code->mask) == code->value;
}

UNWIND_INLINE bool unwind_is_jump(const struct unwind_arch *arch, uint64_t word)
{
	return unwind_is(&arch->jumps[0], word) || unwind_is(&arch->jumps[1], word);
}

/*
 * Whether an interrupted pc is in the code that a thread begins with: no jump is
 * between that and pc.
 */
UNWIND_INLINE bool unwind_is_start(const struct unwind_arch *arch,
				   const struct unwind_reader *reader, uint64_t pc)
{
	uint64_t bytes;

	if (!reader->read_code || arch->start_code == 0)
		return false;
	pc += 4; /* the first instruction may be one that does nothing */
	for (uint64_t back = 0; back < UNWIND_START_BYTES; back += 4) {
		if (!reader->read_code(reader->context, pc - back, &bytes))
			return false;
		if (bytes == arch->start_code)
			return true;
		if (unwind_is_jump(arch, bytes))
			return false;
	}
	return false;
}

/*
 * Whether lr is left over from a call that this function made itself: it points
 * to straight code that leads to pc.
 */
UNWIND_INLINE bool unwind_is_stale_lr(const struct unwind_arch *arch,
				      const struct unwind_reader *reader, uint64_t lr, uint64_t pc)
{
	uint64_t bytes;

	if (lr > pc || pc - lr > UNWIND_CALL_BYTES || !reader->read_code)
		return false;
	for (; lr < pc; lr += 4)
		if (!reader->read_code(reader->context, lr, &bytes) || unwind_is_jump(arch, bytes))
			return false;
	return true;
}

/*
 * The bytes of the frame that a function without a rule makes, from the
 * instruction that makes it, before pc. 0: not found.
 */
UNWIND_INLINE uint64_t unwind_frame_bytes(const struct unwind_arch *arch,
					  const struct unwind_reader *reader, uint64_t pc)
{
	uint64_t bytes;

	if (!reader->read_code || arch->record_push.mask == 0)
		return 0;
	for (uint64_t back = 4; back <= UNWIND_FRAME_BYTES; back += 4) {
		if (!reader->read_code(reader->context, pc - back, &bytes))
			return 0;
		/* Bits 15 to 21 are the change of sp in words, negative. */
		if (unwind_is(&arch->record_push, bytes))
			return (0x80 - (bytes >> 15 & 0x7f)) * 8;
	}
	return 0;
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
 * The caller of an interrupted function without a rule, on a CPU with a link
 * register. Most such code are stubs without a frame (PLT, assembly). One that
 * has made its frame has saved lr in a record: fp points there, or sp does in
 * the one instruction before fp is set. The first entry of a PLT saves lr above
 * another register.
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

UNWIND_INLINE enum unwind_end unwind_without_rule(const struct unwind_limits *limits,
						  const struct unwind_reader *reader,
						  struct unwind_frame *frame)
{
	uint64_t ra;

	if (unwind_is_trampoline(limits->arch, reader, frame)) {
		frame->guessed = false;
		return unwind_signal(limits, reader, frame);
	}
	/* The kernel returns from its own page as a function without a frame does. */
	if (frame->exact && limits->arch->old_calls && frame->pc >> 12 == limits->arch->old_calls) {
		frame->guessed = false;
		if (!reader->read(reader->context, frame->sp, &ra))
			return UNWIND_UNREADABLE;
		return unwind_enter(limits, frame, frame->sp + 8, ra);
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
 * callee was found by its frame record. It is right where records end frames, as
 * clang lays them out; a return address where the rule has it tells. Otherwise a
 * function that saved fp and lr side by side has made a record, and fp points to
 * it if it keeps frame pointers.
 */
UNWIND_INLINE enum unwind_end unwind_guessed_cfa(const struct unwind_limits *limits,
						 const struct unwind_reader *reader,
						 const struct unwind_rule *rule,
						 const struct unwind_frame *frame, uint64_t *ret)
{
	uint64_t ra;

	*ret = frame->sp + (uint64_t)(int64_t)rule->cfa_offset;
	if (rule->ra != UNWIND_RA_AT_CFA)
		return UNWIND_GOING;
	if (reader->read(reader->context, *ret + (uint64_t)(int64_t)rule->ra_offset, &ra) &&
	    unwind_maybe_code(limits, reader, ra))
		return UNWIND_GOING;
	if (rule->fp == UNWIND_FP_AT_CFA && rule->ra_offset == rule->fp_offset + 8 &&
	    !frame->fp_lost && frame->fp >= frame->sp)
		*ret = frame->fp - (uint64_t)(int64_t)rule->fp_offset;
	return UNWIND_GOING;
}

#endif
