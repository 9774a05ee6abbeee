/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_UNREAD_CALLS_H
#define WICK_ENGINE_PERF_UNREAD_CALLS_H

/*
 * unread_calls: which processes run an interpreter whose calls the perf engine cannot read, to say
 * so. A thread has long moved on when the kernel's copy of its stack is read, and that does not
 * contain the interpreter's frames.
 */

#include <sys/types.h>

struct engine_python_stats;
struct map_region;
struct unread_calls;

struct unread_calls *unread_calls_new(void); /* NULL if out of memory */
void unread_calls_free(struct unread_calls *unread);

/* The functions below accept NULL, and do nothing. A process is running, or maps something. */
void unread_calls_look(struct unread_calls *unread, pid_t pid);
void unread_calls_map(struct unread_calls *unread, pid_t pid, const struct map_region *region);
/* It has ended, or runs another program. */
void unread_calls_forget(struct unread_calls *unread, pid_t pid);

/* Says how many there were. */
void unread_calls_stats(struct unread_calls *unread, struct engine_python_stats *ret);

#endif
