/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_WATCHED_TASKS_H
#define WICK_BPF_WATCHED_TASKS_H

/*
 * watched_tasks: what the programs that see every task of the machine watch: processes, kept up to
 * date as they fork, exec and end; threads; a control group; or everything.
 */

#include "bpf/kernel.h"
#include "bpf/offcpu_maps.h"
#include "bpf/settings.h"
#include "bpf/task_id.h"
#include "wire/bpf_walk.h"

#define CGROUP_LEVELS 16

/* The depth of the group is unknown to a recorder that sees only part of the hierarchy. */
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

	/* Tasks outside the container could not be named. Mostly there is no container. */
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

#endif
