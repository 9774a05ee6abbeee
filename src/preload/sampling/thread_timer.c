/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/sampling/thread_timer.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "preload/runtime.h"
#include "preload/sampling/process_timer.h"
#include "safe/clock.h"
#include "safe/syscall.h"
#include "safe/ticks.h"

#define NS_PER_SEC 1000000000ull
/* After this many consecutive clock ticks in which it hardly ran, a thread is asleep. */
#define IDLE_TICKS 4u
/* A tick later than this waited for the thread to run again. */
#define LATE_NS 200000u

uint64_t thread_timer_period_ns(void)
{
	uint32_t hz = atomic_load_explicit(&preload.control->frequency_hz, memory_order_relaxed);

	return NS_PER_SEC / (hz > 0 ? hz : 1);
}

/* The clock of the CPU time of any thread of this process. */
static clockid_t cpu_clock_of(uint32_t tid)
{
	return (clockid_t)(~tid << 3 | 6u);
}

static int create(const struct preload_thread *thread, clockid_t clock, uint32_t mark)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID};
	int id = -1;

	event.sigev_signo = (int)atomic_load(&preload.process->signal);
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

/* Sets a timer: first after some time, then every period. 0: never. */
static void set(int timer, uint64_t first_ns, uint64_t period_ns)
{
	struct itimerspec times = {.it_interval = time_of(period_ns),
				   .it_value = time_of(first_ns)};

	if (timer >= 0)
		(void)safe_syscall(SYS_timer_settime, timer, 0, SAFE_POINTER(&times), 0);
}

/* A random part of a period. */
static uint64_t some_part(const struct preload_thread *thread, uint64_t period_ns)
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

/* Starts the wall clock timer: first after some time, then every period; 0: one-shot. */
static void tick_by_clock(struct preload_thread *thread, uint64_t now_ns, uint64_t first_ns,
			  uint64_t period_ns)
{
	thread->due_ns = now_ns + first_ns;
	thread->clock_ns = period_ns;
	set(thread->clock_timer, first_ns, period_ns);
}

/*
 * Whether a clock tick waited for the thread to get its CPU back. The thread is then where it was
 * preempted, often at the end of a call: not a random place.
 */
static bool is_late(const struct preload_thread *thread, uint64_t now_ns)
{
	uint64_t after_ns = now_ns > thread->due_ns ? now_ns - thread->due_ns : 0;

	if (thread->clock_ns == 0)
		return after_ns > LATE_NS;
	after_ns %= thread->clock_ns;
	return after_ns > (thread->clock_ns / 2 < LATE_NS ? thread->clock_ns / 2 : LATE_NS);
}

/* Whether CPU timers are too slow for the period. */
static bool is_fast(void)
{
	return thread_timer_period_ns() < preload.jiffy_ns;
}

/* Starts the regular ticks of a thread. */
static void tick_by_cpu(struct preload_thread *thread)
{
	uint64_t period_ns = is_fast() ? preload.jiffy_ns : thread_timer_period_ns();

	set(thread->cpu_timer, period_ns, period_ns);
	thread->by_clock = false;
}

bool thread_timer_start(struct preload_thread *thread)
{
	uint32_t mode = atomic_load(&preload.control->mode);
	bool wall = (mode & SESSION_WALL) != 0;
	uint64_t period_ns = thread_timer_period_ns();
	uint64_t first_ns = some_part(thread, period_ns);
	uint64_t now_ns;

	thread->unmet = false;
	if (!(mode & (SESSION_CPU | SESSION_WALL)) ||
	    (atomic_load(&preload.paused) & PRELOAD_STOPPED))
		return true; /* until it is started */
	thread->cpu_timer = wall ? -1 : create(thread, cpu_clock_of(thread->tid), 0);
	thread->clock_timer = create(thread, CLOCK_MONOTONIC, TIMER_OF_CLOCK);
	if (thread->cpu_timer < 0 && thread->clock_timer < 0) {
		thread->unmet = !wall && process_timer_start();
		preload_count(thread->unmet ? SESSION_SHARED_TIMER : SESSION_NO_TIMER, 1);
		if (!thread->unmet)
			return false;
		first_ns = period_ns;
	}
	thread->tick_cpu_ns = safe_clock_ns(cpu_clock_of(thread->tid));
	thread->last_cpu_ns = thread->tick_cpu_ns - (period_ns - first_ns);
	now_ns = safe_clock_ns(CLOCK_MONOTONIC);
	thread->last_ns = now_ns - (period_ns - first_ns);
	thread->step_ns = first_ns;
	thread->armed_ns = period_ns;
	thread->idle_ticks = 0;
	thread->slow = thread->paused = false;
	thread->by_clock = true;
	thread->first = true;
	tick_by_clock(thread, now_ns, first_ns, wall || is_fast() ? period_ns : 0);
	if (thread->clock_timer < 0 || (!wall && !is_fast()))
		tick_by_cpu(thread);
	return true;
}

