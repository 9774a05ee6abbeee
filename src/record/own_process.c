/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/own_process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/scope.h"
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

static uint64_t used_cpu_ns(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage); /* cannot fail */
	return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * NS_PER_SEC +
	       ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * NS_PER_US;
}

void own_process_usage(uint64_t *ret_cpu_ns, uint64_t *ret_rss_bytes)
{
	*ret_cpu_ns = used_cpu_ns();
	*ret_rss_bytes = process_peak_bytes();
}

uint64_t own_process_resident_bytes(void)
{
	SCOPED(fd) int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	char text[128];
	ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	uint64_t pages = 0;

	if (size <= 0)
		return 0;
	text[size] = '\0';
	if (sscanf(text, "%*s %" SCNu64, &pages) != 1)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
