/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_INTERRUPTION_COST_H
#define WICK_ENGINE_INTERRUPTION_COST_H

/*
 * interruption_cost: the time that an interruption costs the interrupted program.
 *
 * The kernel does not report it, so it is measured: a loop that only reads the clock is interrupted
 * like the target, and the gaps in it are the interruptions. The caller starts the source of
 * interruptions, every HOLES_PERIOD_NS.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

/* Number and distance of the measurements: enough for a median, and quick. */
#define HOLES_WANTED 48
#define HOLES_PERIOD_NS (100 * NS_PER_US)

/* Spins and records gaps. Returns their number; takes a few milliseconds. */
size_t interruption_cost_measure(uint64_t holes_ns[HOLES_WANTED]);

/* Returns 0 if there are too few. Sorts them. */
uint64_t interruption_cost_median_ns(uint64_t *holes_ns, size_t count);

#endif
