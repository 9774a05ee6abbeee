/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_TARGET_WATCH_H
#define WICK_RECORD_TARGET_WATCH_H

/*
 * target_watch: whether the processes or threads of a target, which others started, have
 * ended. One that nobody has waited for yet has ended as well. Starts as zeros.
 */

#include <stdbool.h>
#include <stddef.h>

struct target;

#define TARGET_WATCH_MAX 64 /* processes whose end is watched; more are simply polled */

struct target_watch {
	const struct target *target;
	int pid_fds[TARGET_WATCH_MAX]; /* readable when the process has ended */
	size_t count;
	bool all; /* every process of the target has a descriptor above, or has ended */
};

/* Borrows the target. */
void target_watch_begin(struct target_watch *watch, const struct target *target);
void target_watch_fini(struct target_watch *watch);

/* A machine and a control group never end. */
bool target_watch_ended(struct target_watch *watch);

#endif
