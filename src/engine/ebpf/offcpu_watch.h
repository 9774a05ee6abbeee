/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_OFFCPU_WATCH_H
#define WICK_ENGINE_EBPF_OFFCPU_WATCH_H

/*
 * offcpu_watch: starts and stops watching threads off their CPUs, and keeps its cost below a share
 * of the time that they run: see bpf/offcpu.bpf.c for what is left out then. Samples of time on the
 * CPUs have a budget of their own. With --min-block every stack is taken until that costs too much.
 */

#include <stdbool.h>
#include <stdint.h>

struct bpf_programs;
struct engine_config;
struct error;
struct target;

struct offcpu_pace {
	double budget;   /* 0: every stack is taken */
	uint64_t gap_ns; /* average, between stacks of a thread at one place; 0: no gap yet */
	bool paused;     /* threads that leave their CPUs are ignored */
	/* The last check, and the totals then: */
	uint64_t look_ns;
	uint64_t cost_ns;
	uint64_t run_ns;
};

/* Adjusts the gap from the totals of cost and run time, and returns it. */
uint64_t offcpu_pace_look(struct offcpu_pace *pace, uint64_t cost_ns, uint64_t run_ns);

/* Checks the cost from time to time; call it often. */
void offcpu_watch_look(struct bpf_programs *programs, uint64_t now_ns);
/*
 * Applies the current rate: at rate 0, a pause, no stacks are taken. After a pause, threads that
 * sleep count from now_ns on.
 */
int offcpu_watch_apply(struct bpf_programs *programs, uint64_t now_ns, struct error *err);

/* Prepares all; a command is watched from its exec on, other targets from the start on. */
int offcpu_watch_arm(struct bpf_programs *programs, const struct engine_config *config,
		     const struct target *target, struct error *err);
/* Threads that sleep already count from now_ns on. */
int offcpu_watch_start(struct bpf_programs *programs, uint64_t now_ns, struct error *err);
/* Puts samples for the threads that are still off their CPUs, as if they were back at now_ns. */
int offcpu_watch_finish(struct bpf_programs *programs, uint64_t now_ns, struct error *err);

#endif
