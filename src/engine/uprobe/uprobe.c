/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/uprobe/uprobe.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/vec.h"
#include "engine/ebpf/bpf_programs.h"
#include "engine/ebpf/ebpf.h"
#include "engine/ebpf/heap_probes.h"
#include "engine/ebpf/walker.h"
#include "engine/engine.h"
#include "engine/perf/perf.h"
#include "engine/perf/perf_sample.h"
#include "engine/uprobe/allocator.h"
#include "engine/uprobe/prior_heap.h"
#include "engine/uprobe/probe_cost.h"
#include "proc/maps.h"
#include "process_stacks/process_tracker.h"

/* How long calls are counted before recording starts. */
#define COUNTING_NS (200 * NS_PER_MS)
#define COUNTING_STEP_MS 5
/* The programs are timed for this many runs of them, at least for that long. */
#define TIMED_RUNS 20000u
#define TIMED_NS (200 * NS_PER_MS)

/* A process with our probes in its allocator. */
struct followed {
	pid_t pid;
	uint32_t number; /* of the tracker; changes after an exec */
	bool is_other;   /* it runs another program, without probes */
	struct heap_links links;
};

struct uprobe_engine {
	struct perf_engine *perf;
	struct bpf_programs *programs; /* of the perf engine */
	struct walker *walker;         /* of the programs */
	struct allocator allocator;
	struct probe_cost cost;
	bool sampled;
	bool force;
	bool children;
	bool has_trampoline; /* the BPF programs know the kernel's return trampoline */
	pid_t pid;
	uint64_t prior_heap_bytes;
	double pairs; /* per second, before recording started */
	struct heap_probes_stats counted;
	struct heap_probes_stats
		last; /* last counters of the BPF programs before they were closed */
	uint64_t started_ns;
	struct heap_probes_stats timed; /* when timing ended; all 0: it has not */
	bool ended;
	uint32_t execs; /* processes that executed another program */
	VEC(struct followed) followed;
	char notice[512];
};

static int uprobe_suits(const struct target *target, struct error *err)
{
	if (target->kind == TARGET_PROCESSES && target->count == 1 && !target->joins)
		return 0;
	(void)error_set(err, -EINVAL, "the uprobe engine records one running process: give -p");
	error_remedy(err, "wick heap -p PID");
	return -EINVAL;
}

static int check(const struct engine_config *config, const struct target *target, struct error *err)
{
	if (!config->heap.attach) {
		(void)error_set(err, -EINVAL, "the uprobe engine records only the heap");
		error_remedy(err, "use wick heap -p PID, or another --engine");
		return -EINVAL;
	}
	if (config->heap.maps) {
		(void)error_set(err, -EINVAL,
				"the uprobe engine does not support --maps: it cannot see mappings "
				"from outside");
		error_remedy(err, "leave out --maps");
		return -EINVAL;
	}
	return uprobe_suits(target, err);
}

static int open_parts(struct uprobe_engine *engine, const struct engine_config *config,
		      const struct target *target, struct sink *sink, struct error *err)
{
	struct heap_probes_config heap = {.sample_bytes = config->heap.sample_bytes,
					  .range_count = engine->allocator.range_count};
	struct walker_config walker = {
		.depth = config->depth,
		.namespace_inode = ebpf_namespace_of_ids(),
		.heap = &heap,
	};
	struct bpf_programs *programs;
	int r;

	memcpy(heap.ranges, engine->allocator.ranges, sizeof(heap.ranges));
	r = bpf_programs_open(&walker, config, target, &programs, err);
	if (r < 0)
		return r;
	probe_cost_measure(programs->walker, engine->allocator.stepped, &engine->cost);
	r = perf_open(config, target, sink, &programs->base, &engine->perf, err);
	if (r < 0) {
		perf_programs_close(&programs->base);
		return r;
	}
	engine->programs = programs;
	engine->walker = programs->walker;
	return 0;
}

static void uprobe_close(void *self)
{
	struct uprobe_engine *engine = self;

	if (!engine)
		return;
	for (size_t i = 0; i < engine->followed.count; i++)
		heap_links_detach(&engine->followed.items[i].links);
	vec_fini(&engine->followed);
	if (engine->perf)
		perf_engine_close(engine->perf);
	free(engine);
}

