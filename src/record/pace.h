/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_PACE_H
#define WICK_RECORD_PACE_H

/*
 * pace: controls the sampling rate of an engine during a recording, and its pauses.
 *
 * The budget, the breaker, alarms, a delay at the start and pauses by the user all contribute; the
 * result is one rate for the engine, which is 0 while there is any reason to pause. If an engine
 * fails to change its rate, this is reported and the recording continues. It is retried for another
 * rate and on request, but only a limited number of times.
 */

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "engine/engine_stats.h"
#include "record/alarms.h"
#include "record/breaker.h"
#include "record/budget.h"

/* Reasons for a pause: bits. */
enum pace_reason {
	PACE_DELAY = 1 << 0,   /* sampling starts later */
	PACE_ASKED = 1 << 1,   /* the user asked for it */
	PACE_BREAKER = 1 << 2, /* the host is too busy */
};

struct pace_config {
	double budget;     /* share of the target's time, 0.02 for 2 %; 0: any */
	uint32_t least_hz; /* the budget's floor; 0: by what is recorded */
	bool keeps_rate;   /* the rate must not be lowered: too high a cost is only reported */
	bool only_heap;    /* no time is sampled: the rate means nothing */
	double breaker;    /* busy share of the host above which it pauses; 0: never */
	uint64_t delay_ns;
	enum engine_mode mode;
	bool machine; /* the whole machine is the target */
	/*
	 * For a recorder that runs all the time: the budget is a share of one CPU, over longer
	 * stretches; the breaker is a slow one, and hurrying ends.
	 */
	bool endless;
	bool group; /* the target is a control group, which may have as many processes as a machine
		     */
	/* Called with messages for the user; NULL is fine. */
	void (*notice)(void *self, const char *text);
	void *self;
};

struct pace {
	struct pace_config config;
	struct engine *engine;
	struct budget budget;
	struct breaker breaker;
	struct alarms alarms;
	uint32_t paused;     /* enum pace_reason */
	uint32_t hz;         /* current rate of the engine; 0: paused */
	bool fixed;          /* the period was given: sampling can be paused, but not slowed */
	bool hurried;        /* buffers must be emptied more often */
	uint64_t hurried_ns; /* when one was last nearly full, or samples were lost; 0: never */
	/* Failed changes of the rate: total, consecutive, the last rate, and the reason. */
	uint32_t failures;
	uint32_t failures_in_row;
	uint32_t refused_hz;
	char refusal[256];
	uint64_t start_ns;
	uint64_t paused_since_ns;
	/*
	 * The current periods of budget and alarms: when they began, and the figures at that time.
	 */
	uint64_t look_ns;
	uint64_t alarm_ns;
	uint64_t own_ns;
	uint64_t lag_ns; /* maximum of this period */
	uint64_t late;   /* consecutive periods in which it was late */
	struct engine_stats looked;
	struct engine_stats alarmed;
	double ring_fill;
	/* For the summary: */
	uint64_t paused_ns;
	uint32_t lowest_hz;
	uint32_t lowered; /* times */
};

/* Whether sampling starts paused, for engine_config.paused. */
bool pace_begins_paused(const struct pace_config *config);

/* Call it when the engine has started, at its rate or paused as above. Borrows the engine. */
void pace_begin(struct pace *pace, const struct pace_config *config, struct engine *engine);

/* Call it often; lag_ns is how late the call is. Changes the rate if necessary. */
void pace_look(struct pace *pace, uint64_t now_ns, uint64_t lag_ns);

/* Pauses or resumes on request. Returns -EIO if the engine fails: `refusal` says why. */
int pace_ask(struct pace *pace, bool paused, uint64_t now_ns);

/* Another rate and budget from now on. */
void pace_change(struct pace *pace, uint32_t asked_hz, double budget, uint64_t now_ns);

/* The recording has ended: completes the statistics. */
void pace_end(struct pace *pace, uint64_t now_ns);

/* The latest time for the next pace_look(). */
uint64_t pace_next_ns(const struct pace *pace);

#endif
