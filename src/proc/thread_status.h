/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_THREAD_STATUS_H
#define WICK_PROC_THREAD_STATUS_H

/*
 * thread_status: single fields of /proc/TID/status. No state: any thread may call.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A numeric field in the text of a status file, by its name without the colon; in decimal or, for
 * masks such as CapEff, in base 16. Returns 0, -ENOENT if there is no such line, or -EINVAL if it
 * has no number.
 */
int thread_status_parse(const char *text, const char *name, int base, uint64_t *ret);

/* The same for a thread; tid 0 means this process. Also returns the errors of reading the file. */
int thread_status_read(pid_t tid, const char *name, int base, uint64_t *ret);

/* The process of a thread, and its tracer (0: none); -1 when unknown. */
pid_t thread_process(pid_t tid);
pid_t thread_tracer(pid_t tid);

/*
 * The id of a thread in its own pid namespace, which is another one in a container. Returns 0 or a
 * negative errno.
 */
int thread_inner_tid(pid_t tid, pid_t *ret);

/* Whether its process has a handler for a signal; false when unknown. */
bool thread_catches(pid_t tid, int number);

#endif