/* Attaches the probes to a process. */
static int follow(struct uprobe_engine *engine, pid_t pid, struct error *err)
{
	struct tracked_process *process =
		process_tracker_find(engine->programs->output->tracker, pid);
	struct followed followed = {.pid = pid,
				    .number = process ? tracked_process_number(process) : 0};
	struct heap_places places = {engine->allocator.path, engine->allocator.probes,
				     engine->allocator.count};
	struct bpf_walk_key key;
	int r = heap_links_attach(engine->walker, &places, pid, &followed.links, err);

	if (r < 0)
		return r;
	/* Without unwind tables a stack arrives as a copy, which triggers building them. */
	if (process && heap_probes_space(engine->walker, pid, &key) == 0)
		walker_want(engine->walker, &key, process);
	if (vec_push(&engine->followed, followed) == 0)
		return 0;
	heap_links_detach(&followed.links);
	return error_set(err, -ENOMEM, "out of memory");
}

/* Reports the cost of the counted calls, and whether it is acceptable. */
static int judge_rate(struct uprobe_engine *engine, uint64_t elapsed_ns, struct error *err)
{
	const uint64_t *counters = engine->counted.counters;
	uint64_t pair_ns = probe_cost_pair_ns(&engine->cost, engine->sampled);
	double share;

	engine->pairs = probe_cost_pairs(counters[BPF_HEAP_COUNT_ALLOCATIONS],
					 counters[BPF_HEAP_COUNT_FREES], elapsed_ns);
	share = probe_cost_share(engine->pairs, pair_ns);
	if (!engine->sampled && !engine->force && probe_cost_is_too_much(engine->pairs)) {
		uint64_t sampled_ns = probe_cost_pair_ns(&engine->cost, true);

		(void)error_set(err, -EBUSY,
				"process %d allocates and frees %.0f blocks per second: probes "
				"would cost it at least %.2f us each, %.0f %% of a CPU",
				(int)engine->pid, engine->pairs, (double)pair_ns / 1e3,
				share * 100);
		error_remedy(err,
			     "give --sample 512K to record some of them (%.2f us each, %.0f %%), "
			     "or --force",
			     (double)sampled_ns / 1e3,
			     probe_cost_share(engine->pairs, sampled_ns) * 100);
		return -EBUSY;
	}
	(void)snprintf(
		engine->notice, sizeof(engine->notice),
		"probing %u functions of %.200s in process %d: it allocates and frees %.0f blocks "
		"per second, which costs it at least %.2f us each (%.1f %% of a CPU)",
		engine->allocator.count, engine->allocator.name, (int)engine->pid, engine->pairs,
		(double)pair_ns / 1e3, share * 100);
	return 0;
}

/* The kernel maps it at the first hit; children inherit its address. */
static void look_for_trampoline(struct uprobe_engine *engine)
{
	struct maps maps = {0};

	if (engine->has_trampoline)
		return;
	if (maps_read(&maps, engine->pid, MAPS_EXECUTABLE_ONLY, NULL) == 0)
		for (size_t i = 0; i < maps.count && !engine->has_trampoline; i++)
			if (strcmp(maps.items[i].path, "[uprobes]") == 0) {
				heap_probes_set_trampoline(engine->walker, maps.items[i].start);
				engine->has_trampoline = true;
			}
	maps_fini(&maps);
}

/* Counts calls for a while. Meanwhile the BPF programs receive the mappings. */
static int count_calls(struct uprobe_engine *engine, uint64_t *ret_ns, struct error *err)
{
	uint64_t start_ns = clock_monotonic_ns();
	int r = 0;

	do {
		struct pollfd fd = {.fd = perf_engine_fd(engine->perf), .events = POLLIN};

		(void)poll(&fd, 1, COUNTING_STEP_MS);
		r = perf_engine_drain(engine->perf, err);
		look_for_trampoline(engine);
		*ret_ns = clock_monotonic_ns() - start_ns;
	} while (r == 0 && *ret_ns < COUNTING_NS);
	heap_probes_stats(engine->walker, &engine->counted);
	return r;
}

/* Prepares everything except reporting. */
static int arm(struct uprobe_engine *engine, struct error *err)
{
	uint64_t elapsed_ns = 0;
	int r = perf_engine_start(engine->perf, err);

	if (r == 0)
		r = follow(engine, engine->pid, err);
	if (r == 0)
		r = count_calls(engine, &elapsed_ns, err);
	engine->prior_heap_bytes = prior_heap_bytes(engine->pid);
	return r == 0 ? judge_rate(engine, elapsed_ns, err) : r;
}

static int uprobe_open(const struct engine_config *config, const struct target *target,
		       struct sink *sink, void **ret_self, struct error *err)
{
	struct uprobe_engine *engine;
	int r = check(config, target, err);

