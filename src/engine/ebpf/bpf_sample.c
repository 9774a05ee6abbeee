/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ebpf/bpf_sample.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include "base/error.h"
#include "base/id_index.h"
#include "engine/ebpf/bpf_programs.h"
#include "engine/ebpf/offcpu_locks.h"
#include "engine/ebpf/offcpu_places.h"
#include "engine/ebpf/python_code.h"
#include "engine/ebpf/wakers.h"
#include "engine/ebpf/walker.h"
#include "engine/perf/perf_rate.h"
#include "engine/perf/perf_sample.h"
#include "model/sink.h"
#include "perf_records/perf_record.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/user_stack.h"
#include "unwind/walk.h"
#include "wire/bpf_offcpu.h"
#include "wire/bpf_walk.h"

_Static_assert(BPF_WALK_KERNEL_DEPTH + BPF_WALK_DEPTH + 4 <= MAX_CHAIN, "fits with its marks");
_Static_assert(BPF_WALK_REGISTERS == UNWIND_REGISTERS, "both count registers by DWARF number");

/*
 * The scheduler's function in which threads leave their CPUs: how large it may be, and where it is.
 */
#define SCHEDULER_BYTES 16384u
#define OWN_FRAMES_MAX 8u

/* Adds addresses of a kind to the chain. */
static void add(struct bpf_programs *programs, struct sample_record *sample, uint64_t mark,
		const uint8_t *pcs, uint64_t count)
{
	programs->chain[sample->count++] = mark;
	memcpy(programs->chain + sample->count, pcs, count * sizeof(uint64_t));
	sample->count += count;
}

static void add_end(struct bpf_programs *programs, struct sample_record *sample, unsigned int end)
{
	programs->output->facts.end = (uint8_t)end;
	if (end != UNWIND_ROOT)
		programs->chain[sample->count++] = PERF_MARK_CUT;
}

/* A process that forks and waits is never sampled itself, but its next children share its maps. */
static void want_parent(struct bpf_programs *programs, const struct sample_record *sample)
{
	struct tracked_process *parent;
	struct bpf_walk_key key;
	uint32_t pid;

	memcpy(&key, sample->raw + offsetof(struct bpf_walk_slice, parent), sizeof(key));
	memcpy(&pid, sample->raw + offsetof(struct bpf_walk_slice, parent_pid), sizeof(pid));
	parent = pid != 0 ? process_tracker_find_mapped(programs->output->tracker, (pid_t)pid)
			  : NULL;
	if (parent)
		(void)walker_meet(programs->walker, &key, parent);
}

/*
 * Walks the copy of a stack, because the kernel did not have the tables yet. From now on they are
 * loaded.
 */
static bool walk_slice(struct bpf_programs *programs, struct tracked_process *process,
		       struct sample_record *sample, const struct bpf_walk_head *head)
{
	struct unwind_trace trace = {.pcs = programs->chain + sample->count + 1,
				     .capacity = programs->depth};
	uint64_t registers[BPF_WALK_REGISTERS];
	uint64_t room = MAX_CHAIN - sample->count - 2;
	struct user_stack stack = {.time_ns = sample->time_ns,
				   .registers = registers,
				   .bytes = sample->raw + offsetof(struct bpf_walk_slice, stack)};
	uint32_t calls = 0;

	if (sample->raw_bytes < offsetof(struct bpf_walk_slice, stack))
		return false;
	memcpy(&stack.pc, sample->raw + offsetof(struct bpf_walk_slice, pc), sizeof(stack.pc));
	memcpy(registers, sample->raw + offsetof(struct bpf_walk_slice, registers),
	       sizeof(registers));
	memcpy(&stack.start, sample->raw + offsetof(struct bpf_walk_slice, stack_start),
	       sizeof(stack.start));
	memcpy(&stack.size, sample->raw + offsetof(struct bpf_walk_slice, stack_bytes),
	       sizeof(stack.size));
	if (stack.size > sample->raw_bytes - offsetof(struct bpf_walk_slice, stack))
		return false;
	if (programs->long_stack.of == sample->raw) {
		stack.bytes = programs->long_stack.bytes;
		stack.size = programs->long_stack.size;
	}
	/* A process in the middle of exec: its old stack is gone, and there is no new one yet. */
	if (stack.size == 0 && head->kernel_count > 0)
		return true;
	if (trace.capacity > room)
		trace.capacity = (uint32_t)room;
	user_stack_walk(programs->output->tracker, process, &stack, &trace);
	programs->chain[sample->count++] = (uint64_t)PERF_CONTEXT_USER;
	sample->count += trace.count;
	if (head->kind == BPF_WALK_LEAVING)
		calls = python_sleeper_calls(programs, process, sample, &stack,
					     programs->chain + sample->count,
					     (uint32_t)(room - trace.count));
	sample->count += calls;
	add_end(programs, sample, trace.end);
	programs->output->facts.outside = true;
	programs->news = true;
	walker_want(programs->walker, &head->key, process);
	if (calls == 0)
		walker_count_early(programs->walker, &head->key);
	want_parent(programs, sample);
	return true;
}

