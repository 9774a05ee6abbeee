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
 * The field of a name in the text of a status file, without its colon: a number,
 * in decimal or, for masks such as CapEff, in base 16. Returns 0, -ENOENT when there
 * is no such line, or -EINVAL when no number stands there.
 */
int thread_status_parse(const char *text, const char *name, int base, uint64_t *ret);

/* The same of a thread; tid 0 means this process. Also fails as reading the file fails. */
int thread_status_read(pid_t tid, const char *name, int base, uint64_t *ret);

/* The process of a thread, and who traces it (0: nobody); -1 when that cannot be told. */
pid_t thread_process(pid_t tid);
pid_t thread_tracer(pid_t tid);

/* Whether its process has a handler for a signal; no when that cannot be told. */
bool thread_catches(pid_t tid, int number);

#endif
