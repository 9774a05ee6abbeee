/* SPDX-License-Identifier: BSD-2-Clause */

/* phases [MS]: phase_a() for MS of time, then phase_b() for as long. Times are monotonic. */

#include "burn.h"

static NOINLINE uint64_t phase_a(uint64_t until_ns)
{
	return burn_until(CLOCK_MONOTONIC, until_ns);
}

static NOINLINE uint64_t phase_b(uint64_t until_ns)
{
	return burn_until(CLOCK_MONOTONIC, until_ns);
}

int main(int argc, char **argv)
{
	uint64_t phase_ns = argument(argc, argv, 1, 800) * NS_PER_MS;
	uint64_t start_ns = clock_now_ns(CLOCK_MONOTONIC);
	uint64_t boundary_ns = phase_a(start_ns + phase_ns);
	uint64_t end_ns = phase_b(boundary_ns + phase_ns);

	printf("{\"start_ns\": %llu, \"boundary_ns\": %llu, \"end_ns\": %llu}\n",
	       (unsigned long long)start_ns, (unsigned long long)boundary_ns,
	       (unsigned long long)end_ns);
	return 0;
}
