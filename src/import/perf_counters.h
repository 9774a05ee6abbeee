/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_PERF_COUNTERS_H
#define WICK_IMPORT_PERF_COUNTERS_H

/*
 * perf_counters: the last values of group members, as samples report them (perf record -e
 * '{A,B}:S').
 */

#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"

struct perf_counter {
	uint64_t id;  /* of the event, as in samples */
	uint32_t tid; /* if threads inherit events; else 0 */
	uint64_t value;
};

struct perf_counters {
	VEC(struct perf_counter) items;
	struct id_index index;
};

void perf_counters_fini(struct perf_counters *counters);

/*
 * The increase since the last value, or since 0 if there is none. A counter that went backwards has
 * restarted. Returns 0 or -ENOMEM.
 */
int perf_counters_since(struct perf_counters *counters, const struct perf_counter *now,
			uint64_t *ret);

#endif
