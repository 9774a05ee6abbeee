/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIVE_ENGINE_TRIAL_H
#define WICK_LIVE_ENGINE_TRIAL_H

/*
 * engine_trial: tests an engine on a small program.
 *
 * Each trial is a separate process, so several can run at once, and one that hangs or is killed by
 * a seccomp filter does no harm: it is killed when its time is up. It ends with its parent, and so
 * must the program: see trial_plan.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct engine_ops;

struct trial_plan {
	const struct engine_ops *engine; /* NULL: the default engine of a recording */
	bool heap;                       /* record allocated blocks instead of samples */
	bool attach;                     /* attach to a program that is already running */
	bool wakers;                     /* off-CPU time, with wakers */
	/*
	 * A program that works, allocates and sleeps for some tens of milliseconds; with attach,
	 * until it is killed. It must write a byte when it starts, must eventually end by itself,
	 * and must end with its parent.
	 */
	char *const *program;
	uint64_t limit_ns; /* total time limit of the trial */
};

struct trial_result {
	int code; /* 0, or a negative errno with err */
	struct error err;
	int killed_by;   /* signal that killed it; 0: none */
	char engine[16]; /* the engine that was used; "": none */
	uint64_t stacks;
	uint64_t whole_stacks; /* that reach the start of the program */
	uint64_t late_cut;     /* stacks of the second half that do not */
	uint64_t woken_stacks; /* that name a waker */
	char notice[200];      /* what the kernel did not allow; "": nothing */
	char why_none[320];    /* why there may be no stacks; "": unknown */
};

struct trial {
	pid_t pid; /* -1: it could not be started */
	int fd;    /* its result is read from here */
	uint64_t deadline_ns;
	int code; /* negative errno of the start */
};

/* Borrows the plan for the call. */
void trial_start(struct trial *trial, const struct trial_plan *plan);

/* Waits for it, kills it when its time is up, and reaps it. */
void trial_finish(struct trial *trial, struct trial_result *ret);

#endif
