/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_TASK_ID_H
#define WICK_BPF_TASK_ID_H

/*
 * task_id: the ids of tasks in the recorder's pid namespace: inside a container they differ from
 * the kernel's own.
 */

#include "bpf/kernel.h"
#include "bpf/settings.h"
#include "wire/bpf_walk.h"

#define NAMESPACE_LEVELS 8 /* depth of nested namespaces that are searched */

/* The id of a thread; 0: it is not visible from there. */
static __always_inline uint32_t thread_id(const struct task_struct *task)
{
	const struct pid *pid;
	uint32_t level;

	if (namespace_inode == 0)
		return (uint32_t)BPF_CORE_READ(task, pid);
	pid = BPF_CORE_READ(task, thread_pid);
	level = pid ? BPF_CORE_READ(pid, level) : 0;
	/* From its own namespace outwards. The initial namespace is not a container. */
	for (int i = 0; i < NAMESPACE_LEVELS && level > 0 && level < 32; i++, level--) {
		const struct upid *upid =
			(const void *)((const char *)pid +
				       bpf_core_field_offset(struct pid, numbers) +
				       level * bpf_core_type_size(struct upid));

		if (BPF_CORE_READ(upid, ns, ns.inum) == namespace_inode)
			return (uint32_t)BPF_CORE_READ(upid, nr);
	}
	return 0;
}

/* The id of its process. */
static __always_inline uint32_t process_id(const struct task_struct *task)
{
	if (namespace_inode == 0)
		return (uint32_t)BPF_CORE_READ(task, tgid);
	return thread_id(BPF_CORE_READ(task, group_leader));
}

static __always_inline void name_task(const struct task_struct *task, struct bpf_walk_name *name)
{
	BPF_CORE_READ_INTO(&name->comm, task, comm);
	name->pid = process_id(task);
	name->tid = thread_id(task);
}

#endif
