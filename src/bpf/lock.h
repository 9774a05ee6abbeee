/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_LOCK_H
#define WICK_BPF_LOCK_H

/*
 * lock: which lock a task waits for. Mutexes, condition variables, semaphores and the like of all
 * languages wait in one system call: futex. Its arguments are in the registers that the task had
 * when it entered the kernel; a lock is identified by its address.
 */

#include "bpf/arch/native.h"
#include "bpf/kernel.h"

#define CALL_FUTEX_WAIT 455 /* since Linux 6.7; the same number on every CPU */

#define FUTEX_FLAGS 0x180u /* private to a process, and which clock */
/* FUTEX_WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI and LOCK_PI2; the others do not wait. */
#define FUTEX_WAITS (1u << 0 | 1u << 6 | 1u << 9 | 1u << 11 | 1u << 13)

/* The address of the lock that a task in the kernel waits for; 0: not a lock. */
static __always_inline uint64_t lock_of(const struct cpu_registers *saved,
					const struct cpu_position *position)
{
	uint32_t operation;

	if (CPU_CALL_IS_FOREIGN(position))
		return 0;
	if (CPU_CALL(position) == CALL_FUTEX_WAIT)
		return CPU_CALL_ARGUMENT_0(position);
	if (CPU_CALL(position) != CALL_FUTEX)
		return 0;
	operation = (uint32_t)cpu_call_argument_1(saved, position) & ~FUTEX_FLAGS;
	return operation < 16 && (FUTEX_WAITS >> operation & 1) ? CPU_CALL_ARGUMENT_0(position) : 0;
}

#endif
