/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * vdso [MS]: half of MS of CPU time is spent asking the kernel's code in the process
 * for the time; the other half asks the page of old, vsyscall, where there is one.
 */

#include <stdbool.h>
#include <string.h>

#include "burn.h"

#define VSYSCALL_TIME 0xffffffffff600400

static volatile uint64_t sink;

static NOINLINE void ask_vdso(uint64_t cpu_ns)
{
	uint64_t end_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ns;

	while (clock_now_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		for (int i = 0; i < 2000; i++)
			sink += clock_now_ns(CLOCK_MONOTONIC);
}

static NOINLINE void ask_vsyscall(uint64_t cpu_ns)
{
	time_t (*volatile old_time)(time_t *) = (time_t(*)(time_t *))VSYSCALL_TIME;
	uint64_t end_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ns;

	while (clock_now_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		for (int i = 0; i < 500; i++)
			sink += (uint64_t)old_time(NULL);
}

/* x86-64 has it, unless the kernel was told otherwise. */
static bool has_vsyscall(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	bool found = false;

	while (maps && fgets(line, sizeof(line), maps))
		found = found || strstr(line, "[vsyscall]");
	if (maps)
		(void)fclose(maps); /* nothing was written */
	return found;
}

int main(int argc, char **argv)
{
	uint64_t half_ns = argument(argc, argv, 1, 500) * NS_PER_MS / 2;
	bool vsyscall = has_vsyscall();

	ask_vdso(half_ns);
	if (vsyscall)
		ask_vsyscall(half_ns);
	printf("{%s\"cpu_ns\": %llu}\n", vsyscall ? "\"vsyscall\": true, " : "",
	       (unsigned long long)clock_now_ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