	if (r == 0)
		r = walker_probe(err);
	if (r < 0)
		return r;
	engine = calloc(1, sizeof(*engine));
	if (!engine)
		return error_set(err, -ENOMEM, "out of memory");
	engine->pid = target->ids[0];
	engine->sampled = config->heap.sample_bytes > 0;
	engine->force = config->heap.force;
	engine->children = target->children;
	r = allocator_find(engine->pid, config->heap.allocator, &engine->allocator, err);
	if (r == 0)
		r = open_parts(engine, config, target, sink, err);
	if (r == 0)
		r = arm(engine, err);
	if (r < 0) {
		uprobe_close(engine);
		return r;
	}
	*ret_self = engine;
	return 0;
}

static int uprobe_start(void *self, struct error *err)
{
	struct uprobe_engine *engine = self;

	(void)err;
	engine->started_ns = clock_monotonic_ns();
	heap_probes_set_phase(engine->walker, BPF_HEAP_FOLLOWING);
	return 0;
}

static int uprobe_fd(void *self)
{
	struct uprobe_engine *engine = self;

	return perf_engine_fd(engine->perf);
}

static bool is_followed(const struct uprobe_engine *engine, pid_t pid)
{
	for (size_t i = 0; i < engine->followed.count; i++)
		if (engine->followed.items[i].pid == pid)
			return true;
	return false;
}

/* Drops processes that have ended or executed another program. */
static void drop_ended(struct uprobe_engine *engine)
{
	for (size_t i = engine->followed.count; i-- > 0;) {
		struct followed *followed = &engine->followed.items[i];
		struct tracked_process *process =
			process_tracker_find(engine->programs->output->tracker, followed->pid);
		bool other = process && tracked_process_number(process) != followed->number;

		if (process && !other && !tracked_process_ended(process))
			continue;
		engine->execs += other && !followed->is_other;
		heap_links_detach(&followed->links);
		*followed = engine->followed.items[--engine->followed.count];
	}
}

/* Remembers a process that runs another program, so that it is checked only once. */
static void leave_out(struct uprobe_engine *engine, pid_t pid)
{
	struct tracked_process *process =
		process_tracker_find(engine->programs->output->tracker, pid);
	struct followed left_out = {.pid = pid,
				    .number = process ? tracked_process_number(process) : 0,
				    .links = {.session_fd = -1},
				    .is_other = true};

	(void)vec_push(&engine->followed, left_out); /* else it is checked again */
}

/* Probes the children of probed processes, from when they are first seen. */
static void follow_children(struct uprobe_engine *engine)
{
	size_t at = 0;
	pid_t pid;

	while ((pid = process_tracker_next_live(engine->programs->output->tracker, &at)) != 0) {
		if (is_followed(engine, pid) || pid == engine->pid)
			continue;
		if (!allocator_is_in(&engine->allocator, pid) || follow(engine, pid, NULL) < 0)
			leave_out(engine, pid);
	}
}

/* How often the programs ran since recording started. */
static uint64_t runs_of(const struct uprobe_engine *engine, const struct heap_probes_stats *stats)
{
	const uint64_t *before = engine->counted.counters;
	const uint64_t *counters = stats->counters;

	return counters[BPF_HEAP_COUNT_HITS] - before[BPF_HEAP_COUNT_HITS] +
	       counters[BPF_HEAP_COUNT_RETURNS] - before[BPF_HEAP_COUNT_RETURNS];
}

/* Timing costs the process a tenth of what the probes do: the first runs show how long they take.
 */
static void end_timing(struct uprobe_engine *engine)
{
	struct heap_probes_stats stats;

	if (engine->timed.run_ns > 0 || clock_monotonic_ns() - engine->started_ns < TIMED_NS)
		return;
	heap_probes_stats(engine->walker, &stats);
	if (runs_of(engine, &stats) < TIMED_RUNS)
		return;
	engine->timed = stats;
	walker_stop_timing(engine->walker);
}

static int uprobe_drain(void *self, struct error *err)
{
	struct uprobe_engine *engine = self;
	int r = perf_engine_drain(engine->perf, err);

	look_for_trampoline(engine);
	end_timing(engine);
	drop_ended(engine);
	if (engine->children)
		follow_children(engine);
	return r;
}

static bool uprobe_next_process(void *self, size_t *at, struct engine_process *ret)
{
	struct uprobe_engine *engine = self;

	while (*at < engine->followed.count) {
		const struct followed *followed = &engine->followed.items[(*at)++];

		if (followed->is_other)
			continue;
		*ret = (struct engine_process){.pid = followed->pid, .has_older = true};
		return true;
	}
	return false;
}

