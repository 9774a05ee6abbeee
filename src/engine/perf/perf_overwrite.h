/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_PERF_OVERWRITE_H
#define WICK_ENGINE_PERF_PERF_OVERWRITE_H

/*
 * perf_overwrite: draining when full rings overwrite their oldest samples: moves samples out
 * of such rings and counts those that were overwritten.
 */

#include <stdbool.h>
#include <stdint.h>

struct cpu_ring;
struct perf_engine;

/* Makes what the kernel has written readable. Returns 0, or what the sink returns. */
int perf_overwrite_take(struct perf_engine *engine);

/*
 * After reading: counts the samples that programs made and that were never read. `last`: all are
 * written by now.
 */
int perf_overwrite_count(struct perf_engine *engine, bool last);

/* Whether a loss that the kernel reports is counted by perf_overwrite_count() already. */
bool perf_overwrite_knows_lost(struct perf_engine *engine, const struct cpu_ring *ring,
			       uint64_t lost);

#endif
