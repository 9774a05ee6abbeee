/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_LEAK_SCAN_H
#define WICK_RECORD_LEAK_SCAN_H

/*
 * leak_scan: looks for leaks in a process that is recorded, and writes down what was found.
 *
 * Threads: all functions are called by the one that drives the engine, for ptrace belongs to it.
 *
 * The process is stopped, what it has told is drained, and then it goes on: a copy of it, or the
 * process itself when it waits at its end, is what is looked at. Which blocks were live then is
 * what the recording tells, which is read again up to there.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "heap/leak/leak_scans.h"
#include "model/leak.h"

struct engine;
struct engine_process;
struct error;
struct recording_writer;

struct leak_job {
	struct engine *engine;
	struct recording_writer *writer;
	int output_fd;             /* of the recording; the file may have lost its name */
	enum leak_trigger trigger; /* why it is done */
};

/* A copy of a process that was looked at, and could not be taken away: the process is stopped. */
struct leak_copy {
	pid_t pid;   /* of the process */
	pid_t child; /* 0: there is none */
	uint64_t call_address;
	bool in_vdso;
};

struct leak_summary {
	uint64_t time_ns;
	uint64_t paused_ns;
	uint64_t cpu_ns;
	struct leak_sum sums[LEAK_CLASSES];
	struct leak_copy left; /* told in any case */
};

struct leak_search;

/*
 * Begins: the process stands still for a moment, or until the end of the search when it waits. The
 * rest is done by a thread of its own. The caller ends *ret with leak_search_end().
 */
int leak_search_begin(const struct leak_job *job, const struct engine_process *process,
		      struct leak_search **ret, struct error *err);

/* Whether leak_search_end() would not wait. Called now and then, it sees to the process. */
bool leak_search_is_done(struct leak_search *search);

/* Writes down what was found; the process goes on in any case. */
int leak_search_end(struct leak_search *search, struct leak_summary *ret, struct error *err);

/* Ends a search whose result nobody can write down any more. */
void leak_search_drop(struct leak_search *search, struct leak_copy *ret_left);

/* Tries again. Returns whether it is gone. */
bool leak_copy_remove(const struct leak_copy *copy);

#endif
