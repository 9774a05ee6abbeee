/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_PERF_AWAY_H
#define WICK_ENGINE_PERF_PERF_AWAY_H

/*
 * perf_away: begins and ends the watching of threads that are off their CPUs.
 */

#include <stdint.h>

struct engine_config;
struct error;
struct perf_engine;
struct target;

/* A command is watched from its exec on, so this comes before; all others at the start. */
int perf_away_arm(struct perf_engine *engine, const struct engine_config *config,
		  const struct target *target, struct error *err);
/* Threads that sleep by then count from now_ns on. */
int perf_away_start(struct perf_engine *engine, uint64_t now_ns, struct error *err);
/* Puts samples for the threads that are away still, as if they were back at that time. */
int perf_away_finish(struct perf_engine *engine, uint64_t now_ns, struct error *err);

#endif
