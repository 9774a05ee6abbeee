/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIVE_WATCH_H
#define WICK_LIVE_WATCH_H

/*
 * watch: runs an engine on a target without making a recording, for live views.
 *
 * It handles the signals that end or suspend a program, and SIGWINCH: from watch_open() on they are
 * events. If the watch is closed before a program that it started ends, the program is sent
 * SIGTERM.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/engine.h"
#include "record/pace.h"

struct error;
struct sink;
struct watch;

struct watch_config {
	const struct engine_ops *engine;
	struct engine_config sampling;
	struct target target; /* for a command the ids are filled in */
	char *const *command; /* NULL: no command */
	bool silent; /* the command gets no terminal: its input is empty and its output is discarded
		      */
	struct pace_config pace;
	struct sink *sink; /* borrowed */
};

/* What happened: bits. */
enum watch_event {
	WATCH_INPUT = 1 << 0,   /* input_fd is readable */
	WATCH_STOP = 1 << 1,    /* a signal asks us to stop */
	WATCH_SUSPEND = 1 << 2, /* a signal asks us to suspend: see watch_stand_by() */
	WATCH_RESIZED = 1 << 3,
	WATCH_ENDED = 1 << 4, /* the target has ended; set in each turn from then on */
};

/*
 * Starts sampling. The caller releases *ret with watch_close(). If the command cannot be started,
 * *ret_exec is the negative errno, else 0.
 */
int watch_open(const struct watch_config *config, struct watch **ret, int *ret_exec,
	       struct error *err);

/* NULL is fine. Returns the PID of a started program that did not end after SIGTERM, else 0. */
pid_t watch_close(struct watch *watch);

/*
 * Waits for an event, at most until until_ns (CLOCK_MONOTONIC), and passes new samples to the sink.
 * Also waits for input_fd, unless it is -1.
 */
int watch_turn(struct watch *watch, int input_fd, uint64_t until_ns, uint32_t *ret_events,
	       struct error *err);

/* Suspends this program; returns when it is continued. */
int watch_stand_by(struct watch *watch, struct error *err);

/* The first watched process or thread; 0: the target is the machine or a control group. */
pid_t watch_first_id(const struct watch *watch);

/* The last signal that asked us to stop. */
int watch_stop_signal(const struct watch *watch);
void watch_stats(struct watch *watch, struct engine_stats *ret);
void watch_end_stats(struct watch *watch, struct engine_stats *ret); /* totals, after the end */
uint32_t watch_rate_hz(const struct watch *watch);                   /* 0: sampling is paused */
const char *watch_engine(const struct watch *watch);                 /* the name of the engine */
const char *watch_notice(const struct watch *watch);

/*
 * The exit status of the command as a shell reports it; -1: it was not started, or is still
 * running.
 */
int watch_child_status(const struct watch *watch);

#endif
