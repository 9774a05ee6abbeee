/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_REMARK_H
#define WICK_ENGINE_SIGNAL_REMARK_H

/* remark: what else a person should know of a recording from inside. */

#include <stdint.h>

struct engine_stats;

/* Adds to the remarks, with what separates them. */
void remark(struct engine_stats *stats, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* What is to be said of the heap; counts by enum session_count. */
void remark_heap(struct engine_stats *stats, const uint64_t *counts);

#endif
