/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_UNWINDER_H
#define WICK_ENGINE_UNWINDER_H

/*
 * unwinder: walks the stacks of other processes, with the tables of their modules.
 *
 * Tables belong to the unwinder, one for each file however many processes map
 * it; they are made when a stack first needs them. A process is what it has
 * mapped where. Stacks come from a stopped thread, or from the registers and the
 * copied stack of a perf sample.
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

struct unwinder *unwinder_new(void); /* NULL without memory */
/* After all its processes. */
void unwinder_free(struct unwinder *unwinder);

/* Learns what a process has mapped from /proc. */
int unwinder_process_open(struct unwinder *unwinder, pid_t pid, struct unwinder_process **ret,
			  struct error *err);
void unwinder_process_close(struct unwinder_process *process);

/*
 * Reads the maps anew: after a dlopen or an exec, or when walks end at bad
 * addresses. Nothing is lost when it fails, for the process may be gone.
 */
int unwinder_process_refresh(struct unwinder_process *process, struct error *err);

/*
 * Makes the tables of all that is mapped, as far as they can be had until a moment
 * of CLOCK_MONOTONIC, so that no walk has to wait for one. Returns whether all are
 * made; otherwise the next call goes on.
 */
bool unwinder_process_prepare(struct unwinder_process *process, uint64_t until_ns);

/* From now on walks follow frame pointers alone. */
void unwinder_process_without_tables(struct unwinder_process *process);

/*
 * Walks the stack of a thread that is in a ptrace stop of the caller. The trace
 * has pcs and capacity set. Returns 0, or why the registers could not be read; or 1
 * when the maps do not know its stack: they should be read anew, when it goes on.
 */
int unwinder_walk_thread(struct unwinder_process *process, pid_t tid, struct unwind_trace *trace);

/* The registers of a user-mode moment and what was on its stack from sp on. */
struct stack_copy {
	const struct registers *registers;
	const void *bytes; /* from sp on */
	size_t size_bytes; /* as many as are real: the dyn_size of a perf sample */
};

/*
 * Walks a copied stack. A stack that is larger than the copy ends with
 * UNWIND_UNREADABLE.
 */
void unwinder_walk_copy(struct unwinder_process *process, const struct stack_copy *copy,
			struct unwind_trace *trace);

#endif
