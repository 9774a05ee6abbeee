/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_SWITCH_OUT_H
#define WICK_BPF_SWITCH_OUT_H

/* switch_out: the current task leaves its CPU: what is kept about it until it is back. */

#include "bpf/arch/native.h"
#include "bpf/kernel.h"
#include "bpf/lock.h"
#include "bpf/maps.h"
#include "bpf/offcpu_maps.h"
#include "bpf/offcpu_place.h"
#include "bpf/python_code.h"
#include "bpf/scratch.h"
#include "bpf/settings.h"
#include "bpf/take_stack.h"
#include "bpf/task_id.h"
#include "bpf/watched_tasks.h"
#include "wire/bpf_offcpu.h"
#include "wire/bpf_walk.h"

/* What is kept about a thread that leaves its CPU; NULL: it is not watched. */
static __always_inline struct bpf_walk_away *away_of(const struct task_struct *task)
{
	uint32_t tid = (uint32_t)task->pid;
	uint32_t cpu = bpf_get_smp_processor_id();
	struct bpf_walk_away *from = bpf_map_lookup_elem(&away, &tid);
	struct scratch *scratch;

	/* A thread that left before is watched, unless it has moved to another control group. */
	if (from)
		return watch_by != BPF_WALK_BY_CGROUP || is_watched(task) ? from : NULL;
	scratch = is_watched(task) ? bpf_map_lookup_elem(&switch_scratch, &cpu) : NULL;
	if (!scratch)
		return NULL;
	if (bpf_map_update_elem(&away, &tid, &scratch->away, BPF_ANY) == 0)
		return bpf_map_lookup_elem(&away, &tid);
	count(BPF_WALK_COUNT_AWAY_FULL);
	return NULL;
}

/* Takes the stack of the current task. */
static __always_inline void take_stack(void *ctx, struct task_struct *task, struct scratch *scratch,
				       struct bpf_walk_away *from)
{
	uint32_t pcs;

	from->times.tid = thread_id(task);
	from->times.tgid = process_id(task);
	BPF_CORE_READ_INTO(&from->times.comm, task, comm);
	begin_record(task, scratch);
	if (with_kernel)
		capture_kernel(ctx, scratch);
	from->head = scratch->record.stack.head;
	from->head.kind = BPF_WALK_AWAY;
	if (from->head.key.mm != 0 && saved_registers(task, scratch) && !walk_user(task, scratch)) {
		/* The reader walks it, and the record that follows refers to it. */
		scratch->record.slice.head.value = from->times.tid;
		from->head.kernel_count = 0;
		if (send_slice(ctx, scratch, BPF_WALK_LEAVING)) {
			from->head.kind = BPF_WALK_AWAY_SLICE;
		} else {
			from->head.end = UNWIND_UNREADABLE; /* at least the time is known */
			count(BPF_WALK_COUNT_NO_STACK);
		}
		return;
	}
	send_codes(ctx, scratch);
	from->head.user_count = scratch->record.stack.head.user_count;
	from->head.end = scratch->record.stack.head.end;
	pcs = from->head.kernel_count + from->head.user_count;
	if (pcs > BPF_WALK_AWAY_DEPTH) {
		pcs = BPF_WALK_AWAY_DEPTH;
		from->head.user_count = pcs - from->head.kernel_count;
		from->head.end = UNWIND_DEPTH;
	}
	bpf_probe_read_kernel(from->pcs, pcs * 8, scratch->record.stack.pcs);
}

/*
 * Where the current task is in its program. Not inlined: what it keeps on the stack would count
 * against the 512 bytes that the program shares with the steps of the walk.
 */
static __noinline void find_position(struct task_struct *task, uint32_t state, struct position *ret)
{
	const struct cpu_registers *saved = (const void *)bpf_task_pt_regs(task);
	struct cpu_position position;

	ret->pc = ret->sp = ret->lock = 0;
	ret->state = state;
	ret->zero = 0;
	if (state == BPF_WALK_PREEMPTED || !task->mm)
		return;
	bpf_probe_read_kernel(&position, sizeof(position), CPU_POSITION(saved));
	ret->pc = position.pc;
	ret->sp = position.sp;
	if (state == BPF_WALK_SLEEPING)
		ret->lock = lock_of(saved, &position);
}

/* The current task leaves its CPU. */
static __always_inline void note_leaving(void *ctx, struct bpf_walk_away *from, uint32_t state,
					 uint64_t now_ns)
{
	uint32_t cpu = bpf_get_smp_processor_id();
	struct scratch *scratch = bpf_map_lookup_elem(&switch_scratch, &cpu);
	struct task_struct *task = bpf_get_current_task_btf();
	struct bpf_walk_place *place;
	struct position at;

	if (!scratch)
		return;
	if (from->times.back_ns != 0)
		count_more(BPF_WALK_COUNT_RUN_NS, now_ns - from->times.back_ns);
	from->times.state = state;
	from->times.left_ns = 0;
	from->times.woken_ns = 0;
	find_position(task, state, &at);
	from->times.lock = at.lock;
	if (at.sp != 0)
		bpf_probe_read_user(scratch->window, WINDOW_BYTES, (void *)at.sp);
	place = enter_place(ctx, scratch, from, &at, now_ns);
	from->taken = is_due(place, now_ns);
	if (from->taken) {
		take_stack(ctx, task, scratch, from);
		if (at.sp != 0 && !place->has_calls && from->head.kind == BPF_WALK_AWAY)
			learn_calls(scratch, place);
	}
	from->times.left_ns = now_ns;
}

#endif
