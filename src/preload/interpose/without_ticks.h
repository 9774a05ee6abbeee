/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_INTERPOSE_WITHOUT_TICKS_H
#define WICK_PRELOAD_INTERPOSE_WITHOUT_TICKS_H

/*
 * without_ticks: calls during which the signal of ticks is blocked. The tick arrives when the call
 * returns, with the weight of all the time that passed.
 */

#include <errno.h>
#include <signal.h>
#include <stdint.h>

#include "preload/interpose/signals.h"
#include "preload/runtime.h"
#include "safe/syscall.h"

/* Blocks the signal of ticks. Returns what to unblock again; 0: nothing. */
static inline uint64_t without_ticks_begin(void)
{
	uint64_t before = 0;
	uint64_t tick;

	if (!preload_active() || signals_tick() == 0)
		return 0;
	tick = 1ull << (signals_tick() - 1);
	(void)safe_syscall(SYS_rt_sigprocmask, SIG_BLOCK, SAFE_POINTER(&tick),
			   SAFE_POINTER(&before), sizeof(tick));
	return before & tick ? 0 : tick;
}

static inline void without_ticks_end(uint64_t tick)
{
	if (tick)
		(void)safe_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, SAFE_POINTER(&tick), 0,
				   sizeof(tick));
}

#define WITHOUT_TICKS(call)                                                                        \
	({                                                                                         \
		uint64_t quiet = without_ticks_begin();                                            \
		__typeof__(call) result = (call);                                                  \
		int code = errno;                                                                  \
		without_ticks_end(quiet);                                                          \
		errno = code;                                                                      \
		result;                                                                            \
	})

#endif
