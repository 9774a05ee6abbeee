/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_INTERRUPT_H
#define WICK_BPF_INTERRUPT_H

/*
 * interrupt: whether the kernel works on behalf of the current task, or on something else that only
 * borrows its CPU. The kernel counts that in its preempt_count, which each CPU architecture keeps
 * in a different place. If a kernel does not export it (on x86-64 without CONFIG_KALLSYMS_ALL), the
 * reader decides by the stack.
 */

#include "bpf/kernel.h"
#include "wire/bpf_walk.h"

#define SOFTIRQ_SERVED 0x100u
#define HARDIRQ_OR_NMI 0xff0000u

#if defined(__TARGET_ARCH_arm64)

static __always_inline bool preempt_count(const struct task_struct *task, uint32_t *ret)
{
	*ret = (uint32_t)BPF_CORE_READ(task, thread_info.preempt_count);
	return true;
}

#elif defined(WITH_KERNEL_VARIABLES)

/*
 * It moved there in Linux 6.2 and back in 6.15, so one of the two is missing. To be sure of that,
 * libbpf searches all modules, which only root may do. A kernel whose BTF has a variable that its
 * kallsyms leave out refuses the programs. So they are built twice, and these are loaded first if
 * wakers are requested.
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

static __always_inline uint64_t waker_context(const struct task_struct *task)
{
	uint32_t count;

	if (!preempt_count(task, &count))
		return BPF_WALK_BY_UNKNOWN;
	if (count & HARDIRQ_OR_NMI)
		return BPF_WALK_BY_INTERRUPT;
	return count & SOFTIRQ_SERVED ? BPF_WALK_BY_SOFTIRQ : BPF_WALK_BY_TASK;
}

#endif
