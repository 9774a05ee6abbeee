/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_MACHINE_TIME_H
#define WICK_ENGINE_PERF_MACHINE_TIME_H

/* machine_time: how long all CPUs have been busy since boot, from /proc/stat. */

#include <stdint.h>

struct machine_time {
	uint64_t busy_ns;  /* user, system and interrupts; 0: unknown */
	uint64_t total_ns; /* including idle time and waiting for disks */
};

void machine_time_read(struct machine_time *ret);

#endif
