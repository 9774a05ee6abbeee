/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_ARCH_AARCH64_H
#define WICK_BPF_ARCH_AARCH64_H

/* aarch64: see bpf/arch/native.h. The layouts are the kernel's ABI. */

#include "bpf/arch/register_set.h"
#include "bpf/kernel.h"
#include "unwind/arch/aarch64.h"

#define WALK_ARCH unwind_aarch64

struct cpu_registers {
	uint64_t x[31];
	uint64_t sp;
	uint64_t pc;
	uint64_t pstate;
};

static __always_inline bool registers_are_user(const struct cpu_registers *cpu)
{
	return (cpu->pstate & 0xf) == 0;
}

static __always_inline bool registers_are_foreign(const struct cpu_registers *cpu)
{
	return (cpu->pstate & 0x10) != 0; /* AArch32 */
}

static __always_inline void registers_copy(struct registers *to, const struct cpu_registers *cpu)
{
#pragma unroll
	for (int i = 0; i < 31; i++)
		to->values[i] = cpu->x[i];
	to->values[31] = cpu->sp;
	to->pc = cpu->pc;
}

/* At the first instruction of a function. */
#define CALL_BYTES 0 /* that a return pops from the stack */
#define CPU_PC(cpu) ((cpu)->pc)
#define CPU_SP(cpu) ((cpu)->sp)

/* Where a task is in its program, as laid out in memory, and which system call it is in. */
struct cpu_position {
	uint64_t sp, pc, pstate;
	uint64_t argument_0;
	int32_t call; /* -1: none */
	uint32_t zero;
};

#define CPU_POSITION(cpu) (&(cpu)->sp)

#define CALL_FUTEX 98
#define CPU_CALL(position) ((position)->call)
#define CPU_CALL_ARGUMENT_0(position) ((position)->argument_0)
#define CPU_CALL_IS_FOREIGN(position) (((position)->pstate & 0x10) != 0)

static __always_inline uint64_t cpu_call_argument_1(const struct cpu_registers *saved,
						    const struct cpu_position *position)
{
	uint64_t argument = UINT64_MAX;

	(void)position;
	(void)bpf_probe_read_kernel(&argument, sizeof(argument), &saved->x[1]); /* or none */
	return argument;
}

#define CPU_RESULT(cpu) ((cpu)->x[0])
#define CPU_ARGUMENT_0(cpu) ((cpu)->x[0])
#define CPU_ARGUMENT_1(cpu) ((cpu)->x[1])
#define CPU_ARGUMENT_2(cpu) ((cpu)->x[2])

static __always_inline uint64_t registers_return_address(const struct cpu_registers *cpu)
{
	return cpu->x[30];
}

/* Just after a call: the link register does not have the caller's return address. */
static __always_inline void registers_forget_call(struct registers *to)
{
	to->values[30] = 0;
}

static __always_inline bool preempt_count(const struct task_struct *task, uint32_t *ret)
{
	*ret = (uint32_t)BPF_CORE_READ(task, thread_info.preempt_count);
	return true;
}

/* A program sets it without the kernel, which learns it when the thread leaves its CPU. */
#define THREAD_POINTER_MAY_BE_OLD 1

static __always_inline uint64_t thread_pointer_of(const struct task_struct *task)
{
	return BPF_CORE_READ(task, thread.uw.tp_value);
}

#endif
