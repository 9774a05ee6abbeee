/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * execs [MS] [STEPS]: burns MS, then executes itself, STEPS times, and finally
 * executes spin from the same folder. The pid never changes.
 */

#include <string.h>
#include <unistd.h>

#include "burn.h"

static NOINLINE void before_exec(uint64_t cpu_ns)
{
	(void)burn_cpu(cpu_ns);
}

int main(int argc, char **argv)
{
	const char *ms = argc > 1 ? argv[1] : "200";
	uint64_t steps = argument(argc, argv, 2, 2);
	char path[4096];
	char left[32];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 8);

	if (length <= 0)
		abort();
	path[length] = '\0';
	before_exec(strtoull(ms, NULL, 10) * NS_PER_MS);
	if (steps > 1) {
		(void)snprintf(left, sizeof(left), "%llu", (unsigned long long)(steps - 1));
		execl(path, "execs", ms, left, (char *)NULL);
	} else {
		memcpy(strrchr(path, '/'), "/spin", sizeof("/spin"));
		execl(path, "spin", ms, (char *)NULL);
	}
	return 127;
}