static int uprobe_stop(void *self, struct error *err)
{
	struct uprobe_engine *engine = self;

	heap_probes_set_phase(engine->walker, BPF_HEAP_OVER);
	for (size_t i = 0; i < engine->followed.count; i++)
		heap_links_detach(&engine->followed.items[i].links);
	engine->followed.count = 0;
	heap_probes_stats(engine->walker, &engine->last);
	engine->ended = true;
	log_debug(
		"uprobes: %llu hits, %llu returns, %llu allocations, %llu frees, %llu events, %llu "
		"stacks cut",
		(unsigned long long)engine->last.counters[BPF_HEAP_COUNT_HITS],
		(unsigned long long)engine->last.counters[BPF_HEAP_COUNT_RETURNS],
		(unsigned long long)engine->last.counters[BPF_HEAP_COUNT_ALLOCATIONS],
		(unsigned long long)engine->last.counters[BPF_HEAP_COUNT_FREES],
		(unsigned long long)engine->last.counters[BPF_HEAP_COUNT_EVENTS],
		(unsigned long long)engine->last.counters[BPF_HEAP_COUNT_BARE]);
	return perf_engine_stop(engine->perf, err);
}

static void add_remark(struct engine_stats *stats, const char *what, uint64_t count)
{
	size_t used = strlen(stats->remark);

	if (count > 0)
		(void)snprintf(stats->remark + used, sizeof(stats->remark) - used, "%s%llu %s",
			       used > 0 ? "; " : "", (unsigned long long)count, what);
}

static void tell_remark(const struct uprobe_engine *engine, const uint64_t *counters,
			struct engine_stats *ret)
{
	add_remark(ret,
		   "sampled blocks were dropped because the table of live blocks was full: use a "
		   "larger --sample",
		   counters[BPF_HEAP_COUNT_UNKEPT]);
	add_remark(ret, "processes executed another program, which is not recorded", engine->execs);
	add_remark(ret, "stacks were truncated in newly loaded code",
		   counters[BPF_HEAP_COUNT_BARE]);
	add_remark(ret, "calls were missed because the kernel ran out of memory",
		   counters[BPF_HEAP_COUNT_UNTHREAD]);
}

static void uprobe_stats(void *self, bool final, struct engine_stats *ret)
{
	struct uprobe_engine *engine = self;
	struct heap_probes_stats heap = engine->last;
	const struct heap_probes_stats *timed;
	const uint64_t *counters = heap.counters;

	if (!engine->ended)
		heap_probes_stats(engine->walker, &heap);
	perf_engine_stats(engine->perf, final, ret);
	ret->heap.events = engine->programs->heap.events;
	ret->heap.calls =
		counters[BPF_HEAP_COUNT_HITS] - engine->counted.counters[BPF_HEAP_COUNT_HITS];
	ret->heap.before_bytes = engine->prior_heap_bytes;
	timed = engine->timed.run_ns > 0 ? &engine->timed : &heap;
	ret->cost.target_ns = probe_cost_run_ns(timed->run_ns - engine->counted.run_ns,
						runs_of(engine, timed), runs_of(engine, &heap)) +
			      ret->heap.calls * engine->cost.entry_ns +
			      counters[BPF_HEAP_COUNT_RETURNS] * engine->cost.return_ns;
	(void)snprintf(ret->why_none, sizeof(ret->why_none),
		       "the process called none of the functions of %.150s; if it has another "
		       "allocator, give it with --allocator",
		       engine->allocator.name);
	tell_remark(engine, counters, ret);
}

static const char *uprobe_notice(void *self)
{
	struct uprobe_engine *engine = self;

	return engine->notice;
}

/* The heap is not sampled by time. */
static int uprobe_set_rate(void *self, uint32_t frequency_hz, struct error *err)
{
	(void)self;
	(void)frequency_hz;
	return error_advise(
		err, error_set(err, -EOPNOTSUPP, "a recording of the heap has no sampling rate"),
		"to record fewer blocks, start again with --sample BYTES");
}

const struct engine_ops uprobe_engine_ops = {
	.name = "uprobe",
	.summary = "probes on the allocator of a running process (wick heap -p)",
	.probe = walker_probe,
	.suits = uprobe_suits,
	.open = uprobe_open,
	.start = uprobe_start,
	.fd = uprobe_fd,
	.drain = uprobe_drain,
	.settle_ns = PERF_SETTLE_NS,
	.next_process = uprobe_next_process,
	.stop = uprobe_stop,
	.stats = uprobe_stats,
	.notice = uprobe_notice,
	.set_rate = uprobe_set_rate,
	.close = uprobe_close,
};
