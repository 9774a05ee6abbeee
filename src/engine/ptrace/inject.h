/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PTRACE_INJECT_H
#define WICK_ENGINE_PTRACE_INJECT_H

/*
 * inject: a call of the kernel that another thread is led to make while it is held.
 *
 * The thread is in the stop that PTRACE_INTERRUPT brought, and is in such a stop again afterwards,
 * with all registers and its mask as they were: a call that it was interrupted in is restarted
 * from there as if nothing had been.
 */

#include <stdint.h>
#include <sys/types.h>

struct inject_call {
	long number;
	long arguments[6];
};

/* Where the call is made from, and by whom. */
struct inject_place {
	pid_t tid;
	uint64_t address;   /* of the instruction */
	const char *sleeps; /* /proc/TID/syscall before it was interrupted */
};

/*
 * Makes the call. *ret is what it returned; *ret_child is a thread or process that it made, held
 * as well, or 0. 0 or a negative errno: then nothing is known of the call, but the registers are
 * as they were.
 */
int inject(const struct inject_place *place, const struct inject_call *call, long *ret,
	   pid_t *ret_child);

/* Waits for a stop of a thread; its end is left to others. Returns the status, or -errno. */
int inject_wait(pid_t tid, uint64_t patience_ns);

#endif
