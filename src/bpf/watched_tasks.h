/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_WATCHED_TASKS_H
#define WICK_BPF_WATCHED_TASKS_H

/*
 * watched_tasks: whom programs look at that see every task of the machine: processes,
 * kept up to date as they fork, exec and end; threads; a control group; or all.
 */

#include "bpf/kernel.h"
#include "bpf/maps.h"
#include "bpf/settings.h"
#include "bpf/task_id.h"
#include "wire/bpf_walk.h"

#define CGROUP_LEVELS 16

/* Whom to watch, by process id or thread id; empty with a machine. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, uint32_t); /* enum bpf_walk_watch */
} watched SEC(".maps");

/* How deep the group lies is not known to whoever sees a part of the hierarchy only. */
static __always_inline bool is_in_cgroup(void)
{
	for (int level = 0; level < CGROUP_LEVELS; level++) {
		uint64_t id = bpf_get_current_ancestor_cgroup_id(level);

		if (id == 0 || id == watch_cgroup)
			return id != 0;
	}
	return false;
}

static __always_inline bool is_watched(const struct task_struct *task)
{
	uint32_t id;
	uint32_t *watch;

	/* Nobody could name those that are outside the container. Most are not in one. */
	if (namespace_inode == 0)
		id = (uint32_t)(watch_by == BPF_WALK_BY_PROCESS ? task->tgid : task->pid);
	else
		id = watch_by == BPF_WALK_BY_PROCESS ? process_id(task) : thread_id(task);
	if (id == 0)
		return false;
	if (watch_by == BPF_WALK_BY_MACHINE)
		return true;
	if (watch_by == BPF_WALK_BY_CGROUP)
		return is_in_cgroup();
	watch = bpf_map_lookup_elem(&watched, &id);
	return watch && *watch == BPF_WALK_WATCHED;
}

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

/* Ids come again: those of what has ended are forgotten. */
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

#endif
