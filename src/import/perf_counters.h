/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_PERF_COUNTERS_H
#define WICK_IMPORT_PERF_COUNTERS_H

/*
 * perf_counters: how far the members of groups had counted when a sample told it last
 * (perf record -e '{A,B}:S').
 */

#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"

struct perf_counter {
	uint64_t id;  /* of the event, as samples tell it */
	uint32_t tid; /* where threads inherit events; else 0 */
	uint64_t value;
};

struct perf_counters {
	VEC(struct perf_counter) items;
	struct id_index index;
};

void perf_counters_fini(struct perf_counters *counters);

/*
 * How much it has counted since it was told last, or since ever. One that has gone back
 * has begun anew. 0 or -ENOMEM.
 */
int perf_counters_since(struct perf_counters *counters, const struct perf_counter *now,
			uint64_t *ret);

#endif
