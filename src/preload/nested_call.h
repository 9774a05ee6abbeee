/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_NESTED_CALL_H
#define WICK_PRELOAD_NESTED_CALL_H

/*
 * nested_call: whether a call is inside another that was noted by its frame.
 *
 * Calls are left by throws and jumps that tell nobody, so a note may be of one that is over.
 * While a call goes on, what its frame holds beside the caller's frame pointer, where it returns
 * to, stays as it was noted. But the stack that it was on may be gone: programs have stacks of
 * their own making, for fibers. So nothing of another stack is ever read:
 *
 *	the thread's own stack is there as long as the thread;
 *	what is on the page of a frame that lives is there as well;
 *	elsewhere the kernel compares, for which it needs no memory to be there.
 */

#include <stdbool.h>
#include <stdint.h>

#include "preload/runtime.h"

/* A call that was entered: 0 when there is none. */
struct nested_call {
	uint64_t frame;
	uint64_t word; /* where it returns to, as it stands on the stack */
};

static inline uint64_t nested_word(uint64_t frame)
{
	return ((const uint64_t *)(uintptr_t)frame)[1];
}

/*
 * Whether the call that has the frame `inner`, and runs now, is within `outer`. The thread may be
 * NULL: then it is not known where its own stack is.
 */
bool nested_is_within(const struct preload_thread *thread, struct nested_call outer,
		      uint64_t inner);

#endif
