/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_AGENT_STATS_H
#define WICK_AGENT_AGENT_STATS_H

/* agent_stats: what an agent knows about its own work, for the facts of windows and for metrics. */

#include <stdint.h>

struct agent_stats {
	uint64_t windows; /* handed over */
	uint64_t failed_windows;
	uint64_t samples; /* in these */
	uint64_t lost;
	uint64_t unnamed; /* whose innermost function has no name */
	uint64_t rows;
	uint64_t services;  /* different ones so far */
	uint64_t processes; /* that were seen */
	uint32_t asked_hz;
	uint32_t hz; /* current rate; 0: paused */
	double achieved_hz;
	double budget;    /* share of one CPU that it may cost; 0: any */
	double ring_fill; /* largest recent fill of a buffer of the kernel, 0 to 1 */
	double cpu_share; /* of one CPU, the kernel's part included, in the last window */
	uint64_t cpu_ns;  /* since the start */
	uint64_t rss_bytes;
	uint64_t memory_limit_bytes; /* 0: none */
	uint32_t paused;             /* why: bits of enum pace_reason */
	uint64_t paused_ns;          /* in total */
	uint32_t memory_step;        /* what was given up to save memory: see memory_guard.h */
	uint64_t renewals;           /* how often sampling was restarted to free memory */
};

#endif
