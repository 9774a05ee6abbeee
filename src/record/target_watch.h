/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_TARGET_WATCH_H
#define WICK_RECORD_TARGET_WATCH_H

/*
 * target_watch: detects the end of target processes or threads that we did not start. A zombie
 * counts as ended. Initialise it with zeros.
 */

#include <stdbool.h>
#include <stddef.h>

struct target;

#define TARGET_WATCH_MAX 64 /* processes watched by descriptor; more are polled */

struct target_watch {
	const struct target *target;
	int pid_fds[TARGET_WATCH_MAX]; /* readable when the process has ended */
	size_t count;
	bool all; /* every process of the target has a descriptor above, or has ended */
};

/* Borrows the target. */
void target_watch_begin(struct target_watch *watch, const struct target *target);
void target_watch_fini(struct target_watch *watch);

/* Whether all have ended. A machine and a control group never end. */
bool target_watch_ended(struct target_watch *watch);

#endif
