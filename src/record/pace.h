/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_PACE_H
#define WICK_RECORD_PACE_H

/*
 * pace: how often an engine samples while a recording goes on, and when it does not.
 *
 * The budget, the breaker, alarms, a delay at the start and people who pause a recording
 * all have a say; the engine is told one rate. With any reason to pause that is none.
 * Where an engine fails to change its rate that is told, and the recording goes on; it is
 * tried again for another rate and when somebody asks, but not without end.
 */

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "record/alarms.h"
#include "record/breaker.h"
#include "record/budget.h"

/* Why nothing is sampled: bits. */
enum pace_reason {
	PACE_DELAY = 1 << 0,   /* it begins later */
	PACE_ASKED = 1 << 1,   /* somebody wants it so */
	PACE_BREAKER = 1 << 2, /* the host is too busy */
};

struct pace_config {
	double budget;     /* share of the target's time, 0.02 for 2 %; 0: any */
	uint32_t least_hz; /* the budget's floor; 0: by what is recorded */
	bool keeps_rate;   /* the rate is not ours to lower: too much is told, not mended */
	double breaker;    /* busy share of the host above which it pauses; 0: never */
	uint64_t delay_ns;
	enum engine_mode mode;
	bool machine; /* all of it is the target */
	bool group;   /* a control group is: as many processes as on a machine */
	/* Called with lines for people; NULL: nobody reads. */
	void (*notice)(void *self, const char *text);
	void *self;
};

struct pace {
	struct pace_config config;
	struct engine *engine;
	struct budget budget;
	struct breaker breaker;
	struct alarms alarms;
	uint32_t paused; /* enum pace_reason */
	uint32_t hz;     /* that the engine has; 0: none */
	bool fixed;      /* by a period that was given: it can be paused, not lowered */
	bool hurried;    /* buffers are to be emptied more often */
	/* Changes of the rate that failed: in all, in a row, the last of them, and why. */
	uint32_t failures;
	uint32_t failures_in_row;
	uint32_t refused_hz;
	char refusal[256];
	uint64_t start_ns;
	uint64_t paused_since_ns;
	/* Of the stretches of budget and alarms: when they began, and the figures then. */
	uint64_t look_ns;
	uint64_t alarm_ns;
	uint64_t own_ns;
	uint64_t lag_ns; /* at most, in this one */
	uint64_t late;   /* stretches in a row in which it was */
	struct engine_stats looked;
	struct engine_stats alarmed;
	double ring_fill;
	/* For the summary: */
	uint64_t paused_ns;
	uint32_t lowest_hz;
	uint32_t lowered; /* times */
};

/* How long nothing is sampled at first, for engine_config.paused. */
bool pace_begins_paused(const struct pace_config *config);

/* The engine has started, at its rate or paused as above. Borrows the engine. */
void pace_begin(struct pace *pace, const struct pace_config *config, struct engine *engine);

/* To be called often; lag_ns is how late that is. Changes the rate if need be. */
void pace_look(struct pace *pace, uint64_t now_ns, uint64_t lag_ns);

/* Somebody wants a pause, or its end. -EIO when the engine fails: refusal says why. */
int pace_ask(struct pace *pace, bool paused, uint64_t now_ns);

/* The recording is over: closes the books. */
void pace_end(struct pace *pace, uint64_t now_ns);

/* Until when pace_look() can wait, at most. */
uint64_t pace_next_ns(const struct pace *pace);

#endif
