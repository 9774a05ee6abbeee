/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_NESTED_CALL_H
#define WICK_PRELOAD_NESTED_CALL_H

/*
 * nested_call: whether a call is inside another call whose frame was noted.
 *
 * A throw or longjmp leaves a call without notice, so a noted call may be over. While a call is
 * active, the return address in its frame stays as noted. But its stack may be gone: programs make
 * their own stacks for fibers. So another stack is never read:
 *
 *	the thread's own stack exists as long as the thread;
 *	the page of an active frame exists as well;
 *	elsewhere the kernel does the comparison, which is safe for unmapped memory.
 */

#include <stdbool.h>
#include <stdint.h>

#include "preload/runtime.h"

/* A call that was entered; 0: none. */
struct nested_call {
	uint64_t frame;
	uint64_t word; /* its return address as stored on the stack */
};

static inline uint64_t nested_word(uint64_t frame)
{
	return ((const uint64_t *)(uintptr_t)frame)[1];
}

/*
 * Whether the running call with the frame `inner` is inside `outer`. thread may be NULL: then its
 * stack is unknown.
 */
bool nested_is_within(const struct preload_thread *thread, struct nested_call outer,
		      uint64_t inner);

#endif