/* The scheduler's function from which a program of this kind is called; 0: not known. */
static uint64_t function_of_kind(const struct bpf_programs *programs, uint8_t kind)
{
	switch (kind) {
	case BPF_WALK_AWAY:
	case BPF_WALK_LEAVING:
		return programs->scheduler;
	case BPF_WALK_WAKER:
	case BPF_WALK_WAKER_SLICE:
		return programs->wake_up;
	default:
		return 0;
	}
}

/*
 * How many kernel addresses to hide: those of the BPF program and of its callers, up to the
 * scheduler.
 */
static uint32_t own_frames(const struct bpf_programs *programs, const struct bpf_walk_head *head,
			   const uint8_t *pcs)
{
	uint64_t function = function_of_kind(programs, head->kind);

	if (programs->kernel_frames_hidden)
		return head->kernel_count;
	for (uint32_t i = 0; i < head->kernel_count && i < OWN_FRAMES_MAX && function != 0; i++) {
		uint64_t pc;

		memcpy(&pc, pcs + i * sizeof(pc), sizeof(pc));
		if (pc - function < SCHEDULER_BYTES)
			return i;
	}
	return 0;
}

/* The chain of a stack whose addresses start where raw points, after the head. */
static bool bpf_sample_chain(struct bpf_programs *programs, const struct bpf_walk_head *head,
			     struct sample_record *sample)
{
	const uint8_t *pcs = sample->raw + sizeof(*head);
	uint64_t count = (uint64_t)head->kernel_count + head->user_count;

	sample->chain = programs->chain;
	sample->count = 0;
	programs->output->facts = (struct stack_facts){0};
	if (sample->raw_bytes < sizeof(*head) || head->kernel_count > BPF_WALK_KERNEL_DEPTH ||
	    head->user_count > BPF_WALK_DEPTH ||
	    count > (sample->raw_bytes - sizeof(*head)) / sizeof(uint64_t))
		return false;
	if (head->kernel_count > 0) {
		uint32_t own = own_frames(programs, head, pcs);

		if (own < head->kernel_count)
			add(programs, sample, (uint64_t)PERF_CONTEXT_KERNEL,
			    pcs + own * sizeof(uint64_t), head->kernel_count - own);
	}
	if (head->user_count > 0)
		add(programs, sample, (uint64_t)PERF_CONTEXT_USER,
		    pcs + head->kernel_count * sizeof(uint64_t), head->user_count);
	if (head->end >= UNWIND_ROOT && head->end < UNWIND_ENDS)
		add_end(programs, sample, head->end);
	else if (head->end == BPF_WALK_FOREIGN_USER)
		programs->output->stats.stacks.narrow++;
	return true;
}

bool bpf_sample_read_head(struct bpf_programs *programs, struct tracked_process *process,
			  const struct bpf_walk_head *changed, struct sample_record *sample)
{
	struct bpf_walk_head head = *changed;

	if (head.kind != BPF_WALK_SLICE && head.kind != BPF_WALK_LEAVING &&
	    head.kind != BPF_WALK_WAKER_SLICE) {
		if (head.user_count > 0 && walker_meet(programs->walker, &head.key, process))
			programs->news = true;
		return bpf_sample_chain(programs, &head, sample);
	}
	head.user_count = 0;
	head.end = BPF_WALK_NO_USER;
	return bpf_sample_chain(programs, &head, sample) &&
	       walk_slice(programs, process, sample, &head);
}

bool bpf_sample_read(struct bpf_programs *programs, struct tracked_process *process,
		     struct sample_record *sample)
{
	struct bpf_walk_head head;

	if (sample->raw_bytes < sizeof(head))
		return false;
	memcpy(&head, sample->raw, sizeof(head));
	sample->period = head.value;
	return bpf_sample_read_head(programs, process, &head, sample);
}

