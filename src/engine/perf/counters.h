/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_COUNTERS_H
#define WICK_ENGINE_PERF_COUNTERS_H

/*
 * counters: the values of a group's members at the last sample, to compute how much they have
 * counted since. The kernel counts each thread on each CPU separately, or each CPU, which is
 * thread 0 here.
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
	size_t ended; /* items whose threads have ended */
};

void counters_fini(struct counters *counters);

/*
 * Replaces `count` values by what was counted since the last call. A counter that went
 * backwards was restarted. Returns 0 or -ENOMEM.
 */
int counters_since(struct counters *counters, pid_t tid, uint32_t cpu, uint64_t *values,
		   size_t count);

/* A thread has ended: its id may be reused, with new counters. */
void counters_forget(struct counters *counters, pid_t tid, const int *cpus, size_t cpu_count);

#endif
