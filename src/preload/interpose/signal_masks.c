/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * signal_masks: a program that blocks all signals does not mean ours, just as it does not mean
 * those of the C library. It sees our signal as blocked, but it is not. A program that blocks a
 * few, including ours, means it: it keeps its signal, and we take another.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/interpose/signals.h"
#include "preload/real_functions.h"
#include "preload/runtime.h"
#include "safe/syscall.h"

/* A set with fewer of the first 31 signals than this means each of them. */
#define MANY_SIGNALS 16

/* The signals of ticks, current or earlier, that this thread believes to be blocked. */
static __thread uint64_t believed __attribute__((tls_model("initial-exec")));

REAL_DEFINE(pthread_sigmask);

static uint64_t bit_of(int number)
{
	return number > 0 ? 1ull << (number - 1) : 0;
}

const sigset_t *signals_without_tick(const sigset_t *set, sigset_t *copy)
{
	int tick = signals_tick();

	if (!set || tick == 0 || !preload_active() || sigismember(set, tick) != 1)
		return set;
	*copy = *set;
	(void)sigdelset(copy, tick);
	return copy;
}

bool signals_names_tick(const sigset_t *set)
{
	int tick = signals_tick();
	int count = 0;

	if (!set || tick == 0 || !preload_active() || sigismember(set, tick) != 1)
		return false;
	for (int number = 1; number < 32; number++)
		count += sigismember(set, number) == 1;
	return count < MANY_SIGNALS;
}

/* Really blocks a former signal of ticks. */
static void settle(void)
{
	uint64_t past = believed & ~bit_of(signals_tick());

	if (past)
		(void)safe_syscall(SYS_rt_sigprocmask, SIG_BLOCK, SAFE_POINTER(&past), 0,
				   sizeof(past));
	believed &= ~past;
}

uint64_t signals_block_believed(void)
{
	uint64_t before = 0;
	uint64_t all = believed;

	if (all)
		(void)safe_syscall(SYS_rt_sigprocmask, SIG_BLOCK, SAFE_POINTER(&all),
				   SAFE_POINTER(&before), sizeof(all));
	return all & ~before;
}

bool signals_hold(int number, ucontext_t *context)
{
	if (!(believed & bit_of(number)))
		return false;
	(void)sigaddset(&context->uc_sigmask, number);
	return true;
}

static int change(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t copy;
	const sigset_t *passed;
	uint64_t before, tick;
	int r;

	if (signals_is_other_process())
		return REAL(pthread_sigmask)(how, set, old);
	if (how != SIG_UNBLOCK && signals_names_tick(set))
		signals_make_way();
	settle();
	before = believed;
	tick = bit_of(signals_tick());
	passed = signals_without_tick(set, &copy);
	if (set && how == SIG_SETMASK)
		believed = passed != set ? tick : 0;
	else if (set && how == SIG_BLOCK && passed != set)
		believed = tick;
	else if (set && how == SIG_UNBLOCK && tick && sigismember(set, signals_tick()) == 1)
		believed = 0;
	r = REAL(pthread_sigmask)(how, how == SIG_UNBLOCK ? set : passed, old);
	if (r == 0 && old && before)
		(void)sigaddset(old, signals_tick());
	return r;
}

PRELOAD_EXPORT int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	return change(how, set, old);
}

PRELOAD_EXPORT int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	int r = change(how, set, old);

	if (r != 0)
		errno = r;
	return r == 0 ? 0 : -1;
}
