/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_AGENT_H
#define WICK_AGENT_AGENT_H

/*
 * agent: samples the whole host without end and hands over a recording of each window of time.
 *
 * It keeps sums of the current window, and nothing else. Where windows go, and how they get there,
 * is the caller's business. One thread; signals are handled as live_session.h says.
 */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agent_stats.h"
#include "agent/services.h"
#include "agent/window.h"
#include "engine/engine.h"

struct agent;
struct burst_order;
struct error;
struct load_options;
struct module;

/* Where windows go. */
struct agent_output {
	/* Returns a descriptor, which the agent closes, for the window of this id, or -errno. */
	int (*begin)(void *self, const char *id, struct error *err);
	/*
	 * The window is complete, or was given up if totals is NULL: then *err says why, and gets
	 * where that was.
	 */
	int (*end)(void *self, const struct window_totals *totals, struct error *err);
	/* Returns whether an order has arrived; optional. */
	bool (*order)(void *self, struct burst_order *ret);
	/* The length of windows that is wanted now, in seconds; 0: any. Optional. */
	uint32_t (*window_s)(void *self);
	/* The windows that wait to be sent; optional. */
	void (*waiting)(void *self, uint64_t *ret_windows, uint64_t *ret_bytes);
	/* With by_address: a file that the window has addresses of, and a process; optional. */
	void (*module)(void *self, const struct module *module, uint32_t pid);
	void *self;
};

struct agent_config {
	const char *engine; /* "auto" or the name of one */
	struct engine_config sampling;
	const struct load_options *load; /* how names are found; borrowed */
	struct services_config services;
	const char *host;
	uint64_t window_ns;
	bool once;             /* end after one window */
	bool by_address;       /* see window.h */
	double budget;         /* share of one CPU that the agent may use; 0: any */
	double breaker;        /* busy share of the host above which it pauses; 0: never */
	uint64_t memory_bytes; /* the agent uses less memory than this; 0: no limit */
	struct agent_output output;
	/* Called with messages for the user. */
	void (*notice)(void *self, const char *text);
	/* Called after each window, and when a pause begins or ends; optional. */
	void (*changed)(void *self, const struct agent_stats *stats);
	/* Called about once a second; optional. */
	void (*tick)(void *self);
	/* Called on SIGHUP with the agent, for agent_reload(); optional. */
	void (*reload)(void *self, struct agent *agent);
	void *self;
};

/* The length of a bucket: half a minute, or the whole of a shorter window. */
uint64_t agent_bucket_ns(uint64_t window_ns);

/*
 * Blocks the signals that agent_run() reads, from hold() to release(): one that arrives before it
 * runs is not lost.
 */
struct agent_signals {
	sigset_t held;
	sigset_t before;
};

void agent_signals_hold(struct agent_signals *ret);
void agent_signals_release(const struct agent_signals *signals);

/*
 * Runs until a signal asks it to stop; the open window is then handed over too. Borrows the
 * configuration.
 */
int agent_run(const struct agent_config *config, struct error *err);

/*
 * Uses other rules, labels and another release, for the open window too. Borrows them as
 * agent_run() does. On failure the old ones stay.
 */
int agent_reload(struct agent *agent, const struct services_config *services, struct error *err);

#endif
