/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ebpf/offcpu_watch.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "engine/ebpf/bpf_programs.h"
#include "engine/ebpf/bpf_sample.h"
#include "engine/ebpf/offcpu_locks.h"
#include "engine/ebpf/offcpu_places.h"
#include "engine/ebpf/sleepers.h"
#include "engine/ebpf/wakers.h"
#include "engine/ebpf/walker.h"
#include "engine/engine.h"
#include "engine/perf/perf_rate.h"
#include "engine/perf/perf_sample.h"
#include "model/sink.h"

#define LOOK_NS (250 * NS_PER_MS)
/* The CPU time below which a share of it is not meaningful. */
#define RUN_LEAST_NS (20 * NS_PER_MS)
/* The gap starts at its minimum, or at 0 if only long waits count. */
#define GAP_LEAST_NS (1 * NS_PER_MS)
#define GAP_MOST_NS (64 * NS_PER_MS)
/* Below this part of the budget, stacks are recorded more often again. */
#define TOO_LITTLE 0.4

uint64_t offcpu_pace_look(struct offcpu_pace *pace, uint64_t cost_ns, uint64_t run_ns)
{
	double share;

	if (run_ns - pace->run_ns < RUN_LEAST_NS)
		return pace->gap_ns;
	share = (double)(cost_ns - pace->cost_ns) / (double)(run_ns - pace->run_ns);
	pace->cost_ns = cost_ns;
	pace->run_ns = run_ns;
	if (share > pace->budget && pace->gap_ns < GAP_MOST_NS)
		pace->gap_ns = pace->gap_ns > 0 ? pace->gap_ns * 2 : GAP_LEAST_NS;
	else if (share < pace->budget * TOO_LITTLE && pace->gap_ns > GAP_LEAST_NS)
		pace->gap_ns /= 2;
	return pace->gap_ns;
}

static void apply_gap(struct bpf_programs *programs)
{
	const struct offcpu_pace *pace = &programs->pace;

	/*
	 * A thread that returns during a pause is reported at once with its times, so that they can
	 * be cut.
	 */
	walker_set_away_gap(programs->walker,
			    pace->budget > 0 && programs->rate->hz > 0 ? pace->gap_ns : 0);
}

int offcpu_watch_apply(struct bpf_programs *programs, uint64_t now_ns, struct error *err)
{
	bool paused = programs->rate->hz == 0;
	bool resumes = programs->pace.paused && !paused;

	programs->pace.paused = paused;
	apply_gap(programs);
	walker_pause_away(programs->walker, paused, now_ns);
	return resumes ? sleepers_begin(programs, programs->cgroup, now_ns, err) : 0;
}

void offcpu_watch_look(struct bpf_programs *programs, uint64_t now_ns)
{
	struct offcpu_pace *pace = &programs->pace;
	struct walker_stats stats;

	if (pace->budget <= 0 || now_ns - pace->look_ns < LOOK_NS)
		return;
	pace->look_ns = now_ns;
	walker_stats(programs->walker, &stats);
	(void)offcpu_pace_look(pace, stats.own_ns, stats.counters[BPF_WALK_COUNT_RUN_NS]);
	apply_gap(programs);
}

/* Where the kernel functions are that end the stacks of threads off their CPUs. */
static int find_functions(struct bpf_programs *programs, const struct engine_config *config,
			  struct error *err)
{
	if (config->kernel_address) {
		programs->scheduler =
			config->kernel_address(config->kernel_self, "__schedule", NULL);
		programs->wake_up =
			config->kernel_address(config->kernel_self, "try_to_wake_up", NULL);
	}
	programs->wakers = config->wakers ? wakers_new(config) : NULL;
	/* The mappings of a process that only wakes others are not reported to us. */
	programs->output->frames.partial |= programs->wakers != NULL;
	return config->wakers && !programs->wakers ? error_set(err, -ENOMEM, "out of memory") : 0;
}

int offcpu_watch_arm(struct bpf_programs *programs, const struct engine_config *config,
		     const struct target *target, struct error *err)
{
	struct label label = {.key = "state", .value = "on CPU"};
	int r = find_functions(programs, config, err);

	if (r < 0)
		return r;
	programs->places = offcpu_places_new();
	programs->locks = offcpu_locks_new(programs->output->sink, programs->interpreters);
	if (!programs->places || !programs->locks)
		return error_set(err, -ENOMEM, "out of memory");
	programs->pace =
		(struct offcpu_pace){.budget = config->away_budget,
				     .gap_ns = config->least_away_ns > 0 ? 0 : GAP_LEAST_NS};
	r = offcpu_watch_apply(programs, clock_monotonic_ns(), err);
	if (r == 0 && programs->clock)
		r = sink_labels(programs->output->sink, &label, 1, &programs->output->labels);
	if (r == -ENOTSUP)
		r = 0; /* nobody wants labels */
	if (r < 0)
		return error_errno(err, r, "the ebpf engine cannot register the labels of samples");
	if (target->kind == TARGET_CGROUP) {
		programs->cgroup = strdup(target->cgroup);
		if (!programs->cgroup)
			return error_set(err, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < target->count && r == 0; i++) {
		if (target->kind == TARGET_COMMAND)
			r = walker_watch(programs->walker, target->ids[i], true, err);
		else if (vec_push(&programs->watched, target->ids[i]) < 0)
			r = error_set(err, -ENOMEM, "out of memory");
	}
	return r == 0 && target->kind == TARGET_COMMAND ? walker_start(programs->walker, err) : r;
}

int offcpu_watch_start(struct bpf_programs *programs, uint64_t now_ns, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < programs->watched.count && r == 0; i++)
		r = walker_watch(programs->walker, programs->watched.items[i], false, err);
	if (r == 0)
		r = walker_start(programs->walker, err);
	/* During a pause, this is done when the pause ends. */
	return r == 0 && !programs->pace.paused
		       ? sleepers_begin(programs, programs->cgroup, now_ns, err)
		       : r;
}

int offcpu_watch_finish(struct bpf_programs *programs, uint64_t now_ns, struct error *err)
{
	int r = bpf_sample_still_away(programs, now_ns, err);

	return r < 0 ? r : perf_flush(programs->output, err);
}
