/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ptrace/inject.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/ptrace/arch/thread_arch.h"

/* Only for the injected call: children that a thread creates itself are not ours. */
#define OPTIONS (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE)
#define STEP_NS 50000
/*
 * A redirected thread must be restored, which requires it to stop: we wait for it, however long it
 * waits for a CPU.
 */
#define FOREVER_NS (UINT64_MAX / 2)
#define MASK_BYTES 8u
/* Limit for other stops before the expected one. */
#define MOST_STOPS 64u

/*
 * Whether a thread has ended; leaves its status to be collected. Linux also reports stops to a
 * tracer that asks only for exits, so a new stop is not an end.
 */
static bool has_ended(pid_t tid)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)tid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 &&
	       info.si_pid == tid &&
	       (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
		info.si_code == CLD_DUMPED);
}

int inject_wait(pid_t tid, uint64_t patience_ns)
{
	uint64_t until_ns = clock_monotonic_ns() + patience_ns;

	for (;;) {
		siginfo_t info = {0};
		int r = waitid(P_PID, (id_t)tid, &info, WSTOPPED | WNOHANG | __WALL) < 0 ? -errno
											 : 0;

		if (r == 0 && info.si_pid == tid)
			return info.si_status;
		/* An ended thread may never stop: that is an error. */
		if (has_ended(tid))
			return -ESRCH;
		if (r < 0)
			return r;
		if (clock_monotonic_ns() >= until_ns)
			return -ETIMEDOUT;
		(void)nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
	}
}

static int get_registers(pid_t tid, struct user_regs_struct *ret)
{
	struct iovec room = {ret, sizeof(*ret)};

	return ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &room) < 0 ? -errno
											: 0;
}

static int set_registers(pid_t tid, const struct user_regs_struct *registers)
{
	struct user_regs_struct copy = *registers;
	struct iovec room = {&copy, sizeof(copy)};

	return ptrace(PTRACE_SETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &room) < 0 ? -errno
											: 0;
}

/* Runs it from stop to stop until it has made the call. */
static int run_call(pid_t tid, long *ret, pid_t *ret_child, bool *ret_stopped)
{
	struct user_regs_struct registers = {0};
	unsigned int call_stops = 0;

	for (unsigned int i = 0; i < MOST_STOPS && call_stops < 2; i++) {
		unsigned long child = 0;
		int status;

		if (ptrace(PTRACE_SYSCALL, tid, NULL, NULL) < 0)
			return -errno;
		status = inject_wait(tid, FOREVER_NS);
		if (status < 0)
			return status;
		call_stops += status == (SIGTRAP | 0x80);
		*ret_stopped |= status == SIGSTOP; /* the only possible signal, which can wait */
		if (status == (SIGTRAP | PTRACE_EVENT_CLONE << 8) &&
		    ptrace(PTRACE_GETEVENTMSG, tid, NULL, &child) == 0)
			*ret_child = (pid_t)child;
	}
	if (call_stops < 2 || get_registers(tid, &registers) < 0)
		return -EIO;
	*ret = thread_arch_result(&registers);
	return 0;
}

/*
 * Brings it to a stop from which interrupted calls are restarted, unlike the stop at the end of a
 * call.
 */
static int stop_again(pid_t tid)
{
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0 ||
	    ptrace(PTRACE_CONT, tid, NULL, NULL) < 0)
		return -errno;
	return inject_wait(tid, FOREVER_NS);
}

int inject(const struct inject_place *place, const struct inject_call *call, long *ret,
	   pid_t *ret_child)
{
	struct user_regs_struct before = {0};
	struct user_regs_struct registers;
	uint64_t all = ~0ull;
	uint64_t mask;
	bool stopped = false;
	int r = get_registers(place->tid, &before);

	*ret_child = 0;
	if (r < 0)
		return r;
	if (ptrace(PTRACE_SETOPTIONS, place->tid, NULL, (void *)(uintptr_t)OPTIONS) < 0 ||
	    ptrace(PTRACE_GETSIGMASK, place->tid, (void *)(uintptr_t)MASK_BYTES, &mask) < 0 ||
	    ptrace(PTRACE_SETSIGMASK, place->tid, (void *)(uintptr_t)MASK_BYTES, &all) < 0)
		return -errno;
	registers = before;
	thread_arch_aim(&registers, place->address, call);
	r = set_registers(place->tid, &registers);
	if (r == 0)
		r = run_call(place->tid, ret, ret_child, &stopped);
	if (r == 0)
		r = stop_again(place->tid);
	thread_arch_settle(&before, place->sleeps);
	/* In any case it is restored, or it is gone. */
	(void)set_registers(place->tid, &before);
	(void)ptrace(PTRACE_SETSIGMASK, place->tid, (void *)(uintptr_t)MASK_BYTES, &mask);
	(void)ptrace(PTRACE_SETOPTIONS, place->tid, NULL, NULL);
	if (stopped) /* the program was stopped meanwhile: it stops again on resume */
		(void)syscall(SYS_tkill, place->tid, SIGSTOP);
	return r < 0 ? r : 0;
}
