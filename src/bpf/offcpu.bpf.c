/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * offcpu: how long threads are off their CPUs, and where they left them.
 *
 *	switch out	the stack is captured and kept
 *	wakeup		the time is kept: what follows is waiting for a CPU
 *	switch in	the record is sent, with both times
 *
 * A stack must be taken when a thread leaves, because only then its memory is accessible; but only
 * those that stay away long enough are sent. If that happens very often, stacks are taken only now
 * and then, see offcpu_place.h.
 *
 * A thread that leaves during a pause is forgotten: after the pause, the threads that are asleep
 * then are listed, as at the start (sleepers.bpf.c). One that left before the pause is kept until
 * it is back.
 */

#include "bpf/kernel.h"
#include "bpf/maps.h"
#include "bpf/offcpu_maps.h"
#include "bpf/offcpu_place.h"
#include "bpf/scratch.h"
#include "bpf/settings.h"
#include "bpf/switch_out.h"
#include "bpf/task_id.h"
#include "bpf/task_state.h"
#include "bpf/watched_tasks.h"
#include "wire/bpf_offcpu.h"
#include "wire/bpf_walk.h"

/*
 * One in this many switches is timed, because reading clocks costs as much as the rest of most
 * switches; those with a stack are always timed.
 */
#define TIMED 16

/* What a switch is about. */
struct switch_facts {
	bool own;   /* a watched thread */
	bool stack; /* a stack was taken or sent */
};

/* Adds a time whose stack was not taken to the sums. A long one is sent at once, with its times. */
static __always_inline void add_up(void *ctx, struct bpf_walk_away *from)
{
	const struct bpf_walk_times *times = &from->times;
	uint32_t index = from->place;
	struct bpf_walk_place *place;
	bool was_woken = times->woken_ns > times->left_ns;
	uint64_t slept_ns = (was_woken ? times->woken_ns : times->back_ns) - times->left_ns;

	if (index >= BPF_WALK_PLACES)
		return;
	place = &from->places[index];
	/* If it lasted into a pause, the reader cuts it: it knows when the pause was. */
	if (times->back_ns - times->left_ns >= away_gap_ns || times->left_ns < away_resumed_ns) {
		force_next(place);
		if (send_sums(ctx, from, index) == 0)
			return;
	}
	place->sums.count++;
	place->sums.slept_ns += slept_ns;
	if (slept_ns > place->sums.longest_ns)
		place->sums.longest_ns = slept_ns;
	place->sums.waited_ns += was_woken ? times->back_ns - times->woken_ns : 0;
}

/* Sends the record of a stack that was taken, with the sums of its place. */
static __always_inline void send_taken(void *ctx, struct bpf_walk_away *from)
{
	uint32_t index = from->place;
	struct bpf_walk_place *place;
	uint64_t size =
		BPF_WALK_AWAY_BYTES + (from->head.kernel_count + from->head.user_count) * 8ull;

	if (index >= BPF_WALK_PLACES)
		return;
	place = &from->places[index];
	from->sums = place->sums;
	if (size <= BPF_WALK_AWAY_BYTES + sizeof(from->pcs) &&
	    bpf_perf_event_output(ctx, &output, BPF_F_CURRENT_CPU, &from->head, size) < 0) {
		count(BPF_WALK_COUNT_LOST);
		return;
	}
	place->sums.count = 0;
	place->sums.slept_ns = 0;
	place->sums.waited_ns = 0;
	place->sums.longest_ns = 0;
	place->sums.forced = false;
}

/* A task gets the CPU again. */
static __always_inline void note_return(void *ctx, uint32_t tid, uint64_t now_ns,
					struct switch_facts *facts)
{
	struct bpf_walk_away *from = bpf_map_lookup_elem(&away, &tid);

