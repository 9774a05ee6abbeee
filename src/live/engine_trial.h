/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIVE_ENGINE_TRIAL_H
#define WICK_LIVE_ENGINE_TRIAL_H

/*
 * engine_trial: an engine put to the test on a small program.
 *
 * Each trial is a process of its own, so several can run at once, and one that hangs or is killed
 * by a filter of system calls harms nobody: it is ended when its time is up. It ends with whoever
 * started it, and so must the program: see trial_plan.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct engine_ops;

struct trial_plan {
	const struct engine_ops *engine; /* NULL: the one that a recording takes by itself */
	bool heap;                       /* blocks that are allocated instead of samples */
	bool attach;                     /* to a program that runs already */
	bool wakers;                     /* time off the CPUs, and who ends it */
	/*
	 * Works, allocates and sleeps for some ten milliseconds; with attach, until it is ended. It
	 * has to write a byte when it begins, to end by itself at last, and with its parent.
	 */
	char *const *program;
	uint64_t limit_ns; /* that the trial has for all */
};

struct trial_result {
	int code; /* 0, or a negative errno with err */
	struct error err;
	int killed_by;   /* a signal; 0: it lived */
	char engine[16]; /* that was taken; "": none */
	uint64_t stacks;
	uint64_t whole_stacks; /* that lead to the start of the program */
	uint64_t late_cut;     /* of the second half, that do not */
	uint64_t woken_stacks; /* that say who ended a sleep */
	char notice[200];      /* what the kernel did not grant; "": nothing */
	char why_none[320];    /* why there may be no stacks; "": no more is known */
};

struct trial {
	pid_t pid; /* -1: it could not be started */
	int fd;    /* its result can be read here */
	uint64_t deadline_ns;
	int code; /* negative errno of the start */
};

/* Borrows the plan for the call. */
void trial_start(struct trial *trial, const struct trial_plan *plan);

/* Waits for it, ends it when its time is up, and leaves nothing of it. */
void trial_finish(struct trial *trial, struct trial_result *ret);

#endif
