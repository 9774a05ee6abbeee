/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_RECORD_H
#define WICK_RECORD_RECORD_H

/*
 * record: joins a target, an engine and a recording, and owns the loop that runs
 * until the target ends, the time is up or someone asks to stop.
 *
 * It handles the signals that a user or a supervisor sends: the first SIGINT, SIGTERM or SIGHUP
 * ends the recording cleanly, a second one ends it at once. A launched program receives them too,
 * as it would without wick. SIGUSR2 pauses sampling and SIGUSR1 resumes it, unless a launched
 * program handles them: then they are passed on to it. A guest (libwick) handles no signals.
 *
 * With last_ns the last seconds are written whenever the recording ends, and on SIGUSR2 unless the
 * launched program has a handler for it; SIGUSR2 does not pause then.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "engine/engine_stats.h"
#include "record/leak_watch.h"
#include "record/pace.h"

struct error;
struct flight_written;
struct record_result;

struct record_config {
	const struct engine_ops *engine;
	struct engine_config sampling;
	struct target target; /* for a command the ids are filled in */
	char *const *command; /* NULL: none is launched */
	bool arguments;       /* record the whole command line, not only the name of the program */
	const char *output;
	const int *output_fd; /* written instead of output; NULL: none */
	const int *stop_fd;   /* ends the recording when it becomes readable; NULL: none */
	bool is_guest; /* runs inside another program (libwick): do not change its signals and
			  limits */
	uint64_t duration_ns;    /* 0: no limit; from when sampling begins */
	struct pace_config pace; /* its notice is the one below */
	uint64_t last_ns; /* keep only this much, see flight_recorder.h; 0: write everything to the
			     output */
	struct leak_watch_config leaks; /* with sampling.heap.leaks; not with last_ns */
	const char *const *labels;      /* "KEY=VALUE", for every sample */
	size_t label_count;
	const char *title; /* what is watched, for the user */
	/* Called about five times a second; NULL is fine. */
	void (*progress)(void *self, uint64_t elapsed_ns, const struct engine_stats *stats,
			 uint64_t file_bytes);
	/*
	 * Called once when everything is ready: running targets are being sampled. With
	 * target.joins it gets the environment variables that connect programs to the engine, from
	 * engine_environment(). NULL is fine.
	 */
	void (*armed)(void *self, char *const *environment);
	/* Called once for each message that deserves a line on stderr; NULL is fine. */
	void (*notice)(void *self, const char *text);
	/* With last_ns: called when the last seconds have been written; NULL is fine. */
	void (*wrote)(void *self, const struct flight_written *written);
	/*
	 * Called once when the recording is closed or has failed with err, before waiting for a
	 * launched program; NULL is fine.
	 */
	void (*finished)(void *self, const struct record_result *result, const struct error *err);
	void *self;
};

enum record_end {
	RECORD_TARGET_ENDED,
	RECORD_TIME_UP,
	RECORD_STOPPED, /* a signal */
};

struct record_result {
	struct engine_stats stats;
	enum record_end end;
	uint64_t duration_ns;
	uint64_t file_bytes;
	uint64_t own_cpu_ns; /* what the recorder itself used */
	uint64_t paused_ns;  /* of the duration */
	uint32_t lowest_hz; /* lowest rate set by the budget or an alarm; 0: the rate did not change
			     */
	uint32_t rate_failures; /* how often the engine failed to change its rate */
	uint64_t own_rss_bytes;
	uint32_t leak_scans;
	uint32_t leak_failures;    /* failed scans at the exit of a process or at the end of the
				      recording */
	struct leak_summary leaks; /* the last scan */
	bool has_child;
	bool target_stopped; /* by a signal or a debugger, at the end */
	bool child_running;  /* it continues to run without the recorder */
	int killed_by;       /* the signal that ended the child before the recording; 0: none */
	int child_status;    /* as a shell reports it */
	int exec_code;       /* negative errno when the program could not be started */
	bool killed_early; /* it was killed before it started: nothing was recorded, child_status is
			      valid */
};

/*
 * Records. *ret is valid even after a failure. The output keeps what was written so far; it is
 * removed only if the program could not be started.
 */
int record_run(const struct record_config *config, struct record_result *ret, struct error *err);

#endif
