/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_CGROUP_THREADS_H
#define WICK_PROC_CGROUP_THREADS_H

/* cgroup_threads: the threads of a control group and its descendants. */

struct error;
struct pid_list;

/* Adds them in no order; groups that vanish meanwhile are skipped. 0 or a negative errno. */
int cgroup_list_threads(const char *folder, struct pid_list *list, struct error *err);

#endif
