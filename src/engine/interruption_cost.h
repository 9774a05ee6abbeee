/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_INTERRUPTION_COST_H
#define WICK_ENGINE_INTERRUPTION_COST_H

/*
 * interruption_cost: what an interruption takes away from the program that it interrupts.
 *
 * Nobody tells, so it is measured: a loop that does nothing but read the clock is
 * interrupted like the target is, and the holes in it are the interruptions. The
 * caller arms what interrupts, every HOLES_PERIOD_NS.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

/* How many are measured, and how far apart: enough for a median, over quickly. */
#define HOLES_WANTED 48
#define HOLES_PERIOD_NS (100 * NS_PER_US)

/* Spins and notes holes. Returns how many; takes a few milliseconds. */
size_t interruption_cost_measure(uint64_t holes_ns[HOLES_WANTED]);

/* 0 when there are too few. Puts them in order. */
uint64_t interruption_cost_median_ns(uint64_t *holes_ns, size_t count);

#endif
