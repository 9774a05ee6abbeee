/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_ARCH_X86_64_H
#define WICK_BPF_ARCH_X86_64_H

/* x86_64: see bpf/arch/native.h. The layouts are the kernel's ABI. */

#include "bpf/arch/register_set.h"
#include "bpf/kernel.h"
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

#if defined(WITH_KERNEL_VARIABLES)

/*
 * The count moved to pcpu_hot in Linux 6.2 and back in 6.15, so one of the two is missing. To be
 * sure of that, libbpf searches all modules, which only root may do. A kernel whose BTF has a
 * variable that its kallsyms leave out refuses the programs. So they are built twice, and these are
 * loaded first if wakers are requested.
 */
struct pcpu_hot {
	int preempt_count;
} KERNEL_TYPE;

extern const int __preempt_count __ksym __weak;
extern const struct pcpu_hot pcpu_hot __ksym __weak;

static __always_inline bool preempt_count(const struct task_struct *task, uint32_t *ret)
{
	(void)task;
	if (&__preempt_count)
		*ret = (uint32_t) * (const int *)bpf_this_cpu_ptr(&__preempt_count);
	else if (&pcpu_hot)
		*ret = (uint32_t)((const struct pcpu_hot *)bpf_this_cpu_ptr(&pcpu_hot))
			       ->preempt_count;
	else
		return false;
	return true;
}

#else

static __always_inline bool preempt_count(const struct task_struct *task, uint32_t *ret)
{
	(void)task;
	(void)ret;
	return false;
}

#endif

/* A new program asks the kernel to set it. */
#define THREAD_POINTER_MAY_BE_OLD 0

static __always_inline uint64_t thread_pointer_of(const struct task_struct *task)
{
	return BPF_CORE_READ(task, thread.fsbase);
}

#endif