/* The position of the thread's name in a record; false if it has none. */
static bool read_name(const struct sample_record *sample, struct bpf_walk_name *ret)
{
	struct bpf_walk_head head;
	size_t at;

	if (sample->raw_bytes < sizeof(head))
		return false;
	memcpy(&head, sample->raw, sizeof(head));
	switch (head.kind) {
	case BPF_WALK_SLICE:
	case BPF_WALK_LEAVING:
	case BPF_WALK_WAKER_SLICE:
		at = offsetof(struct bpf_walk_slice, name);
		break;
	case BPF_WALK_STACK:
	case BPF_WALK_WAKER:
		at = sizeof(head) +
		     ((size_t)head.kernel_count + head.user_count) * sizeof(uint64_t);
		break;
	default:
		return false;
	}
	if (sample->raw_bytes < at + sizeof(*ret))
		return false;
	memcpy(ret, sample->raw + at, sizeof(*ret));
	ret->comm[BPF_WALK_COMM_BYTES - 1] = '\0';
	return true;
}

void bpf_sample_name(struct bpf_programs *programs, struct sample_record *sample)
{
	struct bpf_walk_name name;

	if (!read_name(sample, &name))
		return;
	/* A thread that is exiting. */
	if (sample->pid < 0) {
		sample->pid = (pid_t)name.pid;
		sample->tid = (pid_t)name.tid;
	}
	process_tracker_suggest(programs->output->tracker, sample->pid, sample->tid, name.comm);
}

/* The label set for a reason; 0, none, if it cannot be created. */
static uint32_t labels_of(struct bpf_programs *programs, enum offcpu_reason reason)
{
	static const char *const words[OFFCPU_REASONS] = {
		[OFFCPU_SLEEPING] = "sleeping",
		[OFFCPU_UNINTERRUPTIBLE] = "uninterruptible",
		[OFFCPU_PREEMPTED] = "preempted",
		[OFFCPU_WAITING] = "waiting for a CPU",
	};
	struct label label = {.key = "state", .value = words[reason]};

	if (programs->labels[reason] == 0)
		(void)sink_labels(programs->output->sink, &label, 1, &programs->labels[reason]);
	return programs->labels[reason];
}

void bpf_sample_forget_leaver(struct bpf_programs *programs, uint32_t tid)
{
	struct kept_stack old;

	if (kept_stacks_take(&programs->leavers, tid, &old))
		free(old.frames);
}

bool bpf_sample_keep_leaver(struct bpf_programs *programs, struct sample_record *sample)
{
	struct tracked_process *process;
	struct bpf_walk_head head;
	const struct frame *frames;
	uint32_t thread;
	size_t count;

	if (sample->raw_bytes < sizeof(head))
		return false;
	memcpy(&head, sample->raw, sizeof(head));
	if (process_tracker_sample(programs->output->tracker, sample->pid, sample->tid, &process,
				   &thread) < 0 ||
	    !bpf_sample_read(programs, process, sample)) {
		bpf_sample_forget_leaver(programs, (uint32_t)head.value);
		return false;
	}
	perf_note_stack(programs->output, sample);
	frames = perf_frames_of(programs->output, process, sample, &count);
	if (kept_stacks_put(&programs->leavers, (uint32_t)head.value, frames, count) < 0)
		return false;
	kept_stacks_set_facts(&programs->leavers, &programs->output->facts);
	return true;
}

/* The stack of a thread when it left its CPU, alone and with its waker. */
struct away_stacks {
	uint32_t alone;
	uint32_t woken; /* ID_NONE: the waker is not known */
	struct stack_facts facts;
};

/* Time that a thread spent off its CPU at one place: once, as often as the sums say, or both. */
struct away_part {
	enum offcpu_reason label;
	uint32_t stack; /* stack of the single wait; ID_NONE: not recorded */
	uint64_t lock;
	uint64_t time_ns;
	uint64_t once_ns;
	struct away_sum summed;
	struct stack_facts facts; /* of that stack */
};

/* A wait whose stack is not known. */
static void take_unknown(struct bpf_programs *programs, struct tracked_process *process,
			 uint64_t time_ns, struct away_time *ret)
{
	struct bpf_walk_head head = {.kind = BPF_WALK_AWAY, .end = UNWIND_UNREADABLE};
	struct sample_record sample = {
		.raw = (const uint8_t *)&head, .raw_bytes = sizeof(head), .time_ns = time_ns};

	ret->slept_stack = ret->waited_stack =
		bpf_sample_chain(programs, &head, &sample)
			? perf_stack_of(programs->output, process, &sample)
			: ID_NONE;
	ret->facts = programs->output->facts;
}

