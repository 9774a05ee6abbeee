/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PTRACE_INJECT_H
#define WICK_ENGINE_PTRACE_INJECT_H

/*
 * inject: makes a stopped thread of another process execute a system call.
 *
 * The thread is in a PTRACE_INTERRUPT stop before and after, with its registers and signal mask
 * unchanged: a system call that it was interrupted in restarts as if nothing had happened.
 */

#include <stdint.h>
#include <sys/types.h>

struct inject_call {
	long number;
	long arguments[6];
};

/* The thread that makes the call, and from where. */
struct inject_place {
	pid_t tid;
	uint64_t address;   /* of the system call instruction */
	const char *sleeps; /* /proc/TID/syscall before it was interrupted */
};

/*
 * Makes the call. *ret is its result; *ret_child is a thread or process that it created, also
 * stopped, or 0. Returns 0 or a negative errno: then it is unknown whether the call was made, but
 * the registers are restored.
 */
int inject(const struct inject_place *place, const struct inject_call *call, long *ret,
	   pid_t *ret_child);

/* Waits for a stop of a thread; leaves its exit status to others. Returns the status, or -errno. */
int inject_wait(pid_t tid, uint64_t patience_ns);

#endif
