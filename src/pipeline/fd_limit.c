/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/fd_limit.h"

#include <sys/resource.h>

void fd_limit_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit); /* the old one is no failure */
	}
}
