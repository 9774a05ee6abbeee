/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_UNWIND_FRAME_H
#define WICK_UNWIND_FRAME_H

/*
 * frame: what a walk knows about a frame, the limits of a walk and the access to the target's
 * memory; how to begin, and how to enter a caller. Freestanding.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/arch/arch.h"

enum unwind_end {
	UNWIND_GOING = 0,   /* not ended */
	UNWIND_ROOT,        /* reached the place where the thread began */
	UNWIND_DEPTH,       /* the limit on frames */
	UNWIND_NO_RULE,     /* code without a rule and without a usable frame pointer */
	UNWIND_UNREADABLE,  /* memory that could not be read */
	UNWIND_NO_PROGRESS, /* the caller would not be further up the stack */
	UNWIND_BAD_ADDRESS, /* a return address outside executable memory */
	UNWIND_ENDS
};

/* A range of addresses; high is the first one after it. */
struct unwind_stack {
	uint64_t low;
	uint64_t high;
};

/* What applies to a whole walk. */
struct unwind_limits {
	const struct unwind_arch *arch;
	uint64_t pac_mask; /* the bits of a code pointer that are not part of the address */
	struct unwind_stack stack;
	struct unwind_stack alternate; /* of signals; {0, 0}: none */
};

/* The bits above a 48-bit address: correct unless the kernel is configured for larger addresses. */
#define UNWIND_PAC_MASK 0xffff000000000000ull

/* Access to the target. Each returns false for what cannot be read. */
struct unwind_reader {
	bool (*read)(void *context, uint64_t address, uint64_t *ret); /* of the stack */
	/* Optional; without it no signal trampoline is recognised by its code. Unaligned. */
	bool (*read_code)(void *context, uint64_t address, uint64_t *ret);
	/*
	 * Optional, for walkers that cannot have the loops of read_code: reads where calls may be.
	 */
	bool (*read_call)(void *context, uint64_t address, uint64_t *ret);
	/* Optional: whether a guessed return address can be one. */
	bool (*is_code)(void *context, uint64_t address);
	/* Optional: the stack that sp is on, if the limits do not say; see unwind_signal(). */
	bool (*find_stack)(void *context, uint64_t sp, struct unwind_stack *ret);
	void *context;
};

/* What is known about a frame. */
struct unwind_frame {
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;
	uint64_t lr; /* aarch64; valid only while lr_valid */
	bool exact;  /* pc is the instruction itself (leaf, or interrupted), not a return address */
	bool lr_valid;
	/* Set by unwind_begin() and the steps, not by the caller. */
	bool sp_guessed;       /* found by a frame pointer on aarch64: sp is this or higher */
	bool fp_lost;          /* the last rule could not say where it is */
	bool guessed;          /* found without a rule */
	bool switched;         /* the walk has left the alternate stack */
	bool called_first;     /* the first frame is the callee: scratch registers are unchanged */
	uint8_t kept_register; /* DWARF number of the tracked register; 0: none */
	uint64_t kept;         /* its value in this frame */
	uint64_t high;         /* end of the stack that sp is on */
	uint64_t saved; /* after a signal: the trampoline's sp, to find all registers; or 0 */
	/*
	 * All general registers by DWARF number, for the rare rules that need others than sp and
	 * fp; NULL unless this is the first frame or its caller.
	 */
	const uint64_t *registers;
};

/*
 * The slots that a step read. A step that is not of the ordinary kind, { *ra, *fp } = f(sp, fp),
 * has ra == 0.
 */
struct unwind_slots {
	uint64_t ra;
	uint64_t fp; /* 0: the step did not change fp */
	bool by_fp;  /* fp leads to the caller */
};

#define UNWIND_INLINE static inline __attribute__((always_inline))

/* A return address may be the first of the next function: look up the call itself. */
UNWIND_INLINE uint64_t unwind_lookup_pc(const struct unwind_frame *frame)
{
	return frame->exact ? frame->pc : frame->pc - 1;
}

/*
 * What a trace contains for a frame other than its leaf: a return address, so that the address
 * before it is in the call. An instruction that a signal interrupted, and the trampoline that the
 * handler returns to, were not called by what precedes them: they are stored plus one, so that the
 * address before is right for all.
 *
 * Call it with the frame that a step has led to, and was_exact of the previous frame; pcs are those
 * stored so far.
 */
UNWIND_INLINE uint64_t unwind_trace_pc(const struct unwind_frame *frame, bool was_exact,
				       uint64_t *pcs, uint32_t count)
{
	if (!frame->exact)
		return frame->pc;
	if (!was_exact && count > 0)
		pcs[count - 1]++;
	return frame->pc + 1;
}

UNWIND_INLINE bool unwind_on_stack(const struct unwind_stack *stack, uint64_t sp)
{
	return sp >= stack->low && sp < stack->high;
}

/* Prepares a first frame whose registers are set. */
UNWIND_INLINE enum unwind_end unwind_begin(const struct unwind_limits *limits,
					   struct unwind_frame *frame)
{
	bool alternate = unwind_on_stack(&limits->alternate, frame->sp);

	frame->sp_guessed = frame->fp_lost = frame->guessed = frame->called_first = false;
	frame->switched = !alternate;
	frame->kept_register = 0;
	frame->saved = 0;
	if (frame->pc == 0 && !frame->lr_valid)
		return UNWIND_ROOT;
	if (!alternate && !unwind_on_stack(&limits->stack, frame->sp))
		return UNWIND_UNREADABLE;
	frame->high = alternate ? limits->alternate.high : limits->stack.high;
	return UNWIND_GOING;
}

/*
 * A register of an interrupted frame, or the one that the last rules have tracked. Code whose CFA
 * is relative to a scratch register while it calls (OpenSSL's assembly) only calls its own parts,
 * which do not change that register.
 */
UNWIND_INLINE bool unwind_register(const struct unwind_limits *limits,
				   const struct unwind_reader *reader,
				   const struct unwind_frame *frame, uint32_t number, uint64_t *ret)
{
	if (number != 0 && number == frame->kept_register) {
		*ret = frame->kept;
		return true;
	}
	if (number >= UNWIND_REGISTERS)
		return false;
	if (!frame->exact && !(frame->called_first && limits->arch->scratch >> number & 1))
		return false;
	if (frame->saved)
		return limits->arch->saved[number] != UNWIND_NOT_SAVED &&
		       reader->read(reader->context, frame->saved + limits->arch->saved[number],
				    ret);
	if (!frame->registers)
		return false;
	*ret = frame->registers[number];
	return true;
}

/*
 * Moves to a caller. A caller's sp is above the callee's, because calls make stacks grow; only an
 * interrupted frame on a CPU with a link register may be empty.
 */
UNWIND_INLINE enum unwind_end unwind_enter(const struct unwind_limits *limits,
					   struct unwind_frame *frame, uint64_t cfa, uint64_t ra)
{
	if (cfa < frame->sp || (cfa == frame->sp && !frame->exact) || cfa > frame->high ||
	    (cfa & (limits->arch->cfa_alignment - 1u)) != 0)
		return UNWIND_NO_PROGRESS;
	ra &= ~limits->pac_mask;
	if (ra == 0)
		return UNWIND_ROOT;
	frame->pc = ra;
	frame->sp = cfa;
	frame->called_first = frame->exact && frame->saved == 0;
	frame->exact = false;
	frame->lr_valid = false;
	frame->kept_register = 0;
	if (!frame->called_first)
		frame->registers = NULL;
	frame->saved = 0;
	return UNWIND_GOING;
}

#endif
