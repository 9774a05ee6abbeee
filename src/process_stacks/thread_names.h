/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_THREAD_NAMES_H
#define WICK_PROCESS_STACKS_THREAD_NAMES_H

/*
 * thread_names: gives threads the names that interpreted programs gave them, which the kernel may
 * not know. They are read from a process when one of its threads is first sampled, and again from
 * time to time as long as its threads are sampled.
 */

#include <stdbool.h>

struct interpreters;
struct process_tracker;
struct thread_names;

/*
 * Names the threads of a tracker from now on. Both are borrowed.
 * interpreters are numbered by pid, or else as the tracker numbers processes. NULL if out of
 * memory.
 */
struct thread_names *thread_names_new(struct process_tracker *tracker,
				      const struct interpreters *interpreters, bool by_pid);
/* NULL is fine. The tracker must get no samples afterwards. */
void thread_names_free(struct thread_names *names);

#endif
