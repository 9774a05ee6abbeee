/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_PERF_RATE_H
#define WICK_ENGINE_PERF_PERF_RATE_H

/*
 * perf_rate: how often samples come while they do, and what one of them stands for.
 *
 * Three ways, by what the kernel offers:
 *
 *	events of CPUs			the period of the events is changed
 *	events that others inherit	those of children keep the period that they began
 *					with: all are opened anew, and the old ones closed
 *	programs make the samples	they leave some out, up to half of them: that is
 *					done at once, but the ticks themselves stay
 *
 * In a pause the events go on with a period that is never over: what is mapped, and who
 * comes and goes, is told all the time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct perf_engine;
struct sample_record;

struct perf_pause {
	uint64_t from_ns;
	uint64_t to_ns; /* UINT64_MAX: it is not over */
};

struct perf_rate {
	uint32_t asked_hz; /* of the whole rate */
	uint32_t hz;       /* 0: none, for now */
	uint32_t event_hz; /* of the events; programs may leave some out */
	uint64_t period;   /* of the whole rate; 0: the kernel finds it by the rate */
	uint32_t hz_before;
	uint64_t changed_ns; /* samples before that are of the rate before */
	/* Of the time before that, but not of pauses: */
	uint64_t run_ns;
	uint64_t expected;
	uint64_t mark_run_ns; /* what had run, in all, when the rate was changed */
	uint64_t closed_ns;   /* what events have counted that are closed */
	VEC(struct perf_pause) pauses;
	VEC(int) owners; /* events that are replaced, and kept for their rings */
};

/* Takes over what was granted; with `paused` no samples come until a rate is set. */
int perf_rate_begin(struct perf_engine *engine, bool paused);
void perf_rate_fini(struct perf_rate *rate);

/* What a sample stands for; 0: nothing, it fell into a pause. */
uint64_t perf_rate_weight(const struct perf_engine *engine, const struct sample_record *sample);

/* What comes after is as in a pause. */
void perf_rate_end(struct perf_rate *rate, uint64_t now_ns);

/* How much of a stretch of time was not in a pause. */
uint64_t perf_rate_active_ns(const struct perf_rate *rate, uint64_t from_ns, uint64_t to_ns);

/* The target has run for so long, in all: that belongs to the rate of now. */
void perf_rate_account(struct perf_rate *rate, bool clock, uint64_t run_ns);

#endif
