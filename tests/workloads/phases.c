/* SPDX-License-Identifier: BSD-2-Clause */

/* phases [MS]: phase_a() for MS of CPU time, then phase_b() for as long; its times are monotonic.
 */

#include "burn.h"

static NOINLINE uint64_t phase_a(uint64_t cpu_ns)
{
	return burn_cpu(cpu_ns);
}

static NOINLINE uint64_t phase_b(uint64_t cpu_ns)
{
	return burn_cpu(cpu_ns);
}

int main(int argc, char **argv)
{
	uint64_t phase_ns = argument(argc, argv, 1, 800) * NS_PER_MS;
	uint64_t start_ns = clock_now_ns(CLOCK_MONOTONIC);
	uint64_t boundary_ns;
	uint64_t end_ns;

	phase_a(phase_ns);
	boundary_ns = clock_now_ns(CLOCK_MONOTONIC);
	phase_b(phase_ns);
	end_ns = clock_now_ns(CLOCK_MONOTONIC);
	printf("{\"start_ns\": %llu, \"boundary_ns\": %llu, \"end_ns\": %llu}\n",
	       (unsigned long long)start_ns, (unsigned long long)boundary_ns,
	       (unsigned long long)end_ns);
	return 0;
}
