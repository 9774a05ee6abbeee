/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_SAMPLE_COST_H
#define WICK_ENGINE_PERF_SAMPLE_COST_H

/*
 * sample_cost: what one sample takes away from the program that it interrupts.
 *
 * The kernel does not tell, so it is measured, see holes.h.
 */

#include <stdint.h>

struct perf_event_attr;

/*
 * Nanoseconds, 0 when it cannot be measured here. stack_bytes is what was copied
 * of a stack on average. Takes a few milliseconds.
 */
uint64_t perf_sample_cost_ns(const struct perf_event_attr *attr, uint64_t stack_bytes);

#endif
