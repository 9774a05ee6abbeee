/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIVE_LIVE_SESSION_H
#define WICK_LIVE_LIVE_SESSION_H

/*
 * live_session: runs an engine on a target without a recording, for live views and the agent.
 *
 * It handles the signals that end or suspend a program, and SIGWINCH: from live_session_open() on
 * they are events. If the session is closed before a program that it started ends, the program is
 * sent SIGTERM.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/engine.h"
#include "record/pace.h"

struct error;
struct sink;
struct live_session;

struct live_session_config {
	const struct engine_ops *engine;
	struct engine_config sampling;
	struct target target; /* for a command the ids are filled in */
	char *const *command; /* NULL: no command */
	bool silent; /* the command gets no terminal: its input is empty and its output is discarded
		      */
	struct pace_config pace;
	bool reloads;      /* SIGHUP is WATCH_RELOAD and does not stop */
	struct sink *sink; /* borrowed */
};

/* What happened: bits. */
enum watch_event {
	WATCH_INPUT = 1 << 0,   /* input_fd is readable */
	WATCH_STOP = 1 << 1,    /* a signal asks us to stop */
	WATCH_SUSPEND = 1 << 2, /* a signal asks us to suspend: see live_session_stand_by() */
	WATCH_RESIZED = 1 << 3,
	WATCH_ENDED = 1 << 4,  /* the target has ended; set in each turn from then on */
	WATCH_RELOAD = 1 << 5, /* a signal asks us to read the configuration again */
};

/*
 * Starts sampling. The caller releases *ret with live_session_close(). If the command cannot be
 * started, *ret_exec is the negative errno, else 0.
 */
int live_session_open(const struct live_session_config *config, struct live_session **ret,
		      int *ret_exec, struct error *err);

/* NULL is fine. Returns the PID of a started program that did not end after SIGTERM, else 0. */
pid_t live_session_close(struct live_session *watch);

/*
 * Waits for an event, at most until until_ns (CLOCK_MONOTONIC), and passes new samples to the sink.
 * Also waits for input_fd, unless it is -1.
 */
int live_session_turn(struct live_session *watch, int input_fd, uint64_t until_ns,
		      uint32_t *ret_events, struct error *err);

/* Stops sampling and passes the last samples to the sink. */
int live_session_stop(struct live_session *watch, struct error *err);

/* Why sampling is paused: bits of enum pace_reason; 0: it is not. */
uint32_t live_session_paused(const struct live_session *watch);

/* Another rate and budget from now on. */
void live_session_change(struct live_session *watch, uint32_t asked_hz, double budget);

/* Pauses or resumes sampling. */
void live_session_pause(struct live_session *watch, bool paused);

/* Suspends this program; returns when it is continued. */
int live_session_stand_by(struct live_session *watch, struct error *err);

/* The first watched process or thread; 0: the target is the machine or a control group. */
pid_t live_session_first_id(const struct live_session *watch);

/* The last signal that asked us to stop. */
int live_session_stop_signal(const struct live_session *watch);
void live_session_stats(struct live_session *watch, struct engine_stats *ret);
void live_session_end_stats(struct live_session *watch,
			    struct engine_stats *ret);             /* totals, after the end */
uint32_t live_session_rate_hz(const struct live_session *watch);   /* 0: sampling is paused */
const char *live_session_engine(const struct live_session *watch); /* the name of the engine */
const char *live_session_notice(const struct live_session *watch);

/*
 * The exit status of the command as a shell reports it; -1: it was not started, or is still
 * running.
 */
int live_session_child_status(const struct live_session *watch);

#endif
