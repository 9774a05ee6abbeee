/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_REGISTERS_H
#define WICK_PROCESS_STACKS_REGISTERS_H

/*
 * registers: the general registers of a thread in DWARF order, from the orders that ptrace and perf
 * use. Only for this machine's CPU.
 */

#include <stdint.h>
#include <sys/types.h>

#include "unwind/arch/arch.h"

struct registers {
	uint64_t pc;
	uint64_t values[UNWIND_REGISTERS]; /* by DWARF number; 0 where there is no register */
};

/* Reads a thread that is in a ptrace stop of the caller. Returns 0 or a negative errno. */
int registers_of_thread(pid_t tid, struct registers *ret);

/* The thread pointer of such a thread: where its thread-local variables are. */
int registers_thread_pointer(pid_t tid, uint64_t *ret);

/*
 * The number and the first argument of the system call that such a thread was in. It must have been
 * asleep when it was asked to stop: these registers of a running thread mean nothing. The number of
 * a call that is continued after a stop is that of restart_syscall.
 */
int registers_system_call(pid_t tid, uint64_t *ret_number, uint64_t *ret_argument);

/*
 * From a perf sample: values has one word for each bit of mask (sample_regs_user), lowest first.
 * Returns -EINVAL if the mask lacks registers that a walk needs.
 */
int registers_of_sample(uint64_t mask, const void *values, struct registers *ret);

/*
 * Puts the register with the return address of a leaf into values, which are by DWARF number.
 * -EINVAL if the mask lacks it, -ENOTSUP if the CPU has none.
 */
int registers_link(uint64_t mask, const void *perf_values, uint64_t *values);

/* The mask to request from perf: all registers with a DWARF number, and pc. */
uint64_t registers_perf_mask(void);

#endif
