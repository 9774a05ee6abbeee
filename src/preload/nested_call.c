/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/nested_call.h"

#include <linux/futex.h>
#include <stddef.h>

#include "safe/syscall.h"

/*
 * The C library keeps thread data on the stack, so the lowest bytes of what we assume to be the
 * stack may belong to something else.
 */
#define UNSURE_BYTES 65536u
/* The smallest page size. */
#define PAGE_BYTES 4096u
/*
 * Allocators do not use this much stack between two calls: anything further away is on the stack of
 * another fiber. Fibers with smaller stacks are distinguished by the contents.
 */
#define MOST_BYTES 65536u

static bool is_own(const struct preload_thread *thread, uint64_t frame)
{
	return thread && frame - UNSURE_BYTES >= thread->unwind.stack.low &&
	       frame < thread->unwind.stack.high - sizeof(uint64_t[2]) && frame > UNSURE_BYTES;
}

/*
 * Lets the kernel compare the word at an address, which also works for unmapped memory: a futex
 * requeue of zero waiters.
 */
static bool kernel_finds(uint64_t address, uint64_t word)
{
	return address % sizeof(uint32_t) == 0 &&
	       safe_syscall(SYS_futex, (long)address, FUTEX_CMP_REQUEUE | FUTEX_PRIVATE_FLAG, 0, 0,
			    (long)address, (long)(uint32_t)word) == 0;
}

bool nested_is_within(const struct preload_thread *thread, struct nested_call outer, uint64_t inner)
{
	uint64_t place = outer.frame + sizeof(uint64_t);
	bool own = is_own(thread, outer.frame);

	/* Stacks grow downward. */
	if (outer.frame <= inner || own != is_own(thread, inner))
		return false;
	if (own || place / PAGE_BYTES == inner / PAGE_BYTES)
		return nested_word(outer.frame) == outer.word;
	return outer.frame - inner < MOST_BYTES && kernel_finds(place, outer.word) &&
	       kernel_finds(place + sizeof(uint32_t), outer.word >> 32);
}
