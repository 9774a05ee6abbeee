/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * stall [MS] [DEPTH]: stops its parent, the recorder, for as long as phase_a() and phase_b() burn
 * MS each, below DEPTH frames of descend().
 */

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "burn.h"

static NOINLINE uint64_t phase_a(uint64_t cpu_ns)
{
	return burn_cpu(cpu_ns);
}

static NOINLINE uint64_t phase_b(uint64_t cpu_ns)
{
	return burn_cpu(cpu_ns);
}

static NOINLINE uint64_t run_phases(uint64_t phase_ns)
{
	uint64_t burnt_ns;

	/* Let it see what is mapped here, and be done with it. */
	burnt_ns = burn_cpu(150 * NS_PER_MS);
	if (kill(getppid(), SIGSTOP) != 0)
		abort();
	burnt_ns += phase_a(phase_ns);
	burnt_ns += phase_b(phase_ns);
	if (kill(getppid(), SIGCONT) != 0)
		abort();
	return burnt_ns;
}

/* NOLINTNEXTLINE(misc-no-recursion): makes samples large */
static NOINLINE uint64_t descend(uint64_t depth, uint64_t phase_ns)
{
	uint64_t burnt_ns = depth > 1 ? descend(depth - 1, phase_ns) : run_phases(phase_ns);

	__asm__ volatile("" : "+r"(burnt_ns));
	return burnt_ns;
}

/* There is a buffer for each CPU: one of them is to be full. */
static void stay_here(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)sched_getcpu(), &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		abort();
}

int main(int argc, char **argv)
{
	uint64_t phase_ns = argument(argc, argv, 1, 500) * NS_PER_MS;

	stay_here();
	printf("{\"cpu_ns\": %llu}\n",
	       (unsigned long long)descend(argument(argc, argv, 2, 100), phase_ns));
	return 0;
}
