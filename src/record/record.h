/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_RECORD_H
#define WICK_RECORD_RECORD_H

/*
 * record: joins a target, an engine and a recording, and owns the loop that runs
 * until the target ends, the time is up or someone asks to stop.
 *
 * It takes over the signals that a person or a supervisor sends: the first
 * SIGINT, SIGTERM or SIGHUP ends the recording in good order, a second one ends
 * at once. A launched program gets them too, as it would without us. SIGUSR2 pauses
 * the sampling and SIGUSR1 ends the pause, unless a launched program has a use for
 * them: then they are for it. A guest takes no signals.
 *
 * With last_ns the last seconds are written at every end, and on SIGUSR2 unless the
 * program that was launched has a handler for it; that pauses nothing then.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "record/leak_watch.h"
#include "record/pace.h"

struct error;
struct flight_written;
struct record_result;

struct record_config {
	const struct engine_ops *engine;
	struct engine_config sampling;
	struct target target; /* ids are filled in for a command */
	char *const *command; /* NULL: none is launched */
	bool arguments; /* keep all of it in the recording, not the name of the program alone */
	const char *output;
	const int *output_fd;    /* to be written instead; NULL: none */
	const int *stop_fd;      /* ends the recording once it can be read; NULL: none */
	bool is_guest;           /* of a program whose signals and limits stay as they are */
	uint64_t duration_ns;    /* 0: no limit; from when sampling begins */
	struct pace_config pace; /* its notice is the one below */
	uint64_t last_ns;        /* only this much is kept, see flight.h; 0: all, in the output */
	struct leak_watch_config leaks; /* with sampling.heap.leaks; not with last_ns */
	const char *title;              /* what is watched, for people */
	/* Called about five times a second; NULL: nobody looks. */
	void (*progress)(void *self, uint64_t elapsed_ns, const struct engine_stats *stats,
			 uint64_t file_bytes);
	/*
	 * With target.joins: called once when all is armed, with the variables that lead
	 * programs to the engine, as engine_environment() gives them.
	 */
	void (*armed)(void *self, char *const *environment);
	/* Called once when something worth a line on stderr was found out; NULL is fine. */
	void (*notice)(void *self, const char *text);
	/* With last_ns: called when the last seconds have been written; NULL is fine. */
	void (*wrote)(void *self, const struct flight_written *written);
	/*
	 * Called once when the recording is closed, or has failed with err, before
	 * the program that was launched is waited for; NULL is fine.
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
	uint64_t own_cpu_ns;    /* what the recorder itself used */
	uint64_t paused_ns;     /* of the duration */
	uint32_t lowest_hz;     /* that the budget or an alarm has set; 0: the rate stayed */
	uint32_t rate_failures; /* times that the engine could not have another rate */
	uint64_t own_rss_bytes;
	uint32_t leak_scans;
	uint32_t
		leak_failures; /* scans at the end of a process, or of the recording, that failed */
	struct leak_summary leaks; /* the last of them */
	bool has_child;
	bool target_stopped; /* by a signal or a debugger, at the end */
	bool child_running;  /* it goes on without us */
	int killed_by;       /* the signal that ended the child before the recording; 0: none */
	int child_status;    /* as a shell would give it */
	int exec_code;       /* negative errno when the program could not be started */
	bool killed_early;   /* before it began: nothing was recorded, child_status is known */
};

/*
 * Records. *ret is valid also after a failure. The output is left as far as it
 * was written; it is removed only when the program could not be started.
 */
int record_run(const struct record_config *config, struct record_result *ret, struct error *err);

#endif
