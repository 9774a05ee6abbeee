/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_BPF_PROGRAMS_H
#define WICK_ENGINE_EBPF_BPF_PROGRAMS_H

/*
 * bpf_programs: the BPF programs that make a perf engine's samples, and the state that
 * decoding their records needs. The perf engine calls them through the member base; see
 * perf_programs.h for the order of calls.
 *
 *	bpf_sample	stacks, and times off the CPUs
 *	heap_events	calls of an allocator
 *	wakers		who ended a sleep
 *	offcpu_watch	when threads off their CPUs are watched, and how closely
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "engine/ebpf/heap_events.h"
#include "engine/ebpf/kept_stacks.h"
#include "engine/ebpf/long_stack.h"
#include "engine/ebpf/offcpu_watch.h"
#include "engine/perf/perf_programs.h"
#include "process_stacks/chain.h"

struct engine_config;
struct error;
struct interpreters;
struct offcpu_locks;
struct offcpu_places;
struct target;
struct thread_names;
struct wakers;
struct walker;
struct walker_config;

/* Why a thread was off its CPU, for labels. */
enum offcpu_reason {
	OFFCPU_SLEEPING,
	OFFCPU_UNINTERRUPTIBLE,
	OFFCPU_PREEMPTED,
	OFFCPU_WAITING, /* woken, and no CPU was free */
	OFFCPU_REASONS,
};

struct bpf_programs {
	struct perf_programs base; /* first: base is cast to the whole */
	struct walker *walker;

	/* Lent by the perf engine, from perf_programs_arm() on: */
	struct sample_output *output;
	const struct perf_rate *rate;
	bool clock;
	bool kernel_frames_hidden;

	uint32_t depth;    /* frames kept of a user stack */
	bool news;         /* the walker has something to update since the last drain */
	uint64_t sweep_ns; /* when to look for unused tables */
	uint64_t sweep_every_ns;
	struct long_stack long_stack; /* of the slice that is being read */
	struct bpf_heap heap;
	struct interpreters *interpreters; /* whose calls are read; NULL: none */
	struct thread_names *names;
	bool calls_only;

	/* With base.away, threads off their CPUs: */
	uint64_t least_away_ns;          /* shorter times are left out */
	uint64_t scheduler;              /* where __schedule() begins; 0: unknown */
	uint64_t wake_up;                /* where try_to_wake_up() begins; 0: unknown */
	uint32_t labels[OFFCPU_REASONS]; /* label sets, made when first needed; 0: not yet */
	uint64_t lost_stacks;            /* counted among the lost records so far */
	VEC(pid_t) watched;              /* processes or threads to watch from the start on */
	char *cgroup;                    /* whose threads are watched; NULL: no control group */
	struct kept_stacks leavers;      /* stacks that wait for the record of their thread */
	struct wakers *wakers;           /* NULL: not wanted */
	struct offcpu_places *places;
	struct offcpu_locks *locks;
	struct offcpu_pace pace; /* how often stacks are taken */

	uint64_t chain[MAX_CHAIN]; /* of the stack that was read last */
};

extern const struct perf_programs_ops bpf_programs_ops;

/*
 * Loads the programs. The caller hands &(*ret)->base to perf_open(), or closes it with
 * perf_programs_close().
 */
int bpf_programs_open(const struct walker_config *walker, const struct engine_config *config,
		      const struct target *target, struct bpf_programs **ret, struct error *err);

#endif