struct away_shares {
	struct away_share items[AWAY_STACKS];
	size_t count;
};

/* The longest of the waits for a lock that were added up. */
struct away_longest {
	const struct away_time *as; /* whose stack it has; NULL: none */
	uint64_t lock;
	uint64_t ns;
};

/* Adds one row. Only rows of locks say how many waits they represent. */
static int put_share(struct bpf_programs *programs, const struct offcpu_lock_owner *owner,
		     struct sample_row *row, enum offcpu_reason label, uint64_t lock,
		     struct error *err)
{
	row->labels = lock != 0 && programs->locks
			      ? offcpu_locks_label(programs->locks, owner, lock, row->time_ns)
			      : 0;
	if (row->labels == 0) {
		row->labels = labels_of(programs, label);
		row->times = 1;
	}
	programs->output->stats.offcpu.samples++;
	if (row->stack != ID_NONE)
		programs->output->stats.offcpu.repeated += row->times - 1;
	return perf_put_sample(programs->output, row, err);
}

/* Adds the rows of a part: the stacks of the place share the sums. */
static int put_part(struct bpf_programs *programs, const struct offcpu_lock_owner *owner,
		    struct sample_row *row, const struct away_part *part,
		    const struct away_shares *shares, struct error *err)
{
	uint64_t once_ns = part->once_ns;
	int r = 0;

	row->time_ns = part->time_ns;
	for (size_t i = 0; i < shares->count && r == 0; i++) {
		const struct away_share *share = &shares->items[i];

		row->stack = share->stack;
		row->weight = share->ns;
		row->times = share->count;
		/*
		 * Each wait for a lock is a sample of its own, so that the longest wait is visible.
		 */
		if (share->stack == part->stack && share->lock == 0 && part->lock == 0 &&
		    once_ns > 0) {
			row->weight += once_ns;
			row->times++;
			once_ns = 0;
		}
		perf_count_stack(programs->output, &share->facts);
		r = put_share(programs, owner, row, part->label, share->lock, err);
	}
	row->stack = part->stack;
	row->weight = once_ns;
	row->times = 1;
	if (r < 0 || once_ns == 0)
		return r;
	perf_count_stack(programs->output, &part->facts);
	return put_share(programs, owner, row, part->label, part->lock, err);
}

/*
 * Removes the longest wait for a lock from the sums. It is either one of the summed waits or the
 * one that was added to them, which slept for once_ns.
 */
static struct away_longest take_longest(struct offcpu_place *place,
					const struct bpf_walk_away *away, uint64_t once_ns,
					struct away_sum *sum)
{
	bool is_once = once_ns >= away->sums.longest_ns;
	struct away_longest longest = {.lock = is_once ? away->times.lock : away->sums.lock,
				       .ns = is_once ? once_ns : away->sums.longest_ns};

	sum->longest_ns = longest.ns;
	if (longest.lock == 0 || longest.ns == 0 || sum->count == 0 || longest.ns > sum->ns)
		return longest;
	longest.as = offcpu_place_choose(place, longest.lock);
	if (!longest.as)
		return longest;
	sum->count--;
	if (sum->count == 0)
		longest.ns = sum->ns;
	sum->ns -= longest.ns;
	return longest;
}

static int put_longest(struct bpf_programs *programs, const struct offcpu_lock_owner *owner,
		       struct sample_row *row, const struct away_part *part,
		       const struct away_longest *longest, struct error *err)
{
	if (!longest->as)
		return 0;
	row->time_ns = part->time_ns;
	row->stack = longest->as->slept_stack;
	row->weight = longest->ns;
	row->times = 1;
	perf_count_stack(programs->output, &longest->as->facts);
	return put_share(programs, owner, row, part->label, longest->lock, err);
}

static bool are_times_good(const struct bpf_walk_times *times)
{
	return times->left_ns == 0 ||
	       (times->back_ns >= times->left_ns && times->back_ns >= times->woken_ns);
}

/*
 * The thread slept, then waited for a CPU; a preempted thread only waited. If this wait has no
 * stack of its own, the stacks of other waits at the place are used.
 */
