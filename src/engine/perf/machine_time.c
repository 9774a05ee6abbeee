/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/machine_time.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/scope.h"

void machine_time_read(struct machine_time *ret)
{
	SCOPED(file) FILE *file = fopen("/proc/stat", "re");
	uint64_t user, nice, system, idle, iowait, irq, softirq;
	long ticks = sysconf(_SC_CLK_TCK);

	*ret = (struct machine_time){0};
	if (!file || ticks <= 0 ||
	    fscanf(file,
		   "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64,
		   &user, &nice, &system, &idle, &iowait, &irq, &softirq) != 7)
		return;
	ret->busy_ns = (user + nice + system + irq + softirq) * (NS_PER_SEC / (uint64_t)ticks);
	ret->total_ns = ret->busy_ns + (idle + iowait) * (NS_PER_SEC / (uint64_t)ticks);
}
