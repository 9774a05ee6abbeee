/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_OFFCPU_H
#define WICK_BPF_OFFCPU_H

/*
 * offcpu: how long threads are off their CPUs, and where they left them.
 *
 *	switch out	the stack is captured and kept
 *	wakeup		the moment is kept: what follows is waiting for a CPU
 *	switch in	the record is sent, with both times
 *
 * A stack must be taken when a thread leaves, for only then is its memory at hand;
 * but only those that stay away for long enough are sent.
 */

#include "bpf/capture.h"
#include "bpf/kernel.h"
#include "bpf/maps.h"
#include "bpf/scratch.h"
#include "bpf/settings.h"
#include "bpf/task_id.h"
#include "bpf/watch.h"
#include "wire/bpf_walk.h"

#define TASK_RUNNING 0u
#define TASK_UNINTERRUPTIBLE 2u
#define TASK_IDLE 0x402u /* sleeps without a signal, but not for a disk */
#define TASK_DEAD 0x80u

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct scratch);
} switch_scratch SEC(".maps");

/* Threads that are off their CPUs, by thread id as the kernel counts. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct bpf_walk_away);
} away SEC(".maps");

static __always_inline uint32_t state_of(const struct task_struct *task, bool preempted)
{
	uint32_t state = BPF_CORE_READ(task, __state);

	if (preempted || state == TASK_RUNNING)
		return BPF_WALK_PREEMPTED;
	if (state & TASK_DEAD)
		return BPF_WALK_ENDED;
	if ((state & TASK_UNINTERRUPTIBLE) && (state & TASK_IDLE) != TASK_IDLE)
		return BPF_WALK_UNINTERRUPTIBLE;
	return BPF_WALK_SLEEPING;
}

/* Keeps the stack of the task that leaves the CPU, which is the current one. */
static __always_inline void keep_stack(void *ctx, struct task_struct *task, uint32_t state)
{
	uint32_t cpu = bpf_get_smp_processor_id();
	struct scratch *scratch = bpf_map_lookup_elem(&switch_scratch, &cpu);
	uint32_t tid = (uint32_t)BPF_CORE_READ(task, pid);
	struct bpf_walk_away *place;
	uint32_t pcs;

	if (!scratch)
		return;
	place = bpf_map_lookup_elem(&away, &tid);
	if (!place) {
		if (bpf_map_update_elem(&away, &tid, &scratch->away, BPF_ANY) != 0) {
			count(BPF_WALK_COUNT_AWAY_FULL);
			return;
		}
		place = bpf_map_lookup_elem(&away, &tid);
		if (!place)
			return;
	}
	begin_record(task, scratch);
	if (with_kernel)
		capture_kernel(ctx, scratch);
	place->times.tid = thread_id(task);
	place->times.tgid = process_id(task);
	BPF_CORE_READ_INTO(&place->times.comm, task, comm);
	place->times.state = state;
	place->times.left_ns = bpf_ktime_get_ns();
	place->times.woken_ns = 0;
	place->head = scratch->record.stack.head;
	place->head.kind = BPF_WALK_AWAY;
	if (place->head.key.mm != 0 && saved_registers(task, scratch) &&
	    !walk_user(task, scratch)) {
		/* It is walked outside, and the record that follows refers to it. */
		scratch->record.slice.head.value = place->times.tid;
		place->head.kernel_count = 0;
		if (send_slice(ctx, scratch, BPF_WALK_LEAVING)) {
			place->head.kind = BPF_WALK_AWAY_SLICE;
		} else {
			place->head.end = UNWIND_UNREADABLE; /* the time is known at least */
			count(BPF_WALK_COUNT_NO_STACK);
		}
		return;
	}
	place->head.user_count = scratch->record.stack.head.user_count;
	place->head.end = scratch->record.stack.head.end;
	pcs = place->head.kernel_count + place->head.user_count;
	if (pcs > BPF_WALK_AWAY_DEPTH) {
		pcs = BPF_WALK_AWAY_DEPTH;
		place->head.user_count = pcs - place->head.kernel_count;
		place->head.end = UNWIND_DEPTH;
	}
	bpf_probe_read_kernel(place->pcs, pcs * 8, scratch->record.stack.pcs);
}

