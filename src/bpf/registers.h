/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_REGISTERS_H
#define WICK_BPF_REGISTERS_H

/*
 * registers: the user registers of a sample, by their DWARF numbers. The layouts are the kernel's
 * ABI; only this file depends on the CPU.
 */

#include "bpf/kernel.h"
#include "wire/bpf_walk.h"

struct registers {
	uint64_t pc;
	uint64_t values[BPF_WALK_REGISTERS];
};

#if defined(__TARGET_ARCH_arm64)

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

#elif defined(__TARGET_ARCH_x86)

#include "unwind/arch/x86_64.h"

#define WALK_ARCH unwind_x86_64

struct cpu_registers {
	uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8;
	uint64_t rax, rcx, rdx, rsi, rdi, orig_rax;
	uint64_t rip, cs, eflags, rsp, ss;
};

static __always_inline bool registers_are_user(const struct cpu_registers *cpu)
{
	return (cpu->cs & 3) == 3;
}

static __always_inline bool registers_are_foreign(const struct cpu_registers *cpu)
{
	return cpu->cs == 0x23; /* the segment of 32-bit programs */
}

static __always_inline void registers_copy(struct registers *to, const struct cpu_registers *cpu)
{
	to->values[0] = cpu->rax;
	to->values[1] = cpu->rdx;
	to->values[2] = cpu->rcx;
	to->values[3] = cpu->rbx;
	to->values[4] = cpu->rsi;
	to->values[5] = cpu->rdi;
	to->values[6] = cpu->rbp;
	to->values[7] = cpu->rsp;
	to->values[8] = cpu->r8;
	to->values[9] = cpu->r9;
	to->values[10] = cpu->r10;
	to->values[11] = cpu->r11;
	to->values[12] = cpu->r12;
	to->values[13] = cpu->r13;
	to->values[14] = cpu->r14;
	to->values[15] = cpu->r15;
	to->pc = cpu->rip;
}

/* At the first instruction of a function. */
#define CALL_BYTES 8 /* that a return pops from the stack */
#define CPU_PC(cpu) ((cpu)->rip)
#define CPU_SP(cpu) ((cpu)->rsp)

/* Where a task is in its program, as laid out in memory, and which system call it is in. */
struct cpu_position {
	uint64_t argument_1, argument_0, call;
	uint64_t pc, cs, eflags, sp;
};

#define CPU_POSITION(cpu) (&(cpu)->rsi)

#define CALL_FUTEX 202
#define CPU_CALL(position) ((position)->call)
#define CPU_CALL_ARGUMENT_0(position) ((position)->argument_0)
#define CPU_CALL_IS_FOREIGN(position) ((position)->cs == 0x23)

static __always_inline uint64_t cpu_call_argument_1(const struct cpu_registers *saved,
						    const struct cpu_position *position)
{
	(void)saved;
	return position->argument_1;
}

#define CPU_RESULT(cpu) ((cpu)->rax)
#define CPU_ARGUMENT_0(cpu) ((cpu)->rdi)
#define CPU_ARGUMENT_1(cpu) ((cpu)->rsi)
#define CPU_ARGUMENT_2(cpu) ((cpu)->rdx)

static __always_inline uint64_t registers_return_address(const struct cpu_registers *cpu)
{
	uint64_t address = 0;

	(void)bpf_probe_read_user(&address, sizeof(address), (void *)cpu->rsp); /* 0 on failure */
	return address;
}

static __always_inline void registers_forget_call(struct registers *to)
{
	(void)to;
}

#else
#error "no registers of this CPU"
#endif

#endif
