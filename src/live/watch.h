/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIVE_WATCH_H
#define WICK_LIVE_WATCH_H

/*
 * watch: an engine on a target for as long as somebody looks, without a recording.
 *
 * It takes over the signals that end or suspend a program, and those that tell of another
 * size of the terminal: from watch_open() on they are events. A program that was started is
 * ended with SIGTERM when its watcher goes before it does.
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
	struct target target; /* ids are filled in for a command */
	char *const *command; /* NULL: none is started */
	bool silent;          /* it has no terminal: nothing to read, and nobody reads it */
	struct pace_config pace;
	struct sink *sink; /* borrowed */
};

/* What has happened: bits. */
enum watch_event {
	WATCH_INPUT = 1 << 0,   /* there is something to read */
	WATCH_STOP = 1 << 1,    /* a signal asks us to end */
	WATCH_SUSPEND = 1 << 2, /* or to be suspended: see watch_stand_by() */
	WATCH_RESIZED = 1 << 3,
	WATCH_ENDED = 1 << 4, /* the target has; told at each turn from then on */
};

/*
 * Starts to sample. The caller releases *ret with watch_close(). When a command cannot be
 * started *ret_exec is the negative errno, else 0.
 */
int watch_open(const struct watch_config *config, struct watch **ret, int *ret_exec,
	       struct error *err);

/* NULL is fine. Returns the id of a program that was started and did not end when asked, else 0. */
pid_t watch_close(struct watch *watch);

/*
 * Waits for something to happen, until_ns at most (CLOCK_MONOTONIC), and lets what was
 * sampled into the sink. input_fd is looked at too, unless it is -1.
 */
int watch_turn(struct watch *watch, int input_fd, uint64_t until_ns, uint32_t *ret_events,
	       struct error *err);

/* Stops this program as it was asked to; returns when it is continued. */
int watch_stand_by(struct watch *watch, struct error *err);

/* The first process or thread that is watched; 0: the machine is, or a control group. */
pid_t watch_first_id(const struct watch *watch);

/* The last signal that asked us to end. */
int watch_stop_signal(const struct watch *watch);
void watch_stats(struct watch *watch, struct engine_stats *ret);
void watch_end_stats(struct watch *watch, struct engine_stats *ret); /* all, once it has ended */
uint32_t watch_rate_hz(const struct watch *watch);   /* 0: it does not sample just now */
const char *watch_engine(const struct watch *watch); /* the name of the one that samples */
const char *watch_notice(const struct watch *watch);

/* How the command ended, as a shell would tell; -1: it was not started, or runs. */
int watch_child_status(const struct watch *watch);

#endif
