/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_LAUNCH_H
#define WICK_RECORD_LAUNCH_H

/*
 * launch: starts a program once everything is ready to watch it.
 *
 * The child waits between fork and exec. It inherits our standard streams, environment, signal
 * dispositions and the signal mask given, so it runs as it would without wick.
 */

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct error;

struct child {
	pid_t pid;
	int pid_fd;    /* readable when it has ended */
	int gate_fd;   /* closing it keeps the child from ever starting */
	int report_fd; /* the child reports here why its exec failed */
	int status;    /* of waitpid(), after it was reaped */
	int reaped;
	int released; /* it was allowed to exec */
};

/* How a program is started. */
struct launch_plan {
	char *const *argv;
	char *const *environment; /* "NAME=value" in addition to ours, NULL last; NULL: none */
	const sigset_t *mask;     /* to run it with */
	int stdout_fd;            /* its standard output; -1: ours */
	bool silent; /* it does not get our streams: its input is empty and its output is discarded
		      */
};

/* Forks a child that will exec as planned. The plan may be freed afterwards. */
int child_fork(struct child *child, const struct launch_plan *plan, struct error *err);

/*
 * Lets the child exec. On failure (-ENOENT, -EACCES …) the child is gone and err
 * names the program.
 */
int child_release(struct child *child, const char *program, struct error *err);

/* Reaps the child if it has ended. Returns 1 when it has, 0 when not yet. */
int child_ended(struct child *child);

/* The exit status as a shell reports it: 128 + signal for a killed child. */
int child_exit_status(const struct child *child);

/* The signal that killed it; 0: none, or it is still running. */
int child_killed_by(const struct child *child);

/* Closes descriptors; a child that was never released ends here. */
void child_fini(struct child *child);

#endif
