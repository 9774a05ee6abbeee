/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/own_process.h"

#include <sys/resource.h>

#include "base/clock.h"
#include "proc/process_info.h"

void own_process_raise_limits(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE,
				&limit); /* then there are fewer events, with a message */
	}
}

void own_process_usage(uint64_t *ret_cpu_ns, uint64_t *ret_rss_bytes)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage); /* cannot fail */
	*ret_cpu_ns =
		((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * NS_PER_SEC +
		((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * NS_PER_US;
	*ret_rss_bytes = process_peak_bytes();
}
