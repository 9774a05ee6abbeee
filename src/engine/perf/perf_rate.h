/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_PERF_RATE_H
#define WICK_ENGINE_PERF_PERF_RATE_H

/*
 * perf_rate: the rate of samples, which can change, and the weight of a sample.
 *
 * There are three ways to change the rate:
 *
 *	events of CPUs			change the period of the events
 *	inherited events		those of children keep their first period: open all
 *					events again, and close the old ones
 *	programs make the samples	skip some, up to half of them: this takes effect at
 *					once, but the events still fire
 *
 * During a pause the events have a period that never ends, so that mappings and tasks are
 * still reported.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct error;
struct perf_engine;
struct sample_record;

struct perf_pause {
	uint64_t from_ns;
	uint64_t to_ns; /* UINT64_MAX: it has not ended */
};

struct perf_rate {
	uint32_t asked_hz; /* at first; belongs to period */
	uint32_t hz;       /* now; 0: paused */
	uint32_t event_hz; /* of the events; programs may skip some */
	uint64_t period;   /* at asked_hz; 0: the kernel derives it from the rate */
	uint32_t hz_before;
	uint64_t changed_ns; /* earlier samples have the rate hz_before */
	/* Sums of earlier rates, without pauses: */
	uint64_t run_ns;
	uint64_t expected;
	uint64_t mark_run_ns; /* total run time when the rate was changed */
	uint64_t closed_ns;   /* time counted by events that are closed now */
	VEC(struct perf_pause) pauses;
	VEC(int) owners; /* replaced events that stay open because a ring is theirs */
};

/* Begins with the granted rate; paused: no samples until a rate is set. */
int perf_rate_begin(struct perf_engine *engine, bool paused);
void perf_rate_fini(struct perf_rate *rate);

/* The weight of a sample; 0: it fell into a pause and must be dropped. */
uint64_t perf_rate_weight(const struct perf_engine *engine, const struct sample_record *sample);

/* Times after now_ns do not count. */
void perf_rate_end(struct perf_rate *rate, uint64_t now_ns);

/* How much of a stretch of time lies outside pauses. */
uint64_t perf_rate_active_ns(const struct perf_rate *rate, uint64_t from_ns, uint64_t to_ns);

/* Attributes the run time since the last call to the current rate; run_ns is the total. */
void perf_rate_account(struct perf_rate *rate, bool clock, uint64_t run_ns);

/* Opens the events again, so that each sample wakes the thread that waits for its ring. */
int perf_quicken(struct perf_engine *engine, struct error *err);

#endif
