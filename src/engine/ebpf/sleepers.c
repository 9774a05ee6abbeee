/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ebpf/sleepers.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/error.h"
#include "engine/ebpf/bpf_programs.h"
#include "engine/ebpf/bpf_sample.h"
#include "engine/ebpf/long_stack.h"
#include "engine/ebpf/walker.h"
#include "perf_records/perf_record.h"
#include "proc/cgroup_threads.h"
#include "proc/process_info.h"
#include "proc/remote_memory.h"
#include "unwind/arch/native.h"
#include "wire/bpf_walk.h"

struct sleepers {
	struct bpf_programs *programs;
	bool some; /* only those in the list */
	struct pid_list list;
	uint64_t now_ns;
};

static int compare(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a;
	pid_t y = *(const pid_t *)b;

	return x < y ? -1 : x > y;
}

static bool is_wanted(const struct sleepers *sleepers, pid_t tid)
{
	return !sleepers->some ||
	       (sleepers->list.count > 0 &&
		bsearch(&tid, sleepers->list.items, sleepers->list.count, sizeof(tid), compare));
}

/* Adds the stack itself to the kernel's record. */
static void read_stack(struct bpf_walk_slice *slice)
{
	uint64_t sp = slice->registers[UNWIND_NATIVE.sp_register];

	slice->stack_start = sp - UNWIND_NATIVE.red_zone;
	slice->stack_bytes = 0;
	if (slice->pc != 0)
		slice->stack_bytes = remote_memory_copy((pid_t)slice->pid, slice->stack_start,
							slice->stack, BPF_WALK_SLICE_BYTES);
}

static void begin(void *self, struct bpf_walk_slice *slice)
{
	struct sleepers *sleepers = self;
	struct bpf_walk_times times = {.left_ns = sleepers->now_ns,
				       .tid = (uint32_t)slice->head.value,
				       .tgid = slice->pid,
				       .state = (uint32_t)(slice->head.value >> 32),
				       .lock = slice->lock};
	struct sample_record sample = {.pid = (pid_t)times.tgid,
				       .tid = (pid_t)times.tid,
				       .time_ns = sleepers->now_ns,
				       .raw = (const uint8_t *)slice};
	struct long_stack *rest = &sleepers->programs->long_stack;
	bool has_stack;

	/* A thread that has slept since before a pause already has its stack. */
	if (!is_wanted(sleepers, sample.tid) ||
	    walker_knows_away(sleepers->programs->walker, slice->task))
		return;
	read_stack(slice);
	sample.raw_bytes = (uint32_t)(offsetof(struct bpf_walk_slice, stack) + slice->stack_bytes);
	if (long_stack_begin(rest, &sample))
		rest->size +=
			remote_memory_copy((pid_t)slice->pid, slice->stack_start + rest->size,
					   rest->bytes + rest->size, LONG_STACK_BYTES - rest->size);
	bpf_sample_name(sleepers->programs, &sample);
	has_stack = bpf_sample_keep_leaver(sleepers->programs, &sample);
	/* A thread that has returned since then has the stack of another wait. */
	if (!walker_begin_away(sleepers->programs->walker, slice->task, &times, has_stack))
		bpf_sample_forget_leaver(sleepers->programs, times.tid);
}

int sleepers_begin(struct bpf_programs *programs, const char *cgroup, uint64_t now_ns,
		   struct error *err)
{
	struct sleepers sleepers = {.programs = programs, .some = cgroup != NULL, .now_ns = now_ns};
	int r = cgroup ? cgroup_list_threads(cgroup, &sleepers.list, err) : 0;

	if (sleepers.list.count > 0)
		qsort(sleepers.list.items, sleepers.list.count, sizeof(pid_t), compare);
	if (r == 0)
		r = walker_each_sleeper(programs->walker, begin, &sleepers, err);
	vec_fini(&sleepers.list);
	return r;
}
