/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ebpf/ebpf.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "engine/ebpf/bpf_programs.h"
#include "engine/ebpf/walker.h"
#include "engine/engine.h"
#include "engine/perf/perf.h"
#include "engine/perf/perf_probe.h"
#include "engine/perf/probe_event.h"
#include "proc/cgroup_threads.h"
#include "proc/process_info.h"
#include "wire/bpf_offcpu.h"

/* The inode of the first pid namespace, part of the kernel's ABI. */
#define INITIAL_PID_NAMESPACE 0xeffffffcu

static enum bpf_walk_by watch_by(const struct target *target)
{
	switch (target->kind) {
	case TARGET_MACHINE:
		return BPF_WALK_BY_MACHINE;
	case TARGET_CGROUP:
		return BPF_WALK_BY_CGROUP;
	case TARGET_THREADS:
		return BPF_WALK_BY_THREAD;
	case TARGET_COMMAND:
	case TARGET_PROCESSES:
		break;
	}
	return BPF_WALK_BY_PROCESS;
}

uint32_t ebpf_namespace_of_ids(void)
{
	struct stat status;

	if (stat("/proc/self/ns/pid", &status) < 0 || status.st_ino == INITIAL_PID_NAMESPACE)
		return 0;
	return (uint32_t)status.st_ino;
}

/* Options that this engine does not support. */
static int check(const struct engine_config *config, struct error *err)
{
	if (config->unwind != ENGINE_UNWIND_AUTO) {
		(void)error_set(err, -EINVAL, "the ebpf engine does not support --unwind");
		error_remedy(err, "leave out --unwind, or use --engine perf");
		return -EINVAL;
	}
	return 0;
}

/* Uses perf events only, and says why. */
static int fall_back(const struct engine_config *config, const struct target *target,
		     struct sink *sink, const struct error *why, void **ret_self, struct error *err)
{
	struct engine_config lesser = *config;
	struct perf_engine *engine;
	int r;

	lesser.why_lesser = why ? why->text : NULL;
	r = perf_open(&lesser, target, sink, NULL, &engine, err);
	if (r == 0)
		*ret_self = engine;
	return r;
}

/* Describes what the kernel did not permit. */
static void note_limits(const struct engine_config *config, const struct target *target,
			const struct walker *walker, struct perf_engine *engine)
{
	if (config->wakers && !walker_knows_interrupts(walker))
		perf_note(engine, "this kernel does not show what runs in an interrupt: only the "
				  "kernel's stack distinguishes wakers from timers and devices");
	if (config->mode != ENGINE_MODE_CPU &&
	    config->depth > BPF_WALK_AWAY_DEPTH - BPF_WALK_KERNEL_DEPTH)
		perf_note(engine, "stacks of threads off their CPUs are cut at 512 frames");
	if (target->kind == TARGET_MACHINE && ebpf_namespace_of_ids() != 0)
		perf_note(engine, config->mode == ENGINE_MODE_OFFCPU
					  ? "processes outside this container are left out: their "
					    "names and files cannot be seen from here"
					  : "processes outside this container cannot be seen, only "
					    "counted");
}

/* The number of threads to track; 0 if it is not known. */
static uint32_t count_threads(const struct target *target)
{
	struct pid_list processes = {0};
	struct pid_list list = {0};
	uint32_t count;

	/* A process that has ended has none. */
	if (target->kind == TARGET_MACHINE)
		(void)process_list(&processes, NULL);
	for (size_t i = 0; i < processes.count; i++)
		(void)process_list_threads(processes.items[i], &list, NULL);
	for (size_t i = 0; i < target->count && target->kind == TARGET_PROCESSES; i++)
		(void)process_list_threads(target->ids[i], &list, NULL);
	if (target->kind == TARGET_CGROUP)
		(void)cgroup_list_threads(target->cgroup, &list, NULL);
	count = (uint32_t)list.count;
	vec_fini(&processes);
	vec_fini(&list);
	return count;
}

/* Programs run when perf events fire: one is useless without the other. */
static int ebpf_engine_probe(struct error *err)
{
	int r = walker_probe(err);

	return r < 0 ? r : perf_probe_own(err);
}

static int ebpf_engine_open(const struct engine_config *config, const struct target *target,
			    struct sink *sink, void **ret_self, struct error *err)
{
	struct walker_config walker = {
		.depth = config->depth,
		.kernel = config->kernel,
		.counters = config->mode == ENGINE_MODE_CPU && strchr(config->event, ','),
		.machine = target->kind == TARGET_MACHINE || target->kind == TARGET_CGROUP,
		.away = config->mode != ENGINE_MODE_CPU,
		.wakers = config->wakers,
		.least_away_ns = config->least_away_ns,
		.threads = config->mode != ENGINE_MODE_CPU ? count_threads(target) : 0,
		.watch_by = watch_by(target),
		.watch_children = target->children,
		.watch_cgroup = target->cgroup,
		.namespace_inode = ebpf_namespace_of_ids(),
	};
	bool may_fall_back = config->may_fall_back && config->mode == ENGINE_MODE_CPU;
	struct bpf_programs *programs;
	struct perf_engine *engine;
	struct error why;
	int r;

	/* The perf engine can do this better: programs would run for all tasks. */
	if ((may_fall_back && config->unwind != ENGINE_UNWIND_AUTO) ||
	    (config->mode == ENGINE_MODE_CPU && probe_event_is(config->event)))
		return fall_back(config, target, sink, NULL, ret_self, err);
	r = check(config, err);
	if (r < 0)
		return r;
	r = bpf_programs_open(&walker, config, target, &programs, &why);
	if (r < 0 && may_fall_back)
		return fall_back(config, target, sink, &why, ret_self, err);
	if (r < 0) {
		if (err)
			*err = why;
		return r;
	}
	r = perf_open(config, target, sink, &programs->base, &engine, err);
	if (r < 0) {
		perf_programs_close(&programs->base);
		return r;
	}
	note_limits(config, target, programs->walker, engine);
	*ret_self = engine;
	return 0;
}

const struct engine_ops ebpf_engine_ops = {
	.name = "ebpf",
	.reads_calls = true,
	.summary = "eBPF programs, which walk stacks in the kernel with unwind tables",
	.probe = ebpf_engine_probe,
	.records_wakers = true,
	.open = ebpf_engine_open,
	.start = perf_engine_start,
	.fd = perf_engine_fd,
	.drain = perf_engine_drain,
	.stop = perf_engine_stop,
	.stats = perf_engine_stats,
	.notice = perf_engine_notice,
	.set_rate = perf_engine_set_rate,
	.close = perf_engine_close,
};
