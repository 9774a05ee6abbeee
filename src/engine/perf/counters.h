/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_COUNTERS_H
#define WICK_ENGINE_PERF_COUNTERS_H

/*
 * counters: how far the members of a group had counted at the last sample, so that
 * the next one tells what was counted since. The kernel counts for each thread on
 * each CPU apart, or for each CPU, which is thread 0 here.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/id_index.h"
#include "base/vec.h"
#include "engine/perf/event_group.h"

struct counted {
	pid_t tid;
	uint32_t cpu;
	uint64_t last[EVENT_MEMBERS_MAX];
};

struct counters {
	VEC(struct counted) items;
	struct id_index index;
	size_t ended; /* of items, those whose threads have ended */
};

void counters_fini(struct counters *counters);

/*
 * Replaces values, of which there are count, by what was counted since the last time.
 * A counter that has gone back has begun anew. 0 or -ENOMEM.
 */
int counters_since(struct counters *counters, pid_t tid, uint32_t cpu, uint64_t *values,
		   size_t count);

/* A thread has ended: its id may come again, with counters that begin anew. */
void counters_forget(struct counters *counters, pid_t tid, const int *cpus, size_t cpu_count);

#endif
