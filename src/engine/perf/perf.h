/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_PERF_H
#define WICK_ENGINE_PERF_PERF_H

/*
 * perf: the engine that samples with the kernel's perf events, and what other engines that
 * are built on perf events use of it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

struct engine_config;
struct engine_ops;
struct engine_stats;
struct error;
struct perf_engine;
struct perf_programs;
struct sink;
struct target;

extern const struct engine_ops perf_engine_ops;

/*
 * A record becomes visible a few microseconds after its time stamp. Records younger than this wait
 * for the next drain, so that the records of all CPUs can be read in time order. A virtual CPU that
 * was paused may be even later: then the history of the maps still has the state at the right
 * moment.
 */
#define PERF_SETTLE_NS (2 * NS_PER_MS)

/*
 * Opens all events that the target needs. The programs make the samples; NULL: the kernel
 * does. Takes over the programs on success. The caller releases *ret with perf_engine_close().
 */
int perf_open(const struct engine_config *config, const struct target *target, struct sink *sink,
	      struct perf_programs *programs, struct perf_engine **ret, struct error *err);

/* Adds a text to the notice that is printed when the recording begins. */
void perf_note(struct perf_engine *engine, const char *text);

/* Operations of struct engine_ops; self is a struct perf_engine. */
int perf_engine_start(void *self, struct error *err);
int perf_engine_fd(void *self);
int perf_engine_drain(void *self, struct error *err);
int perf_engine_stop(void *self, struct error *err);
void perf_engine_stats(void *self, bool final, struct engine_stats *ret);
int perf_engine_set_rate(void *self, uint32_t frequency_hz, struct error *err);
const char *perf_engine_notice(void *self);
void perf_engine_close(void *self);

#endif
