/* SPDX-License-Identifier: BSD-2-Clause */
/* watched_tasks: keeps the list of watched processes up to date as they fork, exec and end. */
#include "bpf/kernel.h"
#include "bpf/maps.h"
#include "bpf/offcpu_maps.h"
#include "bpf/settings.h"
#include "bpf/task_id.h"
#include "wire/bpf_walk.h"

SEC("tp_btf/sched_process_fork")
int forked(uint64_t *ctx)
{
	uint32_t parent = process_id((const struct task_struct *)ctx[0]);
	uint32_t child = process_id((const struct task_struct *)ctx[1]);
	uint32_t *watch = bpf_map_lookup_elem(&watched, &parent);

	if (watch_by != BPF_WALK_BY_PROCESS)
		return 0;
	if (watch && child != parent && *watch == BPF_WALK_WATCHED && watch_children) {
		uint32_t value = BPF_WALK_WATCHED;

		if (bpf_map_update_elem(&watched, &child, &value, BPF_ANY) != 0)
			count(BPF_WALK_COUNT_AWAY_FULL);
	}
	return 0;
}

/* A command is watched from its exec on. */
SEC("tp_btf/sched_process_exec")
int execed(uint64_t *ctx)
{
	uint32_t process = process_id((const struct task_struct *)ctx[0]);
	uint32_t *watch = bpf_map_lookup_elem(&watched, &process);

	if (watch)
		*watch = BPF_WALK_WATCHED;
	return 0;
}

/* Ids are reused: those of ended tasks are forgotten. */
SEC("tp_btf/sched_process_exit")
int ended(uint64_t *ctx)
{
	const struct task_struct *task = (const struct task_struct *)ctx[0];
	uint32_t id = thread_id(task);

	if (watch_by == BPF_WALK_BY_PROCESS) {
		/* Any thread may be the last. */
		if (BPF_CORE_READ(task, signal, live.counter) != 0)
			return 0;
		id = process_id(task);
	}
	bpf_map_delete_elem(&watched, &id);
	return 0;
}
