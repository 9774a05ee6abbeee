/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sleepers: the threads that are already off their CPUs when recording starts, with their registers
 * and where they are in the kernel. The kernel runs this program for all its tasks whenever
 * somebody reads from it; the reader reads their stacks itself.
 */

#include "bpf/arch/native.h"
#include "bpf/kernel.h"
#include "bpf/scratch.h"
#include "bpf/settings.h"
#include "bpf/switch_out.h"
#include "bpf/take_stack.h"
#include "bpf/task_id.h"
#include "bpf/task_iterator.h"
#include "bpf/task_state.h"
#include "bpf/watched_tasks.h"
#include "wire/bpf_walk.h"

/* For the reader, which may be interrupted by others that leave their CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct scratch);
} sleeper_scratch SEC(".maps");

SEC("iter/task")
int sleepers(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct seq_file *seq = ctx->meta->seq;
	uint32_t zero = 0;
	struct scratch *scratch = bpf_map_lookup_elem(&sleeper_scratch, &zero);
	struct bpf_walk_slice *slice;
	struct position at;
	uint32_t state;
	long bytes = 0;

	if (!task || !scratch)
		return 0;
	state = state_of(task, false);
	/* is_watched() checks the control group of the current task, which is not this one. */
	if (state == BPF_WALK_PREEMPTED || state == BPF_WALK_ENDED ||
	    (watch_by != BPF_WALK_BY_CGROUP && !is_watched(task)))
		return 0;
	slice = &scratch->record.slice;
	begin_record(task, scratch);
	slice->head.kind = BPF_WALK_LEAVING;
	slice->head.key.tgid = (uint32_t)BPF_CORE_READ(task, tgid);
	slice->head.value = BPF_WALK_SLEEPER_VALUE(thread_id(task), state);
	slice->task = (uint32_t)BPF_CORE_READ(task, pid);
	slice->pid = process_id(task);
	find_position(task, state, &at);
	slice->lock = at.lock;
	name_task(task, &slice->name);
	slice->thread_pointer = thread_pointer_of(task);
	if (with_kernel)
		bytes = bpf_get_task_stack(task, slice->pcs, (BPF_WALK_KERNEL_DEPTH - 1) * 8, 0);
	slice->head.kernel_count = bytes > 0 ? (uint16_t)((uint64_t)bytes / 8) : 0;
	slice->pc = 0;
	slice->stack_bytes = 0;
	slice->parent_pid = 0;
	if (slice->head.key.mm != 0 && saved_registers(task, scratch)) {
		slice->pc = scratch->registers.pc;
#pragma unroll
		for (uint32_t i = 0; i < BPF_WALK_REGISTERS; i++)
			slice->registers[i] = scratch->registers.values[i];
	}
	bpf_seq_write(seq, slice, offsetof(struct bpf_walk_slice, stack));
	return 0;
}
