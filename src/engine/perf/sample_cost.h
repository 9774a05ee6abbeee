/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_SAMPLE_COST_H
#define WICK_ENGINE_PERF_SAMPLE_COST_H

/*
 * sample_cost: the time that one sample takes from the program that it interrupts.
 *
 * The kernel does not report it, so it is measured; see interruption_cost.h.
 */

#include <stdint.h>

struct perf_event_attr;

/*
 * Nanoseconds; 0: it cannot be measured here. stack_bytes is the average size of the copied
 * stacks. Takes a few milliseconds.
 */
uint64_t perf_sample_cost_ns(const struct perf_event_attr *attr, uint64_t stack_bytes);

#endif
