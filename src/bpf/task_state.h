/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_TASK_STATE_H
#define WICK_BPF_TASK_STATE_H

/* task_state: why a task is off its CPU. */

#include "bpf/kernel.h"
#include "wire/bpf_walk.h"

#define TASK_RUNNING 0u
#define TASK_UNINTERRUPTIBLE 2u
#define TASK_IDLE 0x402u /* sleeps without reacting to signals, but not for a disk */
#define TASK_DEAD 0x80u

static __always_inline uint32_t state_of(const struct task_struct *task, bool preempted)
{
	uint32_t state = task->__state;

	if (preempted || state == TASK_RUNNING)
		return BPF_WALK_PREEMPTED;
	if (state & TASK_DEAD)
		return BPF_WALK_ENDED;
	if ((state & TASK_UNINTERRUPTIBLE) && (state & TASK_IDLE) != TASK_IDLE)
		return BPF_WALK_UNINTERRUPTIBLE;
	return BPF_WALK_SLEEPING;
}

#endif