	if (!from)
		return;
	facts->own = true;
	if (from->times.left_ns == 0)
		return;
	facts->stack |= from->taken;
	from->times.back_ns = now_ns;
	if (now_ns - from->times.left_ns < least_away_ns) {
		count(BPF_WALK_COUNT_SHORT);
		from->times.left_ns = 0;
		/* Long times at its place may have no stacks of their own: this one is sent. */
		if (from->taken && away_gap_ns != 0)
			send_taken(ctx, from);
	} else if (from->taken) {
		send_taken(ctx, from);
	} else {
		add_up(ctx, from);
	}
	from->times.left_ns = 0;
}

/* Adds up the time spent on switches. */
static __always_inline void time_switch(const struct switch_facts *facts, uint64_t began_ns)
{
	/* Uses all bits: clocks may advance in steps that are multiples of any small number. */
	bool chosen = ((began_ns * HASH_FACTOR) >> 32) % TIMED == 0;

	if (facts->own)
		count(BPF_WALK_COUNT_OWN);
	if (facts->stack) {
		count_more(BPF_WALK_COUNT_OWN_NS, bpf_ktime_get_ns() - began_ns);
	} else if (facts->own && chosen) {
		count_more(BPF_WALK_COUNT_OWN_NS, TIMED * (bpf_ktime_get_ns() - began_ns));
	} else if (chosen) {
		count(BPF_WALK_COUNT_OTHER);
		count_more(BPF_WALK_COUNT_OTHER_NS, bpf_ktime_get_ns() - began_ns);
	}
}

/* A thread that ends may no longer be watched, but its entry must be freed. In a pause as well. */
static __noinline void note_end(void *ctx, uint32_t tid)
{
	struct bpf_walk_away *from = bpf_map_lookup_elem(&away, &tid);

	if (!from)
		return;
	from->times.left_ns = 0;
	for (uint32_t i = 0; i < BPF_WALK_PLACES; i++)
		if (from->places[i].sums.count > 0)
			(void)send_sums(ctx, from, i);
	bpf_map_delete_elem(&away, &tid);
}

SEC("tp_btf/sched_switch")
int switched(uint64_t *ctx)
{
	bool preempted = ctx[0];
	struct task_struct *previous = (struct task_struct *)ctx[1];
	struct task_struct *next = (struct task_struct *)ctx[2];
	uint32_t state = state_of(previous, preempted);
	uint64_t now_ns = bpf_ktime_get_ns();
	struct switch_facts facts = {0};

	if (state == BPF_WALK_ENDED || away_paused) {
		note_end(ctx, (uint32_t)previous->pid);
	} else if (previous->pid != 0) {
		struct bpf_walk_away *from = away_of(previous);

		if (from) {
			note_leaving(ctx, from, state, now_ns);
			count(BPF_WALK_COUNT_LEFT);
			facts.own = true;
			facts.stack = from->taken;
		}
	}
	if (next->pid != 0)
		note_return(ctx, (uint32_t)next->pid, now_ns, &facts);
	time_switch(&facts, now_ns);
	return 0;
}

static __always_inline void note_wakeup(const struct task_struct *task)
{
	uint32_t tid = (uint32_t)task->pid;
	struct bpf_walk_away *place = bpf_map_lookup_elem(&away, &tid);

	if (!place)
		return;
	count(BPF_WALK_COUNT_WAKEUPS);
	if (place->times.left_ns != 0 && place->times.woken_ns == 0)
		place->times.woken_ns = bpf_ktime_get_ns();
}

SEC("tp_btf/sched_wakeup")
int woken(uint64_t *ctx)
{
	note_wakeup((const struct task_struct *)ctx[0]);
	return 0;
}

/* A new thread waits for its first CPU; only where it will begin is known about it. */
SEC("tp_btf/sched_wakeup_new")
int born(uint64_t *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx[0];
	uint32_t cpu = bpf_get_smp_processor_id();
	struct scratch *scratch = bpf_map_lookup_elem(&switch_scratch, &cpu);
	uint32_t tid = (uint32_t)BPF_CORE_READ(task, pid);
	struct bpf_walk_away *place;

	/* Events of a control group do not report new processes: its name would be unknown. */
	if (!scratch || away_paused || watch_by == BPF_WALK_BY_CGROUP || !is_watched(task) ||
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
	place->taken = true;
	return 0;
}
