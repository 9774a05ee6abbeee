/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_PROCESS_TREE_H
#define WICK_PROC_PROCESS_TREE_H

/*
 * process_tree: the processes that run below others, and those of a name, from /proc.
 *
 * Processes come and go while they are listed: what is found was there at some moment. No
 * state is kept: any thread may call.
 */

#include <stdint.h>
#include <sys/types.h>

struct error;
struct pid_list;

/*
 * Appends the processes that `roots` have started, and those that these have, none twice and none
 * that is among the roots, nor this one. The caller releases the list with vec_fini().
 */
int process_tree_below(const struct pid_list *roots, struct pid_list *ret, struct error *err);

/*
 * Appends the processes that a name stands for: the name of the process, or of the file that it
 * runs. This one is not among them.
 */
int process_tree_named(const char *name, struct pid_list *ret, struct error *err);

/* How long the threads of a process that run now have been on a CPU; 0: not known. */
uint64_t process_tree_run_ns(pid_t pid);

#endif
