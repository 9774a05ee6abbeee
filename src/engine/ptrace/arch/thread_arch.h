/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PTRACE_ARCH_THREAD_ARCH_H
#define WICK_ENGINE_PTRACE_ARCH_THREAD_ARCH_H

/*
 * thread_arch: what the ptrace engine needs from a CPU: how a thread makes a system call, and
 * registers that only one CPU has. The build uses one <cpu>.c of this folder, which also has
 * vector_registers_read().
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct inject_call;

/* The system call instruction, and its alignment. */
struct thread_arch_call {
	uint8_t code[4];
	size_t bytes;
	size_t step_bytes;
};

extern const struct thread_arch_call thread_arch_call;

/* Sets the registers so that the thread makes a call at this address. */
void thread_arch_aim(struct user_regs_struct *registers, uint64_t address,
		     const struct inject_call *call);
long thread_arch_result(const struct user_regs_struct *registers);

/*
 * Prepares the registers of a thread that is to resume the call in which it was interrupted;
 * `sleeps` is its /proc/PID/syscall.
 */
void thread_arch_settle(struct user_regs_struct *registers, const char *sleeps);

/* The thread pointer of a thread in a ptrace stop; 0: unknown. */
uint64_t thread_arch_pointer(pid_t tid);

#endif
