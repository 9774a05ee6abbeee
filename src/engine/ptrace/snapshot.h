/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PTRACE_SNAPSHOT_H
#define WICK_ENGINE_PTRACE_SNAPSHOT_H

/*
 * snapshot: a process at one moment: the registers of its threads, and its memory.
 *
 *	snapshot_stop()     stops all threads and reads their registers
 *	snapshot_fork()     forks the process; the child, which never runs, holds its memory
 *	snapshot_go_on()    resumes the process
 *	snapshot_fini()     removes the child without a trace
 *
 * Threads are seized and interrupted, so the kernel restarts calls that they sleep in (see
 * stopper.h for exceptions). The child is created by a system call injected into one of the
 * threads; it has no exit signal, so wait() and SIGCHLD do not report it.
 *
 * Threads: used by one thread at a time; a separate thread does the tracing (tracer.h).
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
	bool has_ended; /* as the first thread may before the others */
	bool is_kept;   /* blocked in the kernel, and so not stopped */
	bool is_known;  /* its registers are known */
	bool is_quiet;  /* it stopped because we asked, not for another reason */
	int refusal;    /* why it is not held; 0: it is, or need not be */
	int signal;     /* it stopped for this signal, and receives it on resume; 0: none */
	struct registers registers;
	size_t first_vector; /* index of its words in the snapshot's vectors */
	size_t vector_count;
	uint64_t sp;
	uint64_t pointer; /* the thread pointer; 0: unknown */
	char call[32];    /* "running", or the number and arguments of its system call */
};

struct snapshot {
	pid_t pid;
	pid_t memory_pid; /* whose memory to read: a thread of the process, or the child */
	struct tracer *tracer;
	pid_t child;  /* 0: none */
	bool is_left; /* the child is left: the process could not be made to reap it yet */
	uint64_t patience_ns;
	uint64_t time_ns; /* CLOCK_MONOTONIC, when all threads had stopped */
	uint64_t asked_ns;
	uint64_t paused_ns; /* how long they were stopped */
	uint64_t call_address;
	bool in_vdso; /* call_address is in the vDSO, not in the preload library */
	VEC(struct snapshot_thread) threads;
	VEC(uint64_t) vectors; /* contents of vector registers, without zeros */
};

/*
 * Threads that wait for a CPU have patience_ns to stop; the others are stopped meanwhile. The
 * caller releases with snapshot_fini(), even after a failure: then nothing is stopped.
 */
int snapshot_stop(struct snapshot *snapshot, pid_t pid, uint64_t patience_ns, struct error *err);

/*
 * call_address: a system call instruction of the preload library in the process; 0: search for one.
 */
int snapshot_fork(struct snapshot *snapshot, uint64_t call_address, struct error *err);

void snapshot_go_on(struct snapshot *snapshot);

/* Call while the process runs: resumes threads that stopped too late. */
void snapshot_let_late_go(struct snapshot *snapshot);

/* Tries to remove a leftover child; uses pid, child and call_address. */
void snapshot_reap(struct snapshot *snapshot);
void snapshot_fini(struct snapshot *snapshot);

/* Reads memory of the snapshot; returns how many bytes could be read. */
size_t snapshot_read(const struct snapshot *snapshot, uint64_t address, void *buffer, size_t size);

#endif
