/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/interpose/signals.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "preload/real_functions.h"
#include "preload/runtime.h"
#include "preload/sampling/process_timer.h"
#include "preload/sampling/tick_handler.h"
#include "preload/session_file.h"
#include "preload/thread.h"
#include "safe/syscall.h"

#define SIGNALS 65

/* The program's action for a signal that we handle. */
struct wish {
	_Atomic uint32_t taken; /* we handle it */
	_Atomic uint32_t
		current; /* index of the current action; the other is for the next change */
	struct sigaction actions[2];
};

static struct wish wishes[SIGNALS];

/* Our handler may not fit on smaller alternate stacks: then ticks use the thread's stack. */
#define ROOMY_BYTES 16384u
static _Atomic uint32_t small_stacks;

REAL_DEFINE(sigaction);

static const struct sigaction *wish_of(int number)
{
	return &wishes[number].actions[atomic_load(&wishes[number].current)];
}

static bool is_taken(int number)
{
	return number > 0 && number < SIGNALS && atomic_load(&wishes[number].taken) != 0;
}

int signals_tick(void)
{
	return preload.process ? (int)atomic_load(&preload.process->signal) : 0;
}

bool signals_is_tick(const siginfo_t *info)
{
	return info->si_signo == signals_tick() &&
	       (tick_handler_is_own_timer(info) || process_timer_is_tick(info));
}

/*
 * The default action of our signals kills the program. A fault recurs when the handler returns; a
 * sent signal is sent again.
 */
static void act_by_default(int number, const siginfo_t *info)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	(void)REAL(sigaction)(number, &action, NULL); /* a valid signal */
	if (info->si_code <= 0 || (number != SIGSEGV && number != SIGBUS))
		(void)safe_syscall(SYS_tgkill, safe_syscall(SYS_getpid, 0),
				   safe_syscall(SYS_gettid, 0), number, 0);
}

/*
 * Sends it again, to stay pending until the program unblocks it: si_code says to whom it was sent.
 */
static void send_again(int number, siginfo_t *info)
{
	long pid = safe_syscall(SYS_getpid, 0);

	if (info->si_code == SI_TKILL)
		(void)safe_syscall(SYS_rt_tgsigqueueinfo, pid, safe_syscall(SYS_gettid, 0), number,
				   SAFE_POINTER(info), 0);
	else
		(void)safe_syscall(SYS_rt_sigqueueinfo, pid, number, SAFE_POINTER(info), 0);
}

/* Does what would have happened without us. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	struct sigaction action = *wish_of(number);

	if (action.sa_flags & (int)SA_RESETHAND) {
		struct sigaction reset = {.sa_handler = SIG_DFL};

		(void)sigaction(number, &reset, NULL);
	}
	if (action.sa_handler == SIG_IGN && (info->si_code <= 0 || number == SIGPROF))
		return;
	if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
		act_by_default(number, info);
	else if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
}

static void on_tick(int number, siginfo_t *info, void *context)
{
	int code = errno;

	/* A late tick of our own timer: the program never requested it. */
	if (tick_handler_tick(info, context) || tick_handler_is_own_timer(info))
		;
	else if (signals_hold(number, context))
		send_again(number, info);
	else
		pass_on(number, info, context);
	errno = code;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	if (!tick_handler_fault(context))
		pass_on(number, info, context);
}

/* Installs our handler, with the flags and mask of the program's. */
static void install(int number, const struct sigaction *wish)
{
	bool fault = number == SIGSEGV || number == SIGBUS;
	bool has_handler = wish->sa_handler != SIG_DFL && wish->sa_handler != SIG_IGN;
	struct sigaction action = {.sa_sigaction = fault ? on_fault : on_tick};

	/* Ignored signals stay ignored after exec. */
	if (wish->sa_handler == SIG_IGN && (fault || number != signals_tick())) {
		(void)REAL(sigaction)(number, wish, NULL); /* a valid signal */
		return;
	}
	if (has_handler) {
		action.sa_flags = (int)((unsigned int)wish->sa_flags & ~(unsigned int)SA_RESETHAND);
		action.sa_mask = wish->sa_mask;
	} else {
		action.sa_flags =
			SA_RESTART | (fault || !atomic_load(&small_stacks) ? SA_ONSTACK : 0);
		(void)sigfillset(&action.sa_mask);
		for (const int *at = (const int[]){SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, 0};
		     *at; at++)
			(void)sigdelset(&action.sa_mask, *at);
	}
	action.sa_flags |= SA_SIGINFO;
	(void)REAL(sigaction)(number, &action, NULL); /* a valid signal */
}

static void set_wish(int number, const struct sigaction *action)
{
	struct wish *wish = &wishes[number];
	uint32_t next = atomic_load(&wish->current) ^ 1;

	wish->actions[next] = *action;
	atomic_store(&wish->current, next);
}

static void take(int number)
{
	struct sigaction before = {.sa_flags = 0};

	if (REAL(sigaction)(number, NULL, &before) < 0)
		return;
	set_wish(number, &before);
	atomic_store(&wishes[number].taken, 1);
	install(number, &before);
}