/* Sends the record of a task that gets the CPU again. */
static __always_inline void send_away(void *ctx, const struct task_struct *task)
{
	uint32_t tid = (uint32_t)BPF_CORE_READ(task, pid);
	struct bpf_walk_away *place = bpf_map_lookup_elem(&away, &tid);
	uint64_t now_ns;
	uint64_t size;

	if (!place || place->times.left_ns == 0)
		return;
	now_ns = bpf_ktime_get_ns();
	place->times.back_ns = now_ns;
	if (now_ns - place->times.left_ns >= least_away_ns) {
		size = offsetof(struct bpf_walk_away, pcs) +
		       (place->head.kernel_count + place->head.user_count) * 8ull;
		if (size <= sizeof(*place) &&
		    bpf_perf_event_output(ctx, &output, BPF_F_CURRENT_CPU, place, size) < 0)
			count(BPF_WALK_COUNT_LOST);
	} else {
		count(BPF_WALK_COUNT_SHORT);
	}
	place->times.left_ns = 0;
}

SEC("tp_btf/sched_switch")
int switched(uint64_t *ctx)
{
	bool preempted = ctx[0];
	struct task_struct *previous = (struct task_struct *)ctx[1];
	struct task_struct *next = (struct task_struct *)ctx[2];
	uint32_t tid = (uint32_t)BPF_CORE_READ(previous, pid);
	uint32_t state = state_of(previous, preempted);

	/* One that ends may be watched no more, but its place is to be free. */
	if (state == BPF_WALK_ENDED)
		bpf_map_delete_elem(&away, &tid);
	else if (tid != 0 && is_watched(previous))
		keep_stack(ctx, bpf_get_current_task_btf(), state);
	if (BPF_CORE_READ(next, pid) != 0)
		send_away(ctx, next);
	return 0;
}

static __always_inline void note_wakeup(const struct task_struct *task)
{
	uint32_t tid = (uint32_t)BPF_CORE_READ(task, pid);
	struct bpf_walk_away *place = bpf_map_lookup_elem(&away, &tid);

	if (place && place->times.left_ns != 0 && place->times.woken_ns == 0)
		place->times.woken_ns = bpf_ktime_get_ns();
}

SEC("tp_btf/sched_wakeup")
int woken(uint64_t *ctx)
{
	note_wakeup((const struct task_struct *)ctx[0]);
	return 0;
}

/* A new thread waits for its first CPU; where it will begin is all that is known of it. */
SEC("tp_btf/sched_wakeup_new")
int born(uint64_t *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx[0];
	uint32_t cpu = bpf_get_smp_processor_id();
	struct scratch *scratch = bpf_map_lookup_elem(&switch_scratch, &cpu);
	uint32_t tid = (uint32_t)BPF_CORE_READ(task, pid);
	struct bpf_walk_away *place;

	/* Events of a control group do not tell of new processes: nobody would know its name. */
	if (!scratch || watch_by == BPF_WALK_BY_CGROUP || !is_watched(task) ||
	    bpf_map_update_elem(&away, &tid, &scratch->away, BPF_ANY) != 0)
		return 0;
	place = bpf_map_lookup_elem(&away, &tid);
	if (!place)
		return 0;
	place->head.kind = BPF_WALK_AWAY;
	place->head.end = UNWIND_UNREADABLE;
	place->times.tid = thread_id(task);
	place->times.tgid = process_id(task);
	BPF_CORE_READ_INTO(&place->times.comm, task, comm);
	place->times.state = BPF_WALK_PREEMPTED;
	place->times.left_ns = bpf_ktime_get_ns();
	return 0;
}

#endif
