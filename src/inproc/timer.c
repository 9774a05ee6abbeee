/* SPDX-License-Identifier: BSD-2-Clause */
#include "inproc/timer.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "inproc/process_timer.h"
#include "inproc/runtime.h"
#include "safe/clock.h"
#include "safe/syscall.h"
#include "safe/ticks.h"

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
	return safe_syscall(SYS_timer_create, clock, SAFE_POINTER(&event), SAFE_POINTER(&id), 0) < 0
		       ? -1
		       : id;
}

static struct timespec time_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_SEC),
				 .tv_nsec = (long)(ns % NS_PER_SEC)};
}

/* Lets a timer tick: first after some time, and then every period. 0: never. */
static void set(int timer, uint64_t first_ns, uint64_t period_ns)
{
	struct itimerspec times = {.it_interval = time_of(period_ns),
				   .it_value = time_of(first_ns)};

	if (timer >= 0)
		(void)safe_syscall(SYS_timer_settime, timer, 0, SAFE_POINTER(&times), 0);
}

/* A moment of a period, which nobody can foresee. */
static uint64_t some_part(const struct inproc_thread *thread, uint64_t period_ns)
{
	uint64_t mixed = (safe_ticks() + thread->tid) * 0x9e3779b97f4a7c15ull;

	mixed ^= mixed >> 29;
	mixed *= 0xbf58476d1ce4e5b9ull;
	return (mixed >> 32) * period_ns / (1ull << 32) + 1;
}

static void drop(int *timer)
{
	if (*timer >= 0)
		(void)safe_syscall(SYS_timer_delete, *timer, 0);
	*timer = -1;
}

/* Whether CPU timers are too slow for what is wanted. */
static bool is_fast(void)
{
	return timer_period_ns() < inproc.jiffy_ns;
}

/* The ticks that a thread has in the long run. */
static void tick_by_cpu(struct inproc_thread *thread)
{
	uint64_t period_ns = is_fast() ? inproc.jiffy_ns : timer_period_ns();

	set(thread->cpu_timer, period_ns, period_ns);
	thread->by_clock = false;
}

bool timer_start(struct inproc_thread *thread)
{
	bool wall = (atomic_load(&inproc.control->mode) & SESSION_WALL) != 0;
	uint64_t period_ns = timer_period_ns();
	uint64_t first_ns = some_part(thread, period_ns);

	thread->unmet = false;
	if (atomic_load(&inproc.paused) & INPROC_STOPPED)
		return true; /* until it is started */
	thread->cpu_timer = wall ? -1 : create(thread, cpu_clock_of(thread->tid), 0);
	thread->clock_timer = create(thread, CLOCK_MONOTONIC, TIMER_OF_CLOCK);
	if (thread->cpu_timer < 0 && thread->clock_timer < 0) {
		thread->unmet = !wall && process_timer_start();
		inproc_count(thread->unmet ? SESSION_SHARED_TIMER : SESSION_NO_TIMER, 1);
		if (!thread->unmet)
			return false;
		first_ns = period_ns;
	}
	thread->tick_cpu_ns = safe_clock_ns(cpu_clock_of(thread->tid));
	thread->last_cpu_ns = thread->tick_cpu_ns - (period_ns - first_ns);
	thread->last_ns = safe_clock_ns(CLOCK_MONOTONIC) - (period_ns - first_ns);
	thread->step_ns = first_ns;
	thread->idle_ticks = 0;
	thread->slow = false;
	thread->by_clock = true;
	set(thread->clock_timer, first_ns, wall || is_fast() ? period_ns : 0);
	if (thread->clock_timer < 0 || (!wall && !is_fast()))
		tick_by_cpu(thread);
	return true;
}

void timer_meet(struct inproc_thread *thread)
{
	uint64_t whole_ns = process_timer_period_ns();
	uint64_t cpu_ns = safe_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (thread->unmet && cpu_ns - thread->last_cpu_ns < whole_ns)
		thread->last_cpu_ns = cpu_ns - whole_ns;
	thread->unmet = false;
}

void timer_skip(struct inproc_thread *thread)
{
	thread->last_cpu_ns = safe_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	thread->last_ns = safe_clock_ns(CLOCK_MONOTONIC);
}

void timer_stop(struct inproc_thread *thread)
{
	drop(&thread->cpu_timer);
	drop(&thread->clock_timer);
}

void timer_slow(struct inproc_thread *thread)
{
	bool has_cpu = thread->cpu_timer >= 0;

	if (thread->slow)
		return;
	thread->slow = true;
	set(thread->clock_timer, has_cpu ? 0 : NS_PER_SEC, has_cpu ? 0 : NS_PER_SEC);
	set(thread->cpu_timer, NS_PER_SEC, NS_PER_SEC);
}

void timer_resume(struct inproc_thread *thread)
{
	uint64_t period_ns = timer_period_ns();

	thread->slow = false;
	thread->idle_ticks = 0;
	thread->tick_cpu_ns = safe_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (thread->cpu_timer < 0)
		set(thread->clock_timer, period_ns, period_ns);
	else
		tick_by_cpu(thread);
}

/*
 * Ticks of CPU time come with those of the kernel, in step with whatever else does so. The
 * sample is taken some part of a kernel's tick later, by the clock. A thread that has left
 * the CPU by then has it with its next tick; one that always has, at the tick itself.
 */
static bool ticked_slowly(struct inproc_thread *thread, bool of_clock, bool ran)
{
	if (of_clock) {
		thread->idle_ticks = ran ? 0 : thread->idle_ticks + 1;
		return ran;
	}
	if (thread->clock_timer < 0 || thread->idle_ticks >= IDLE_TICKS) {
		thread->idle_ticks = 0;
		return true;
	}
	thread->step_ns = some_part(thread, inproc.jiffy_ns);
	set(thread->clock_timer, thread->step_ns, 0);
	return false;
}

bool timer_ticked(struct inproc_thread *thread, bool of_clock, uint64_t cpu_ns)
{
	uint64_t ran_ns = cpu_ns - thread->tick_cpu_ns;
	bool ran = !of_clock || ran_ns >= thread->step_ns / 2;

	thread->tick_cpu_ns = cpu_ns;
	thread->step_ns = timer_period_ns();
	if (thread->cpu_timer < 0)
		return true; /* all time counts */
	if (!is_fast())
		return ticked_slowly(thread, of_clock, ran);
	if (!of_clock && !thread->by_clock) {
		set(thread->cpu_timer, 0, 0);
		set(thread->clock_timer, thread->step_ns, thread->step_ns);
		thread->by_clock = true;
		thread->idle_ticks = 0;
	} else if (of_clock && thread->by_clock) {
		thread->idle_ticks = ran_ns < thread->step_ns / 4 ? thread->idle_ticks + 1 : 0;
		if (thread->idle_ticks < IDLE_TICKS)
			return ran;
		set(thread->clock_timer, 0, 0);
		tick_by_cpu(thread);
	}
	return ran;
}
