/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/nested_call.h"

#include <linux/futex.h>
#include <stddef.h>

#include "safe/syscall.h"

/*
 * Where the C library keeps what it has of a thread belongs to its stack: the lowest bytes of
 * what we take for the stack may be another's.
 */
#define UNSURE_BYTES 65536u
/* The smallest page that there is. */
#define PAGE_BYTES 4096u
/*
 * Allocators do not use up so much of a stack between one call and another: what is further away
 * is on the stack of another fiber. Fibers on smaller ones are told apart by what is there.
 */
#define MOST_BYTES 65536u

static bool is_own(const struct preload_thread *thread, uint64_t frame)
{
	return thread && frame - UNSURE_BYTES >= thread->unwind.stack.low &&
	       frame < thread->unwind.stack.high - sizeof(uint64_t[2]) && frame > UNSURE_BYTES;
}

/*
 * Compares what lies at an address, or finds that nothing does: a request to wake nobody and to
 * let nobody wait elsewhere, if it is so.
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
