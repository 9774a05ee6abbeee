/* SPDX-License-Identifier: BSD-2-Clause */
#include "inproc/timer.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "inproc/runtime.h"
#include "safe/syscall.h"

#define NS_PER_SEC 1000000000ull
/* So many ticks of the clock in a row in which a thread hardly ran: it sleeps. */
#define IDLE_TICKS 4u

uint64_t timer_period_ns(void)
{
	uint32_t hz = atomic_load_explicit(&inproc.control->frequency_hz, memory_order_relaxed);

	return NS_PER_SEC / (hz > 0 ? hz : 1);
}

/* The clock of the CPU time of any thread of this process. */
static clockid_t cpu_clock_of(uint32_t tid)
{
	return (clockid_t)(~tid << 3 | 6u);
}

static int create(const struct inproc_thread *thread, clockid_t clock, uint32_t mark)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID};
	int id = -1;

	event.sigev_signo = (int)atomic_load(&inproc.process->signal);
	event.sigev_value.sival_ptr = (void *)((uintptr_t)thread | mark);
	event._sigev_un._tid = (pid_t)thread->tid;
	return safe_syscall4(SYS_timer_create, clock, SAFE_POINTER(&event), SAFE_POINTER(&id), 0) <
			       0
		       ? -1
		       : id;
}

static void set(int timer, uint64_t period_ns)
{
	struct timespec period = {.tv_sec = (time_t)(period_ns / NS_PER_SEC),
				  .tv_nsec = (long)(period_ns % NS_PER_SEC)};
	struct itimerspec times = {.it_interval = period, .it_value = period};

	if (timer >= 0)
		(void)safe_syscall4(SYS_timer_settime, timer, 0, SAFE_POINTER(&times), 0);
}

static void delete (int *timer)
{
	if (*timer >= 0)
		(void)safe_syscall2(SYS_timer_delete, *timer, 0);
	*timer = -1;
}

/* Whether CPU timers are too slow for what is wanted. */
static bool is_fast(void)
{
	return timer_period_ns() < inproc.jiffy_ns;
}

bool timer_start(struct inproc_thread *thread)
{
	bool wall = (atomic_load(&inproc.control->mode) & SESSION_WALL) != 0;
	uint64_t period_ns = timer_period_ns();

	thread->cpu_timer = thread->clock_timer = -1;
	thread->by_clock = wall;
	if (!wall)
		thread->cpu_timer = create(thread, cpu_clock_of(thread->tid), 0);
	if (wall || is_fast())
		thread->clock_timer = create(thread, CLOCK_MONOTONIC, TIMER_OF_CLOCK);
	if (thread->cpu_timer < 0 && thread->clock_timer < 0) {
		inproc_count(SESSION_NO_TIMER, 1);
		return false;
	}
	set(thread->cpu_timer, is_fast() ? inproc.jiffy_ns : period_ns);
	if (wall)
		set(thread->clock_timer, period_ns);
	return true;
}

void timer_stop(struct inproc_thread *thread)
{
	delete (&thread->cpu_timer);
	delete (&thread->clock_timer);
}

void timer_adapt(struct inproc_thread *thread, bool of_clock, uint64_t cpu_ns)
{
	if (thread->cpu_timer < 0 || thread->clock_timer < 0)
		return; /* only one of them ticks, for ever */
	if (!of_clock && !thread->by_clock) {
		set(thread->cpu_timer, 0);
		set(thread->clock_timer, timer_period_ns());
		thread->by_clock = true;
		thread->idle_ticks = 0;
	} else if (of_clock && thread->by_clock) {
		thread->idle_ticks = cpu_ns < timer_period_ns() / 4 ? thread->idle_ticks + 1 : 0;
		if (thread->idle_ticks < IDLE_TICKS)
			return;
		set(thread->clock_timer, 0);
		set(thread->cpu_timer, inproc.jiffy_ns);
		thread->by_clock = false;
	}
}
