/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * forks [N] [MS]: N children, one after the other, burn MS each; every fourth one
 * does it after an exec of this program.
 */

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

static NOINLINE uint64_t forked_burn(uint64_t cpu_ns)
{
	return burn_cpu(cpu_ns);
}

static NOINLINE uint64_t executed_burn(uint64_t cpu_ns)
{
	return burn_cpu(cpu_ns);
}

static void run_child(uint64_t i, const char *ms)
{
	if (i % 4 == 3) {
		execl("/proc/self/exe", "forks", "--executed", ms, (char *)NULL);
		_exit(127);
	}
	(void)forked_burn(strtoull(ms, NULL, 10) * NS_PER_MS);
	_exit(0);
}

int main(int argc, char **argv)
{
	uint64_t children = argument(argc, argv, 1, 100);
	const char *ms = argc > 2 ? argv[2] : "1";
	uint64_t failed = 0;

	if (argc > 2 && strcmp(argv[1], "--executed") == 0) {
		(void)executed_burn(strtoull(ms, NULL, 10) * NS_PER_MS);
		return 0;
	}
	for (uint64_t i = 0; i < children; i++) {
		pid_t pid = fork();
		int status = -1;

		if (pid == 0)
			run_child(i, ms);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
			failed++;
	}
	printf("{\"children\": %llu, \"executed\": %llu, \"failed\": %llu}\n",
	       (unsigned long long)children, (unsigned long long)(children / 4),
	       (unsigned long long)failed);
	return failed != 0;
}
