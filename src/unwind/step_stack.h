/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_UNWIND_STEP_STACK_H
#define WICK_UNWIND_STEP_STACK_H

/*
 * step_stack: steps that may lead to another stack: from a signal trampoline, and from a function
 * that has left its own stack.
 *
 * A part of step.h, which includes it.
 */

#include <stdint.h>

#include "unwind/frame.h"
#include "unwind/table.h"

/*
 * Accepts a frame whose sp is further up the same stack or, once in a walk, on another stack that
 * was left for this one. A walker that does not know which stack a thread is on calls it the
 * alternate one and finds the other when it is needed.
 */
UNWIND_INLINE enum unwind_end unwind_change_stack(const struct unwind_limits *limits,
						  const struct unwind_reader *reader,
						  struct unwind_frame *frame, uint64_t sp)
{
	struct unwind_stack stack = limits->stack;

	if (sp > frame->sp && sp < frame->high)
		return UNWIND_GOING;
	if (frame->switched ||
	    (!unwind_on_stack(&stack, sp) &&
	     (!reader->find_stack || !reader->find_stack(reader->context, sp, &stack) ||
	      !unwind_on_stack(&stack, sp))))
		return UNWIND_NO_PROGRESS;
	frame->switched = true;
	frame->high = stack.high;
	return UNWIND_GOING;
}

/* Moves from a signal trampoline to what the signal interrupted, on any stack. */
UNWIND_INLINE enum unwind_end unwind_signal(const struct unwind_limits *limits,
					    const struct unwind_reader *reader,
					    struct unwind_frame *frame)
{
	const struct unwind_arch *arch = limits->arch;
	uint64_t at = frame->sp;
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;
	uint64_t lr = 0;
	enum unwind_end end;

	if (frame->sp_guessed)
		return UNWIND_NO_RULE;
	if (!reader->read(reader->context, at + arch->saved_pc, &pc) ||
	    !reader->read(reader->context, at + arch->saved[arch->sp_register], &sp) ||
	    !reader->read(reader->context, at + arch->saved[arch->fp_register], &fp))
		return UNWIND_UNREADABLE;
	if (arch->lr_register < UNWIND_REGISTERS &&
	    !reader->read(reader->context, at + arch->saved[arch->lr_register], &lr))
		return UNWIND_UNREADABLE;
	end = unwind_change_stack(limits, reader, frame, sp);
	if (end != UNWIND_GOING)
		return end;
	frame->pc = pc;
	frame->sp = sp;
	frame->fp = fp;
	frame->lr = lr;
	frame->exact = true;
	frame->lr_valid = arch->lr_register < UNWIND_REGISTERS;
	frame->fp_lost = frame->called_first = false;
	frame->kept_register = 0;
	frame->registers = NULL;
	frame->saved = at;
	return UNWIND_GOING;
}

/*
 * The CFA of a function that runs on another stack (Go's, to read the clock): fp points to its own
 * frame, and the walk continues there.
 */
UNWIND_INLINE enum unwind_end unwind_cfa_away(const struct unwind_limits *limits,
					      const struct unwind_reader *reader,
					      const struct unwind_rule *rule,
					      struct unwind_frame *frame, uint64_t *ret)
{
	enum unwind_end end = frame->fp_lost
				      ? UNWIND_NO_RULE
				      : unwind_change_stack(limits, reader, frame, frame->fp);

	if (end != UNWIND_GOING)
		return end;
	frame->sp = frame->fp;
	*ret = frame->fp + (uint64_t)(int64_t)rule->cfa_offset;
	return UNWIND_GOING;
}

#endif
