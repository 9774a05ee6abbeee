/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/sampling/tick_handler.h"

#include <errno.h>
#include <setjmp.h>
#include <stddef.h>
#include <sys/resource.h>
#include <time.h>
#include <ucontext.h>

#include "preload/fallible_load.h"
#include "preload/ring.h"
#include "preload/runtime.h"
#include "preload/sampling/process_timer.h"
#include "preload/sampling/signal_context.h"
#include "preload/sampling/thread_timer.h"
#include "preload/session_file.h"
#include "preload/stack.h"
#include "preload/thread.h"
#include "safe/clock.h"
#include "safe/syscall.h"
#include "safe/ticks.h"
#include "unwind/arch/native.h"
#include "unwind/walk.h"

/* After this many faults in our own code, sampling of the program ends. */
#define MAX_FAULTS 3u
/* Period of ticks while nothing is sampled: a pause may be short. */
#define PAUSED_TICK_NS 50000000ull
#define SILENT_TICK_NS 1000000000ull
/* One sample in TIMED_MASK + 1 is timed. */
#define TIMED_MASK 15u
/* Limit for the time in one state that waits for a tick in that state. */
#define MOST_PERIODS 2u

/* Takes the stack of the interrupted code. */
static void take_stack(struct preload_thread *thread, const ucontext_t *context,
		       struct ring_sample *sample)
{
	struct signal_context_registers registers;
	struct unwind_frame frame;

	signal_context_read(context, &registers);
	unwind_frame_init(&frame, &UNWIND_NATIVE, registers.values, registers.pc);
	stack_take(thread, &frame, sample);
}

static uint32_t current_cpu(void)
{
	unsigned int cpu = 0;

	(void)safe_syscall(SYS_getcpu, SAFE_POINTER(&cpu), 0); /* 0 then */
	return cpu;
}

/*
 * Sampling resumes after a gap: the time is lost if nobody was reading, and does not count if it
 * was a pause.
 */
static void begin_again(struct preload_thread *thread, uint64_t now_ns, uint64_t cpu_ns, bool wall)
{
	uint64_t weight_ns = wall ? now_ns - thread->last_ns : cpu_ns - thread->last_cpu_ns;

	if (!thread->paused)
		ring_lose(thread, weight_ns / thread_timer_period_ns(), weight_ns);
	thread->paused = false;
	thread->last_ns = now_ns;
	thread->last_cpu_ns = cpu_ns;
	thread_timer_resume(thread, now_ns, cpu_ns);
}

/* Whether the thread left its CPU by itself since the last tick. */
static bool has_slept(struct preload_thread *thread)
{
	struct rusage usage = {0};
	uint64_t before = thread->sleeps;

	if (safe_syscall(SYS_getrusage, RUSAGE_THREAD, SAFE_POINTER(&usage)) < 0)
		return true; /* as most threads without one do */
	thread->sleeps = (uint64_t)usage.ru_nvcsw;
	return thread->sleeps != before;
}

/*
 * The weight of a tick that found the thread running is its CPU time, of any other its time off
 * CPU, each since the last tick of its kind: both sums are right, even if ticks are missing or
 * late.
 */
static void weigh_all_time(struct preload_thread *thread, const ucontext_t *context,
			   uint64_t now_ns, struct ring_sample *sample)
{
	uint64_t all_ns = now_ns - thread->last_ns;
	uint64_t cpu_ns = thread->tick_cpu_ns - thread->last_cpu_ns;
	uint64_t ran_ns = cpu_ns < all_ns ? cpu_ns : all_ns;
	uint64_t away_ns = all_ns - ran_ns;
	bool slept = has_slept(thread);
	bool met_running = thread->late ? away_ns < ran_ns / 4 /* it ran in a long call */
					: !slept || !signal_context_is_in_call(context);
	bool ran = thread->ran || met_running;

	/* A thread that is hardly ever found in one state gets that time at a tick of the other. */
	if ((ran ? away_ns : ran_ns) >
	    (ran ? ran_ns : away_ns) + MOST_PERIODS * thread_timer_period_ns())
		ran = !ran;
	sample->weight_ns = ran ? ran_ns : away_ns;
	if (!ran)
		sample->flags = slept ? SESSION_ASLEEP : SESSION_PREEMPTED;
	thread->last_ns += sample->weight_ns;
	thread->last_cpu_ns += ran ? ran_ns : 0;
}

/* Takes a sample if it has a weight. */
static void take_sample(struct preload_thread *thread, struct thread_timer_tick tick,
			const ucontext_t *context)
{
	bool wall = (atomic_load(&preload.control->mode) & SESSION_WALL) != 0;
	uint64_t cpu_ns = safe_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct ring_sample sample = {.ticks = safe_ticks(),
				     .weight_ns = cpu_ns - thread->last_cpu_ns};

	if (thread->slow || thread->paused) {
		begin_again(thread, tick.now_ns, cpu_ns, wall);
		return;
	}
	if (!thread_timer_ticked(thread, tick, cpu_ns))
		return; /* it slept: its time goes to the next sample */
	if (wall)
		weigh_all_time(thread, context, tick.now_ns, &sample);
	else
		thread->last_cpu_ns = cpu_ns;
	sample.cpu = current_cpu();
	take_stack(thread, context, &sample);
	ring_put_sample(thread, &sample);
}