static int put_away(struct bpf_programs *programs, struct tracked_process *process,
		    struct sample_row *row, const struct away_stacks *stacks,
		    const struct bpf_walk_away *away, struct error *err)
{
	static const enum offcpu_reason reasons[] = {
		[BPF_WALK_SLEEPING] = OFFCPU_SLEEPING,
		[BPF_WALK_UNINTERRUPTIBLE] = OFFCPU_UNINTERRUPTIBLE,
		[BPF_WALK_PREEMPTED] = OFFCPU_PREEMPTED,
		[BPF_WALK_ENDED] = OFFCPU_SLEEPING,
	};
	const struct bpf_walk_times *times = &away->times;
	bool is_taken = away->head.kind != BPF_WALK_AWAY_SUMS;
	uint64_t woken_ns = times->woken_ns > times->left_ns ? times->woken_ns : times->back_ns;
	/* A thread that has slept since the start, or is new, has no place in its program. */
	uint32_t state = is_taken ? times->state : away->sums.state;
	struct offcpu_place *place = offcpu_places_find(programs->places, times->tid, &away->sums);
	struct away_time once = {.slept_stack =
					 stacks->woken != ID_NONE ? stacks->woken : stacks->alone,
				 .waited_stack = stacks->alone,
				 .lock = times->lock,
				 .facts = stacks->facts};
	const struct offcpu_lock_owner owner = {tracked_process_number(process),
						(pid_t)times->tgid};
	struct away_longest longest;
	struct away_shares shares;
	struct away_part slept, waited;
	int r;

	if (state >= ARRAY_SIZE(reasons) || !are_times_good(times))
		return perf_lose_sample(programs->output, row->time_ns);
	if (times->left_ns != 0) {
		once.slept_ns = perf_rate_active_ns(programs->rate, times->left_ns, woken_ns);
		once.waited_ns = perf_rate_active_ns(programs->rate, woken_ns, times->back_ns);
		row->time_ns = times->left_ns;
	}
	programs->output->stats.offcpu.summed +=
		away->sums.count + (!is_taken && times->left_ns != 0);
	/* Only waits that were chosen at random represent others. */
	if (is_taken && (!away->sums.forced || place->count == 0))
		offcpu_place_add(place, &once);
	else if (place->count == 0)
		take_unknown(programs, process, row->time_ns, &once);
	slept = (struct away_part){reasons[state], once.slept_stack,
				   once.lock,      row->time_ns,
				   once.slept_ns,  {away->sums.slept_ns, away->sums.count, 0},
				   once.facts};
	waited = (struct away_part){OFFCPU_WAITING,
				    once.waited_stack,
				    0,
				    times->left_ns != 0 ? woken_ns : row->time_ns,
				    once.waited_ns,
				    {away->sums.waited_ns, away->sums.count, 0},
				    once.facts};
	if (!is_taken) {
		slept.summed.ns += slept.once_ns;
		slept.summed.count += slept.once_ns > 0;
		waited.summed.ns += waited.once_ns;
		slept.once_ns = waited.once_ns = 0;
		if (place->count == 0)
			offcpu_place_add(place, &once);
	}
	longest = take_longest(place, away, is_taken ? 0 : once.slept_ns, &slept.summed);
	shares.count = offcpu_place_share_slept(place, slept.summed, shares.items);
	r = put_part(programs, &owner, row, &slept, &shares, err);
	if (r == 0)
		r = put_longest(programs, &owner, row, &slept, &longest, err);
	if (r < 0)
		return r;
	shares.count = offcpu_place_share_waited(place, waited.summed, shares.items);
	return put_part(programs, &owner, row, &waited, &shares, err);
}

/* The stacks of a thread that was off its CPU, from the slice that was sent when it left. */
static void stacks_of_leaver(struct bpf_programs *programs, uint32_t tid, struct away_stacks *ret)
{
	struct kept_stack leaver;

	/* It is valid for this wait only, and must not be used for the next one. */
	if (!kept_stacks_take(&programs->leavers, tid, &leaver))
		return;
	if (sink_stack(programs->output->sink, leaver.frames, leaver.count, &ret->alone) < 0)
		ret->alone = ID_NONE;
	else
		ret->woken = waker_join(programs, tid, leaver.frames, leaver.count);
	ret->facts = leaver.facts;
	free(leaver.frames);
}

/* How far the stack starts behind its usual position in a record. */
#define STACK_BEHIND ((uint32_t)(BPF_WALK_AWAY_BYTES - sizeof(struct bpf_walk_head)))

