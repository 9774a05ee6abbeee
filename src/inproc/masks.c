/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * masks: a program that blocks all signals does not mean ours, as it does not mean
 * those that the C library keeps for itself. It is told that it has blocked it.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "inproc/real.h"
#include "inproc/runtime.h"
#include "inproc/signals.h"

/* Whether the program believes that this thread has blocked the signal of ticks. */
static __thread bool believes __attribute__((tls_model("initial-exec")));

REAL_DEFINE(pthread_sigmask);

const sigset_t *signals_without_tick(const sigset_t *set, sigset_t *copy)
{
	int tick = signals_tick();

	if (!set || tick == 0 || !inproc_active() || sigismember(set, tick) != 1)
		return set;
	*copy = *set;
	(void)sigdelset(copy, tick);
	return copy;
}

static int change(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t copy;
	const sigset_t *passed = signals_without_tick(set, &copy);
	bool before = believes;
	int r;

	if (set && how == SIG_SETMASK)
		believes = passed != set;
	else if (set && how == SIG_BLOCK && passed != set)
		believes = true;
	else if (set && how == SIG_UNBLOCK && signals_tick() &&
		 sigismember(set, signals_tick()) == 1)
		believes = false;
	r = REAL(pthread_sigmask)(how, how == SIG_UNBLOCK ? set : passed, old);
	if (r == 0 && old && before && signals_tick())
		(void)sigaddset(old, signals_tick());
	return r;
}

INPROC_EXPORT int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	return change(how, set, old);
}

INPROC_EXPORT int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	int r = change(how, set, old);

	if (r != 0)
		errno = r;
	return r == 0 ? 0 : -1;
}
