/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_UNWIND_STEP_PLAIN_H
#define WICK_UNWIND_STEP_PLAIN_H

/*
 * step_plain: the step of most frames, without everything that the others need.
 *
 * Nearly every frame but the first two was found by a rule, and its own rule is relative to sp or
 * fp and has the return address in memory. unwind_step() gives the same result for them. In the
 * kernel, the cost is not the instructions but the size of the code: between two samples it is
 * evicted from the caches.
 */

#include <stdbool.h>
#include <stdint.h>

#include "unwind/frame.h"
#include "unwind/table.h"

/* Whether pc, sp and fp are all that is known about a frame. */
UNWIND_INLINE bool unwind_frame_is_plain(const struct unwind_frame *frame)
{
	uint64_t marks;

	_Static_assert(offsetof(struct unwind_frame, kept) - offsetof(struct unwind_frame, exact) ==
			       sizeof(marks),
		       "the marks of a frame lie side by side");
	__builtin_memcpy(&marks, &frame->exact, sizeof(marks));
	return marks == 0;
}

/* CFA by sp or fp, return address at the CFA, fp there or unchanged, nothing kept. */
UNWIND_INLINE bool unwind_rule_is_plain(const struct unwind_rule *rule)
{
	return (rule->cfa == UNWIND_CFA_SP || rule->cfa == UNWIND_CFA_FP) &&
	       rule->cfa_register == 0 && rule->ra == UNWIND_RA_AT_CFA &&
	       rule->fp <= UNWIND_FP_AT_CFA;
}

/* unwind_step() for a plain frame with a plain rule: the caller is plain too. */
UNWIND_INLINE enum unwind_end unwind_step_plain(const struct unwind_limits *limits,
						const struct unwind_reader *reader,
						const struct unwind_rule *rule,
						struct unwind_frame *frame)
{
	uint64_t cfa = (rule->cfa == UNWIND_CFA_SP ? frame->sp : frame->fp) +
		       (uint64_t)(int64_t)rule->cfa_offset;
	uint64_t ra;

	if (!reader->read(reader->context, cfa + (uint64_t)(int64_t)rule->ra_offset, &ra))
		return UNWIND_UNREADABLE;
	if (rule->fp == UNWIND_FP_AT_CFA &&
	    !reader->read(reader->context, cfa + (uint64_t)(int64_t)rule->fp_offset, &frame->fp))
		return UNWIND_UNREADABLE;
	if (cfa <= frame->sp || cfa > frame->high ||
	    (cfa & (limits->arch->cfa_alignment - 1u)) != 0)
		return UNWIND_NO_PROGRESS;
	ra &= ~limits->pac_mask;
	if (ra == 0)
		return UNWIND_ROOT;
	frame->pc = ra;
	frame->sp = cfa;
	return UNWIND_GOING;
}

#endif
