/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_PROCESS_TITLE_H
#define WICK_PROC_PROCESS_TITLE_H

/*
 * process_title: the title that a process sets in place of its arguments, such as "nginx: worker
 * process" and "postgres: checkpointer". Arguments, addresses and whatever else follows in a title
 * are left out.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PROCESS_TITLE_MAX 64

/* From /proc; comm is the process's name. False without a title. */
bool process_title_read(pid_t pid, const char *comm, char ret[PROCESS_TITLE_MAX]);

/* From the text of /proc/PID/cmdline. */
bool process_title_parse(const char *text, size_t size, const char *comm,
			 char ret[PROCESS_TITLE_MAX]);

#endif
