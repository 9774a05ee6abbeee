/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/runtime.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <time.h>

#include "preload/heap/exit_scan.h"
#include "preload/heap/heap.h"
#include "preload/heap/heap_memory.h"
#include "preload/heap/heap_total.h"
#include "preload/heap/hook.h"
#include "preload/interpose/signals.h"
#include "preload/sampling/process_timer.h"
#include "preload/self_start.h"
#include "preload/session_file.h"
#include "preload/thread.h"
#include "safe/clock.h"
#include "safe/syscall.h"

/* The program starts when the recorder has built its tables, but no later than this. */
#define WAIT_NS 100000000ull

#define PYTHON_WORDS (sizeof(((struct session_process *)0)->python) / 8)

struct preload_runtime preload;
__thread struct preload_thread *preload_self __attribute__((tls_model("initial-exec")));

void preload_give_up(enum session_process_state state)
{
	atomic_store(&preload.mode, 0);
	heap_end();
	if (preload.process)
		atomic_store(&preload.process->state, state);
}

/* Waits for the first list of modules. */
static void wait_for_modules(void)
{
	uint64_t end_ns = safe_clock_ns(CLOCK_MONOTONIC) + WAIT_NS;
	uint64_t now_ns;

	while (atomic_load(&preload.process->maps_known) == 0 &&
	       (now_ns = safe_clock_ns(CLOCK_MONOTONIC)) < end_ns) {
		struct timespec left = {.tv_nsec = (long)(end_ns - now_ns)};

		(void)safe_syscall(SYS_futex, SAFE_POINTER(&preload.process->maps_known),
				   FUTEX_WAIT, 0, SAFE_POINTER(&left), 0, 0);
	}
}

/*
 * A child of fork has a copy of everything except timers and other threads. It becomes a separate
 * process, and must not write to what it shares with its parent.
 */
static void on_fork(void)
{
	uint32_t mode = atomic_exchange(&preload.mode, 0);
	uint32_t signal = preload.process ? atomic_load(&preload.process->signal) : 0;
	uint32_t parent = preload.pid;
	struct preload_thread *forked = preload_self; /* we now own its memory */
	uint64_t python[PYTHON_WORDS] = {0};
	uint32_t only_pid;

	heap_end();
	preload.pid = (uint32_t)safe_syscall(SYS_getpid, 0);
	if (mode == 0)
		return;
	thread_forget_all();
	process_timer_forget();
	for (uint32_t i = 0; i < PYTHON_WORDS; i++)
		python[i] = atomic_load(&preload.process->python[i]);
	session_file_leave();
	only_pid = atomic_load(&preload.control->only_pid);
	if (only_pid != 0 && only_pid != preload.pid)
		return;
	if (atomic_load(&preload.control->mode) == 0 || !session_file_create(parent))
		return;
	atomic_store(&preload.process->signal, signal);
	for (uint32_t i = PYTHON_WORDS; i-- > 0;) /* the first one last */
		atomic_store(&preload.process->python[i], python[i]);
	atomic_store(&preload.unsure_until, 0);
	exit_scan_forked();
	atomic_store(&preload.mode, mode);
	if (forked)
		thread_begin_forked(forked);
	else
		thread_begin_main();
	heap_resume();
	hooks_tell();
	session_file_wake();
}

static uint32_t jiffy_ns(void)
{
	struct timespec step = {.tv_nsec = 4000000};

	(void)safe_syscall(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, SAFE_POINTER(&step));
	return (uint32_t)step.tv_nsec;
}

static bool find_session(void)
{
	bool alone = !getenv(SESSION_VARIABLE);

	/* A program with raised privileges must ignore the environment. */
	if (getauxval(AT_SECURE) || (alone && !self_start_begin()))
		return false;
	if (session_file_find())
		return true;
	if (alone)
		self_start_tell_stranger();
	return false;
}

void preload_begin(void)
{
	if (preload.begun)
		return;
	preload.begun = true;
	if (!find_session() || !session_file_create(0))
		return;
	preload.unwind.pac_mask = UNWIND_PAC_MASK;
	preload.jiffy_ns = jiffy_ns();
	thread_set_up();
	if (!signals_set_up() || pthread_atfork(NULL, NULL, on_fork) != 0)
		return;
	exit_scan_begin();
	session_file_wake();
	wait_for_modules();
	atomic_store(&preload.mode, atomic_load(&preload.control->mode));
	thread_begin_main();
}

/* An earlier allocation starts recording then: see heap.c. */
__attribute__((constructor(102))) static void begin(void)
{
	heap_begin();
}

__attribute__((destructor)) static void end(void)
{
	if (preload_active() && preload_self)
		heap_total_flush(preload_self);
	/* Other destructors free memory after this. */
	if (preload_active() && !(atomic_load(&preload.mode) & SESSION_HEAP))
		preload_give_up(SESSION_PROCESS_ENDED);
}
