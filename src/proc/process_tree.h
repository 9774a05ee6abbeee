/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_PROCESS_TREE_H
#define WICK_PROC_PROCESS_TREE_H

/*
 * process_tree: the descendants of processes, and processes by name, from /proc.
 *
 * Processes start and end while they are listed: each result existed at some moment. No state is
 * kept: any thread may call.
 */

#include <stdint.h>
#include <sys/types.h>

struct error;
struct pid_list;

/*
 * Appends all descendants of `roots`, none twice, except the roots and this process. The caller
 * releases the list with vec_fini().
 */
int process_tree_below(const struct pid_list *roots, struct pid_list *ret, struct error *err);

/*
 * Appends the processes with a name: that of the process, or of the file that it runs. Except this
 * process.
 */
int process_tree_named(const char *name, struct pid_list *ret, struct error *err);

/* How long the running threads of a process have been on a CPU; 0: unknown. */
uint64_t process_tree_run_ns(pid_t pid);

#endif
