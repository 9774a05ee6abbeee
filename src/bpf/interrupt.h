/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_INTERRUPT_H
#define WICK_BPF_INTERRUPT_H

/*
 * interrupt: whether the kernel works on behalf of the current task, or on something else that only
 * borrows its CPU. The kernel counts that in its preempt_count, which each CPU architecture keeps
 * in a different place. If a kernel does not export it (on x86-64 without CONFIG_KALLSYMS_ALL), the
 * reader decides by the stack.
 */

#include "bpf/arch/native.h"
#include "bpf/kernel.h"
#include "wire/bpf_walk.h"

#define SOFTIRQ_SERVED 0x100u
#define HARDIRQ_OR_NMI 0xff0000u

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
