/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_TRACKED_THREADS_H
#define WICK_PROCESS_STACKS_TRACKED_THREADS_H

/* tracked_threads: the threads that a process tracker has seen, by tid. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/id_index.h"
#include "base/vec.h"

struct tracked_thread {
	pid_t pid;
	pid_t tid;
	uint32_t comm;  /* the kernel's name, among the tracker's strings */
	uint32_t given; /* the program's name, which is shown instead; 0: none */
	uint32_t id;    /* in the sink; ID_NONE until a sample needs it */
	bool ended;
};

struct tracked_threads {
	VEC(struct tracked_thread) items;
	struct id_index index;
};

void tracked_threads_fini(struct tracked_threads *threads);

/* NULL if it was not seen. Valid until another one is added. */
struct tracked_thread *tracked_threads_find(const struct tracked_threads *threads, pid_t tid);

/* The same for a thread of this process: another one may have had the tid before. */
struct tracked_thread *tracked_threads_of(const struct tracked_threads *threads, pid_t pid,
					  pid_t tid);

/* Adds a thread, or replaces the one with this tid. NULL if out of memory. */
struct tracked_thread *tracked_threads_put(struct tracked_threads *threads, pid_t pid, pid_t tid,
					   uint32_t comm);

/* The kernel has another name for a thread. The program's name stays, unless it is another program.
 */
void tracked_threads_rename(struct tracked_threads *threads, pid_t pid, pid_t tid, uint32_t comm,
			    bool exec);

/*
 * Gives a thread the program's name in *thread, and adds it if its tid is new. If the tid belongs
 * to another process, nothing happens: what a program says about itself must not rename others.
 */
void tracked_threads_give(struct tracked_threads *threads, const struct tracked_thread *thread);

/* The thread has ended: its last samples may arrive later. */
void tracked_threads_end(struct tracked_threads *threads, pid_t pid, pid_t tid);

/* Forgets threads that have ended, and those of processes that are not kept. */
void tracked_threads_sweep(struct tracked_threads *threads,
			   bool (*is_kept)(const void *self, pid_t pid), const void *self);

/* The name to show. */
static inline uint32_t tracked_thread_name(const struct tracked_thread *thread)
{
	return thread->given ? thread->given : thread->comm;
}

#endif