/* The same from its record, in which the stack follows the times instead of the head. */
static void stacks_of_record(struct bpf_programs *programs, struct tracked_process *process,
			     const struct sample_record *sample, const struct bpf_walk_away *away,
			     struct away_stacks *ret)
{
	struct sample_record stack = *sample;
	const struct frame *frames;
	size_t count;

	stack.raw += STACK_BEHIND;
	stack.raw_bytes -= STACK_BEHIND;
	if (!bpf_sample_chain(programs, &away->head, &stack))
		return;
	ret->alone = perf_stack_of(programs->output, process, &stack);
	ret->facts = programs->output->facts;
	if (!programs->wakers || away->times.state == BPF_WALK_PREEMPTED)
		return;
	frames = perf_frames_of(programs->output, process, &stack, &count);
	ret->woken = waker_join(programs, away->times.tid, frames, count);
}

int bpf_sample_away(struct bpf_programs *programs, struct sample_record *sample, struct error *err)
{
	struct sample_row row = {.stack = ID_NONE, .cpu = sample->cpu, .time_ns = sample->time_ns};
	struct away_stacks stacks = {.alone = ID_NONE, .woken = ID_NONE};
	struct tracked_process *process;
	struct bpf_walk_away away;

	if (sample->raw[0] == BPF_WALK_LEAVING) {
		/* If it cannot be stored, the record itself will be lost, and is counted then. */
		(void)bpf_sample_keep_leaver(programs, sample);
		return 0;
	}
	if (sample->raw_bytes < BPF_WALK_AWAY_BYTES)
		return perf_lose_sample(programs->output, sample->time_ns);
	memcpy(&away.head, sample->raw, BPF_WALK_AWAY_BYTES);
	away.times.comm[BPF_WALK_COMM_BYTES - 1] = '\0';
	process_tracker_suggest(programs->output->tracker, (pid_t)away.times.tgid,
				(pid_t)away.times.tid, away.times.comm);
	if (process_tracker_sample(programs->output->tracker, (pid_t)away.times.tgid,
				   (pid_t)away.times.tid, &process, &row.thread) < 0)
		return perf_lose_sample(programs->output, sample->time_ns);
	if (away.times.left_ns != 0)
		sample->time_ns = away.times.left_ns; /* what was mapped at that time */
	if (away.head.kind == BPF_WALK_AWAY_SLICE)
		stacks_of_leaver(programs, away.times.tid, &stacks);
	else if (away.head.kind == BPF_WALK_AWAY)
		stacks_of_record(programs, process, sample, &away, &stacks);
	return put_away(programs, process, &row, &stacks, &away, err);
}

struct still_away {
	struct bpf_programs *programs;
	uint64_t now_ns;
	struct error *err;
	int result;
};

static void show_still_away(void *self, const struct bpf_walk_away *away)
{
	struct still_away *still = self;
	struct bpf_walk_away copy = *away;
	struct sample_record sample = {.raw = (const uint8_t *)&copy.head,
				       .raw_bytes =
					       sizeof(copy) - offsetof(struct bpf_walk_away, head)};
	uint32_t place = away->place % BPF_WALK_PLACES;

	copy.times.back_ns = still->now_ns;
	if (!away->taken)
		copy.head.kind = BPF_WALK_AWAY_SUMS;
	if (copy.times.left_ns != 0 && copy.times.left_ns < still->now_ns &&
	    still->now_ns - copy.times.left_ns >= still->programs->least_away_ns) {
		copy.sums = away->places[place].sums;
		copy.sums.state =
			away->times.state; /* a thread that slept from the start has no place */
		if (still->result == 0)
			still->result = bpf_sample_away(still->programs, &sample, still->err);
	} else {
		place = BPF_WALK_PLACES; /* its sums have not been added yet */
	}
	copy.head.kind = BPF_WALK_AWAY_SUMS;
	copy.times.left_ns = 0;
	for (uint32_t i = 0; i < BPF_WALK_PLACES && still->result == 0; i++) {
		copy.sums = away->places[i].sums;
		sample.time_ns = still->now_ns;
		if (i != place && copy.sums.count > 0)
			still->result = bpf_sample_away(still->programs, &sample, still->err);
	}
}

int bpf_sample_still_away(struct bpf_programs *programs, uint64_t now_ns, struct error *err)
{
	struct still_away still = {.programs = programs, .now_ns = now_ns, .err = err};

	walker_each_away(programs->walker, show_still_away, &still);
	return still.result;
}