/* Whether the recorder still wants samples. If not, this thread's ticks end. */
static bool is_wanted(struct preload_thread *thread, uint64_t now_ns)
{
	uint32_t mode = atomic_load_explicit(&preload.control->mode, memory_order_relaxed);

	if (!preload_active() || mode == 0) {
		thread_timer_stop(thread);
		return false;
	}
	if ((mode & SESSION_PAUSED) || atomic_load(&preload.paused)) {
		thread->paused = true;
		if (mode & SESSION_PAUSED)
			thread_timer_slow(thread, PAUSED_TICK_NS);
		return false; /* a program that pauses itself resumes ticks itself */
	}
	if (session_file_recorder_moves(preload.control, now_ns))
		return true;
	if (session_file_recorder_is_gone(preload.control))
		thread_timer_stop(thread);
	else
		thread_timer_slow(thread, SILENT_TICK_NS); /* it may resume later */
	return false;
}

/* Our code may fault without harm to the program: see tick_handler_fault(). */
static __attribute__((noinline)) void guarded_sample(struct preload_thread *thread,
						     struct thread_timer_tick tick,
						     const ucontext_t *context)
{
	if (_setjmp(thread->recovery) == 0) {
		atomic_store(&thread->guarded, 1);
		take_sample(thread, tick, context);
	}
	atomic_store(&thread->guarded, 0);
}

static void time_sample(uint64_t begin_ns)
{
	preload_count(SESSION_HANDLER_NS, safe_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns);
	preload_count(SESSION_HANDLER_TIMES, 1);
}

static struct preload_thread *thread_of(const siginfo_t *info)
{
	uintptr_t value = (uintptr_t)info->si_value.sival_ptr;

	return (struct preload_thread *)(value & ~(uintptr_t)TIMER_OF_CLOCK);
}

bool tick_handler_is_own_timer(const siginfo_t *info)
{
	for (uint32_t i = 0; info->si_code == SI_TIMER && i < preload.thread_limit; i++)
		if (atomic_load(&preload.threads[i]) == thread_of(info))
			return true;
	return false;
}

/* System calls are most of what a tick costs: each clock is read once. */
static void tick(struct preload_thread *thread, const siginfo_t *info, void *context, bool of_clock)
{
	bool is_timer = info->si_code == SI_TIMER; /* other signals have no overrun count */
	struct thread_timer_tick tick = {.of_clock = of_clock,
					 .overrun = is_timer && info->si_overrun > 0,
					 .now_ns = safe_clock_ns(CLOCK_MONOTONIC)};
	uint64_t begin_ns = 0;

	preload_count(SESSION_TICKS, 1);
	if (!is_wanted(thread, tick.now_ns))
		return;
	if (atomic_exchange(&thread->busy, 1) != 0) {
		preload_count(SESSION_BUSY, 1); /* its time goes to the next sample */
		return;
	}
	if (tick.overrun)
		preload_count(SESSION_OVERRUNS, (uint64_t)info->si_overrun);
	if ((thread->ticks++ & TIMED_MASK) == TIMED_MASK / 2)
		begin_ns = safe_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	guarded_sample(thread, tick, context);
	if (begin_ns)
		time_sample(begin_ns);
	atomic_store(&thread->busy, 0);
}

/* Handles a tick of the shared timer, for a thread without its own. */
static bool tick_shared(const siginfo_t *info, void *context)
{
	struct preload_thread *thread = thread_find((uint32_t)safe_syscall(SYS_gettid, 0));

	if (!preload_active() || atomic_load(&preload.control->mode) == 0)
		process_timer_stop();
	else
		process_timer_ticked();
	if (thread && thread->cpu_timer < 0 && thread->clock_timer < 0) {
		thread_timer_meet(thread);
		tick(thread, info, context, false);
	}
	return true;
}

bool tick_handler_tick(const siginfo_t *info, void *context)
{
	bool of_clock = ((uintptr_t)info->si_value.sival_ptr & TIMER_OF_CLOCK) != 0;
	struct preload_thread *thread = preload_self;

	if (process_timer_is_tick(info))
		return tick_shared(info, context);
	/* The timer of a thread ticks in that thread only; a late tick may find the slot reused. */
	if (info->si_code != SI_TIMER || !thread || thread_of(info) != thread ||
	    atomic_load(&thread->ending_tid) != 0)
		return false;
	tick(thread, info, context, of_clock);
	return true;
}

bool tick_handler_fault(void *context)
{
	struct signal_context_registers registers;
	struct preload_thread *thread;

	signal_context_read(context, &registers);
	if (!stack_is_own(registers.pc) || !preload.process)
		return false;
	if (fallible_resume(context))
		return true;
	thread = thread_find((uint32_t)safe_syscall(SYS_gettid, 0));
	if (!thread || atomic_load(&thread->guarded) == 0)
		return false;
	if (atomic_fetch_add(&preload.process->counts[SESSION_FAULTS], 1) + 1 >= MAX_FAULTS)
		preload_give_up(SESSION_PROCESS_OFF);
	/* The handler does not return, so the mask must be restored here. */
	(void)safe_syscall(SYS_rt_sigprocmask, SIG_SETMASK,
			   SAFE_POINTER(&((ucontext_t *)context)->uc_sigmask), 0, 8);
	_longjmp(thread->recovery, 1);
}
