/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/sampling/process_timer.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

#include "preload/interpose/signals.h"
#include "preload/real_functions.h"
#include "preload/runtime.h"
#include "preload/sampling/thread_timer.h"
#include "safe/syscall.h"

#define US_PER_SEC 1000000ull

/* The owner of the timer. */
enum owner { NOBODY, OURS, PROGRAM };

static struct {
	_Atomic uint32_t owner;
	_Atomic uint32_t was_ours; /* our ticks may still be pending */
	_Atomic uint64_t period_us;
} state;

REAL_DEFINE(setitimer);
REAL_DEFINE(getitimer);

static bool is_child_of_vfork(void)
{
	return (uint32_t)safe_syscall(SYS_getpid, 0) != preload.pid;
}

static bool arm(uint64_t period_us)
{
	struct itimerval times = {.it_interval = {.tv_sec = (time_t)(period_us / US_PER_SEC),
						  .tv_usec = (long)(period_us % US_PER_SEC)}};

	times.it_value = times.it_interval;
	atomic_store(&state.period_us, period_us);
	return safe_syscall(SYS_setitimer, ITIMER_PROF, SAFE_POINTER(&times), 0) == 0;
}

/* It cannot tick faster than the kernel; a period is never 0. */
static uint64_t wanted_us(void)
{
	uint64_t period_ns = thread_timer_period_ns();

	if (period_ns < preload.jiffy_ns)
		period_ns = preload.jiffy_ns;
	return period_ns / 1000 + 1;
}

/* Whether a program before this one, or this one, has set it. */
static bool is_set(void)
{
	struct itimerval times = {.it_value = {0, 0}};

	return safe_syscall(SYS_getitimer, ITIMER_PROF, SAFE_POINTER(&times)) < 0 ||
	       times.it_value.tv_sec != 0 || times.it_value.tv_usec != 0;
}

bool process_timer_start(void)
{
	uint32_t owner = NOBODY;

	if (signals_tick() != SIGPROF) {
		process_timer_stop();
		return false;
	}
	if (atomic_load(&state.owner) == OURS)
		return true;
	if (is_set() || !atomic_compare_exchange_strong(&state.owner, &owner, OURS))
		return owner == OURS;
	atomic_store(&state.was_ours, 1);
	if (arm(wanted_us()))
		return true;
	atomic_store(&state.owner, NOBODY);
	return false;
}

void process_timer_stop(void)
{
	uint32_t owner = OURS;

	if (atomic_compare_exchange_strong(&state.owner, &owner, NOBODY))
		(void)arm(0); /* it was armed */
}

void process_timer_forget(void)
{
	atomic_store(&state.owner, NOBODY);
	atomic_store(&state.was_ours, 0);
}

bool process_timer_rest(void)
{
	if (atomic_load(&state.owner) != OURS || is_child_of_vfork())
		return false;
	return arm(0);
}

void process_timer_wake(bool rested)
{
	if (rested && atomic_load(&state.owner) == OURS)
		(void)arm(wanted_us()); /* as before */
}

uint64_t process_timer_period_ns(void)
{
	return atomic_load(&state.period_us) * 1000;
}

bool process_timer_is_tick(const siginfo_t *info)
{
	return info->si_signo == SIGPROF && info->si_code == SI_KERNEL &&
	       atomic_load(&state.was_ours) && atomic_load(&state.owner) != PROGRAM;
}

void process_timer_ticked(void)
{
	uint64_t period_us = wanted_us();

	if (atomic_load(&state.owner) == OURS && atomic_load(&state.period_us) != period_us)
		(void)arm(period_us); /* else it keeps its period */
}

/* The program takes it, and sees what it would have found without us. */
PRELOAD_EXPORT int setitimer(__itimer_which_t which, const struct itimerval *restrict times,
			     struct itimerval *restrict old)
{
	bool ours = which == ITIMER_PROF && atomic_load(&state.owner) == OURS;
	bool ends = times && times->it_value.tv_sec == 0 && times->it_value.tv_usec == 0;
	int r;

	if (which != ITIMER_PROF || is_child_of_vfork())
		return REAL(setitimer)(which, times, old);
	if (ours && ends) {
		if (old)
			*old = (struct itimerval){{0, 0}, {0, 0}};
		return 0;
	}
	r = REAL(setitimer)(which, times, old);
	if (r == 0)
		atomic_store(&state.owner, ends ? NOBODY : PROGRAM);
	if (r == 0 && ours && old)
		*old = (struct itimerval){{0, 0}, {0, 0}};
	return r;
}

PRELOAD_EXPORT int getitimer(__itimer_which_t which, struct itimerval *times)
{
	int r = REAL(getitimer)(which, times);

	if (r == 0 && which == ITIMER_PROF && atomic_load(&state.owner) == OURS &&
	    !is_child_of_vfork())
		*times = (struct itimerval){{0, 0}, {0, 0}};
	return r;
}
