/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_OFFCPU_WATCH_H
#define WICK_ENGINE_EBPF_OFFCPU_WATCH_H

/*
 * offcpu_watch: begins and ends the watching of threads that are off their CPUs, and keeps
 * what that costs below a share of the time that they run: see bpf/offcpu.bpf.c for what is left
 * out then. Samples of time on the CPUs have a budget of their own. Where short times are left
 * out (--min-block) every stack is taken until that costs too much.
 */

#include <stdbool.h>
#include <stdint.h>

struct engine_config;
struct error;
struct bpf_programs;
struct target;

struct offcpu_pace {
	double budget;   /* 0: every stack is taken */
	uint64_t gap_ns; /* between stacks of a thread at one place, about; 0: none yet */
	bool paused;     /* nothing is kept of who leaves its CPU */
	/* When that was looked at, and the figures then: */
	uint64_t look_ns;
	uint64_t cost_ns;
	uint64_t run_ns;
};

/* Looks at a stretch: cost and the time that threads ran, in all. Returns the gap from now on. */
uint64_t offcpu_pace_look(struct offcpu_pace *pace, uint64_t cost_ns, uint64_t run_ns);

/* To be called often. */
void offcpu_watch_look(struct bpf_programs *programs, uint64_t now_ns);
/*
 * Sets what is right for the rate of now: at rate 0, a pause, no stacks are taken. When that is
 * over threads that sleep count from now_ns on.
 */
int offcpu_watch_apply(struct bpf_programs *programs, uint64_t now_ns, struct error *err);

/* A command is watched from its exec on, so this comes before; all others at the start. */
int offcpu_watch_arm(struct bpf_programs *programs, const struct engine_config *config,
		     const struct target *target, struct error *err);
/* Threads that sleep by then count from now_ns on. */
int offcpu_watch_start(struct bpf_programs *programs, uint64_t now_ns, struct error *err);
/* Puts samples for the threads that are away still, as if they were back at that time. */
int offcpu_watch_finish(struct bpf_programs *programs, uint64_t now_ns, struct error *err);

#endif
