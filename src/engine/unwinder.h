/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_UNWINDER_H
#define WICK_ENGINE_UNWINDER_H

/*
 * unwinder: walks the stacks of other processes, with the unwind tables of their modules.
 *
 * The unwinder owns the tables, one for each file regardless of how many processes map it; a table
 * is built when a stack first needs it. An unwinder_process holds the mappings of a process. A
 * stack is that of a stopped thread, or the registers and copied stack of a perf sample.
 *
 * Threads: an unwinder and all its processes are used by one thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "unwind/walk.h"

struct error;
struct registers;
struct unwinder;
struct unwinder_process;

struct unwinder *unwinder_new(void); /* NULL if out of memory */
/* Call after all its processes are closed. */
void unwinder_free(struct unwinder *unwinder);

/* Reads the mappings of a process from /proc. */
int unwinder_process_open(struct unwinder *unwinder, pid_t pid, struct unwinder_process **ret,
			  struct error *err);
void unwinder_process_close(struct unwinder_process *process);

/*
 * Reads the mappings again: after a dlopen or an exec, or when walks end at bad addresses. If this
 * fails, the old mappings stay, because the process may be gone.
 */
int unwinder_process_refresh(struct unwinder_process *process, struct error *err);

/*
 * Builds the tables of all mapped files until a time of CLOCK_MONOTONIC, so that no walk has to
 * wait for one. Returns whether all are built; otherwise the next call continues.
 */
bool unwinder_process_prepare(struct unwinder_process *process, uint64_t until_ns);

/* From now on walks follow only frame pointers. */
void unwinder_process_without_tables(struct unwinder_process *process);

/*
 * Walks the stack of a thread that is in a ptrace stop of the caller. The trace has pcs and
 * capacity set. Returns 0; a negative errno if the registers could not be read; or 1 if its stack
 * is not in the known mappings: they should be read again after the thread resumes.
 */
int unwinder_walk_thread(struct unwinder_process *process, pid_t tid, struct unwind_trace *trace);

/* User-mode registers and a copy of the stack starting at sp. */
struct stack_copy {
	const struct registers *registers;
	const void *bytes; /* starting at sp */
	size_t size_bytes; /* valid bytes: the dyn_size of a perf sample */
};

/*
 * Walks a copied stack. If the stack is larger than the copy, the walk ends with UNWIND_UNREADABLE.
 */
void unwinder_walk_copy(struct unwinder_process *process, const struct stack_copy *copy,
			struct unwind_trace *trace);

#endif
