/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PTRACE_SNAPSHOT_H
#define WICK_ENGINE_PTRACE_SNAPSHOT_H

/*
 * snapshot: a process as it was at one moment: the registers of its threads, and its memory.
 *
 *	snapshot_stop()     all threads stand still, and their registers are known
 *	snapshot_fork()     a child of the process is its memory from here on; it never runs
 *	snapshot_go_on()    the process goes on
 *	snapshot_fini()     the child is gone without a trace
 *
 * Threads are seized and interrupted, so calls that they sleep in are restarted by the kernel (see
 * stopper.h for those that are not). The child is made by a call that one of the threads is
 * led to make; it has no signal for its end, so wait() and SIGCHLD do not tell of it.
 *
 * Threads: one at a time; what is traced is traced by a thread of its own (tracer.h).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "process_stacks/registers.h"

struct error;
struct tracer;

struct snapshot_thread {
	pid_t tid;
	bool is_held;
	bool has_ended; /* as the first one may before the others */
	bool is_kept;   /* by the kernel, and so not stopped */
	bool is_known;  /* its registers are */
	bool is_quiet;  /* it stopped because we asked, not on its way to something else */
	int refusal;    /* why it is not held; 0: it is, or was not to be */
	int signal;     /* that it stopped for, and gets when it goes on; 0: none */
	struct registers registers;
	size_t first_vector; /* of its words in the snapshot's vectors */
	size_t vector_count;
	uint64_t sp;
	uint64_t pointer; /* the thread pointer; 0: not known */
	char call[32];    /* "running", or the number of the call it is in and its arguments */
};

struct snapshot {
	pid_t pid;
	pid_t memory_pid; /* whose memory is that of the moment: a thread of it, or the child */
	struct tracer *tracer;
	pid_t child;  /* 0: none was made */
	bool is_left; /* the child: the process could not be led to ask for its end yet */
	uint64_t patience_ns;
	uint64_t time_ns; /* CLOCK_MONOTONIC, when all stood still */
	uint64_t asked_ns;
	uint64_t paused_ns; /* how long they did, all in all */
	uint64_t call_address;
	bool in_vdso; /* the call, and not in the preloaded library */
	VEC(struct snapshot_thread) threads;
	VEC(uint64_t) vectors; /* what threads have in vector registers, without zeros */
};

/*
 * Threads that wait for a CPU are given patience_ns to stop; the others stand still meanwhile.
 * The caller releases with snapshot_fini(), also after a failure: then nothing is held.
 */
int snapshot_stop(struct snapshot *snapshot, pid_t pid, uint64_t patience_ns, struct error *err);

/*
 * call_address: of an instruction in the process that calls the kernel, of the preloaded library;
 * 0: one is looked for.
 */
int snapshot_fork(struct snapshot *snapshot, uint64_t call_address, struct error *err);

void snapshot_go_on(struct snapshot *snapshot);

/* While the process goes on: threads that stopped too late for us go on as well. */
void snapshot_let_late_go(struct snapshot *snapshot);

/* Tries to get rid of a child that is left: of pid, child and call_address. */
void snapshot_reap(struct snapshot *snapshot);
void snapshot_fini(struct snapshot *snapshot);

/* Memory of the moment; returns how many bytes could be read. */
size_t snapshot_read(const struct snapshot *snapshot, uint64_t address, void *buffer, size_t size);

#endif
