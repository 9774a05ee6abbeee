/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_PERF_OVERWRITE_H
#define WICK_ENGINE_PERF_PERF_OVERWRITE_H

/*
 * perf_overwrite: what differs where full rings give up their oldest samples: taking
 * these out of the rings, and counting those that are gone.
 */

#include <stdbool.h>
#include <stdint.h>

struct cpu_ring;
struct perf_engine;

/* Makes what the kernel has written ready to be read. 0, or what the sink returns. */
int perf_overwrite_take(struct perf_engine *engine);

/* After that was read: counts what programs have made and nobody has seen; `last`: all of it. */
int perf_overwrite_count(struct perf_engine *engine, bool last);

/* Whether a loss that the kernel tells of is one of samples that are counted here. */
bool perf_overwrite_knows_lost(struct perf_engine *engine, const struct cpu_ring *ring,
			       uint64_t lost);

#endif