void thread_timer_meet(struct preload_thread *thread)
{
	uint64_t whole_ns = process_timer_period_ns();
	uint64_t cpu_ns = safe_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (thread->unmet && cpu_ns - thread->last_cpu_ns < whole_ns)
		thread->last_cpu_ns = cpu_ns - whole_ns;
	thread->unmet = false;
}

void thread_timer_stop(struct preload_thread *thread)
{
	drop(&thread->cpu_timer);
	drop(&thread->clock_timer);
}

void thread_timer_slow(struct preload_thread *thread, uint64_t period_ns)
{
	bool has_cpu = thread->cpu_timer >= 0;

	if (thread->slow)
		return;
	thread->slow = true;
	thread->by_clock = false;
	set(thread->clock_timer, has_cpu ? 0 : period_ns, has_cpu ? 0 : period_ns);
	set(thread->cpu_timer, period_ns, period_ns);
}

void thread_timer_resume(struct preload_thread *thread, uint64_t now_ns, uint64_t cpu_ns)
{
	uint64_t period_ns = thread_timer_period_ns();

	thread->slow = false;
	thread->idle_ticks = 0;
	thread->tick_cpu_ns = cpu_ns;
	thread->armed_ns = period_ns;
	if (thread->cpu_timer < 0 || (thread->by_clock && is_fast())) {
		tick_by_clock(thread, now_ns, period_ns, period_ns);
		return;
	}
	set(thread->clock_timer, 0, 0);
	tick_by_cpu(thread);
}

/*
 * Ticks of CPU time coincide with kernel ticks, and so with everything else that does. So the
 * sample is taken a random part of a kernel tick later, by the clock. If the thread has left the
 * CPU by then, it is taken a random part after its return; if that always happens, at the tick
 * itself.
 */
static bool ticked_slowly(struct preload_thread *thread, struct thread_timer_tick tick, bool ran)
{
	if (tick.of_clock && ran) {
		thread->idle_ticks = 0;
		return true;
	}
	if (thread->clock_timer < 0 || thread->idle_ticks >= IDLE_TICKS) {
		thread->idle_ticks = tick.of_clock ? thread->idle_ticks : 0;
		return !tick.of_clock;
	}
	thread->idle_ticks += tick.of_clock;
	thread->step_ns = some_part(thread, preload.jiffy_ns);
	tick_by_clock(thread, tick.now_ns, thread->step_ns, 0);
	return false;
}

static bool ticked_fast(struct preload_thread *thread, struct thread_timer_tick tick, bool ran,
			uint64_t ran_ns)
{
	if (!tick.of_clock && !thread->by_clock) {
		set(thread->cpu_timer, 0, 0);
		tick_by_clock(thread, tick.now_ns, thread->step_ns, thread->step_ns);
		thread->by_clock = true;
		thread->idle_ticks = 0;
	} else if (tick.of_clock && thread->by_clock) {
		thread->idle_ticks = ran_ns < thread->step_ns / 4 ? thread->idle_ticks + 1 : 0;
		if (thread->idle_ticks < IDLE_TICKS)
			return ran;
		set(thread->clock_timer, 0, 0);
		tick_by_cpu(thread);
	}
	return ran;
}

bool thread_timer_ticked(struct preload_thread *thread, struct thread_timer_tick tick,
			 uint64_t cpu_ns)
{
	/* The first tick decides whether a short thread is sampled at all: it always counts. */
	bool late =
		tick.of_clock && !thread->first && (tick.overrun || is_late(thread, tick.now_ns));
	uint64_t ran_ns = cpu_ns - thread->tick_cpu_ns;
	bool ran = !tick.of_clock || (!late && ran_ns >= thread->step_ns / 2);

	/*
	 * In wall-clock mode the first tick has the weight of a whole period, all in the state it
	 * found.
	 */
	if (thread->first && !ran && thread->cpu_timer < 0)
		thread->last_cpu_ns = thread->tick_cpu_ns;
	thread->late = late;
	thread->ran = ran;
	thread->first = false;
	thread->tick_cpu_ns = cpu_ns;
	thread->step_ns = thread_timer_period_ns();
	if (thread->step_ns != thread->armed_ns) {
		/* Another rate: this tick still has its weight. */
		thread_timer_resume(thread, tick.now_ns, cpu_ns);
		return ran || thread->cpu_timer < 0;
	}
	if (thread->cpu_timer < 0)
		return true; /* all time counts */
	return is_fast() ? ticked_fast(thread, tick, ran, ran_ns)
			 : ticked_slowly(thread, tick, ran);
}
