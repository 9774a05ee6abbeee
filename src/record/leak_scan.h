/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_LEAK_SCAN_H
#define WICK_RECORD_LEAK_SCAN_H

/*
 * leak_scan: looks for leaks in a recorded process and writes the result to the recording.
 *
 * Threads: all functions are called by the thread that drives the engine, because they drain it.
 *
 * The process is stopped, its pending events are drained, and then it continues. The scan examines
 * a copy of the process (a fork), or the process itself if it is waiting at its exit. Which blocks
 * were live at that moment comes from the recording, which is read again up to there.
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
	enum leak_trigger trigger; /* what asked for the scan */
};

/* A copy of a scanned process that could not be removed because the process is stopped. */
struct leak_copy {
	pid_t pid;   /* of the process */
	pid_t child; /* 0: none */
	uint64_t call_address;
	bool in_vdso;
};

struct leak_summary {
	uint64_t time_ns;
	uint64_t paused_ns;
	uint64_t cpu_ns;
	struct leak_sum sums[LEAK_CLASSES];
	struct leak_copy left; /* set in any case */
};

struct leak_search;

/*
 * Starts a search. The process is stopped for a moment, or until the search ends if it is waiting
 * at its exit. A separate thread does the rest. The caller ends *ret with leak_search_end().
 */
int leak_search_begin(const struct leak_job *job, const struct engine_process *process,
		      struct leak_search **ret, struct error *err);

/*
 * Whether leak_search_end() would return without waiting. Call it from time to time: it also
 * releases threads of the process that stopped too late to be read.
 */
bool leak_search_is_done(struct leak_search *search);

/* Writes the result to the recording. The process continues in any case. */
int leak_search_end(struct leak_search *search, struct leak_summary *ret, struct error *err);

/* Ends a search whose result can no longer be written. */
void leak_search_drop(struct leak_search *search, struct leak_copy *ret_left);

/* Tries again to remove the copy. Returns whether it is gone. */
bool leak_copy_remove(const struct leak_copy *copy);

#endif