/* A real-time signal that the program does not use, starting at the highest. */
static int free_signal(void)
{
	for (int number = SIGRTMAX - 1; number > SIGRTMIN; number--) {
		struct sigaction action = {.sa_flags = 0};

		if (!is_taken(number) && REAL(sigaction)(number, NULL, &action) == 0 &&
		    action.sa_handler == SIG_DFL)
			return number;
	}
	return 0;
}

static void unblock(int number)
{
	uint64_t set = 1ull << (number - 1);

	(void)safe_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, SAFE_POINTER(&set), 0, sizeof(set));
}

static void tick_by(int number)
{
	atomic_store(&preload.process->signal, (uint32_t)number);
	take(number);
	unblock(number);
}

bool signals_set_up(void)
{
	struct sigaction action = {.sa_flags = 0};
	uint64_t blocked = 0;
	int number = SIGPROF;

	take(SIGSEGV);
	take(SIGBUS);
	if (!(atomic_load(&preload.control->mode) & (SESSION_CPU | SESSION_WALL)))
		return true; /* no ticks */
	(void)safe_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, SAFE_POINTER(&blocked),
			   sizeof(blocked));
	if (REAL(sigaction)(SIGPROF, NULL, &action) < 0 || action.sa_handler != SIG_DFL ||
	    (blocked >> (SIGPROF - 1) & 1)) {
		number = free_signal();
		atomic_store(&preload.process->own_signal, 1);
	}
	if (number == 0)
		return false;
	tick_by(number);
	return true;
}

/* The program wants the signal of our ticks: leaves it to the program. */
void signals_make_way(void)
{
	int number = signals_tick() == SIGPROF ? free_signal() : 0;

	if (number == 0)
		return; /* then it is shared */
	tick_by(number);
	atomic_store(&preload.process->own_signal, 1);
	thread_rearm_all();
}

bool signals_is_other_process(void)
{
	return preload.process && (uint32_t)safe_syscall(SYS_getpid, 0) != preload.pid;
}

PRELOAD_EXPORT int sigaction(int number, const struct sigaction *restrict action,
			     struct sigaction *restrict old)
{
	struct sigaction before;

	if (!preload.process || !is_taken(number))
		return REAL(sigaction)(number, action, old);
	before = *wish_of(number);
	if (action && signals_is_other_process()) {
		int r = REAL(sigaction)(number, action, NULL);

		if (r == 0 && old)
			*old = before;
		return r;
	}
	if (action) {
		set_wish(number, action);
		if (number == signals_tick() && action->sa_handler != SIG_DFL)
			signals_make_way();
		install(number, action);
	}
	if (old)
		*old = before;
	return 0;
}

/* The older interfaces for the same. */
static sighandler_t set_handler(int number, sighandler_t handler, int flags, bool defer)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
	struct sigaction old;

	if (defer)
		(void)sigaddset(&action.sa_mask, number);
	return sigaction(number, &action, &old) < 0 ? SIG_ERR : old.sa_handler;
}

REAL_DEFINE(sigaltstack);
PRELOAD_EXPORT int sigaltstack(const stack_t *restrict stack, stack_t *restrict old)
{
	int r = REAL(sigaltstack)(stack, old);

	if (r == 0 && stack && !(stack->ss_flags & SS_DISABLE) && stack->ss_size < ROOMY_BYTES &&
	    signals_tick() > 0 && !signals_is_other_process() &&
	    atomic_exchange(&small_stacks, 1) == 0)
		install(signals_tick(), wish_of(signals_tick()));
	return r;
}

REAL_DEFINE(signal);
REAL_DEFINE(sysv_signal);

PRELOAD_EXPORT sighandler_t signal(int number, sighandler_t handler)
{
	if (!preload.process || !is_taken(number))
		return REAL(signal)(number, handler);
	return set_handler(number, handler, SA_RESTART, true);
}

PRELOAD_EXPORT sighandler_t sysv_signal(int number, sighandler_t handler)
{
	if (!preload.process || !is_taken(number))
		return REAL(sysv_signal)(number, handler);
	return set_handler(number, handler, (int)(SA_RESETHAND | SA_NODEFER), false);
}

/* The name that <signal.h> gives sysv_signal() in strict modes. */
PRELOAD_EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler)
{
	return sysv_signal(number, handler);
}

extern sighandler_t bsd_signal(int number, sighandler_t handler); /* no longer in headers */
PRELOAD_EXPORT sighandler_t bsd_signal(int number, sighandler_t handler)
{
	return signal(number, handler);
}

PRELOAD_EXPORT sighandler_t ssignal(int number, sighandler_t handler)
{
	return signal(number, handler);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* programs still use it */

/* Holds or releases a signal, and returns its previous state. */
REAL_DEFINE(sigset);
PRELOAD_EXPORT sighandler_t sigset(int number, sighandler_t handler)
{
	bool hold = handler == SIG_HOLD;
	sighandler_t before;
	sigset_t masked;
	sigset_t set;

	if (!preload.process || !is_taken(number))
		return REAL(sigset)(number, handler);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, number);
	before = hold ? wish_of(number)->sa_handler : set_handler(number, handler, 0, true);
	(void)sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &set, &masked);
	return before != SIG_ERR && sigismember(&masked, number) == 1 ? SIG_HOLD : before;
}

#pragma GCC diagnostic pop
