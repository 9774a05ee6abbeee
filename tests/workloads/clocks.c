/* SPDX-License-Identifier: BSD-2-Clause */

/* clocks [MS]: reads the time in read_clocks(), over and over, for MS. */

#include "burn.h"

static NOINLINE uint64_t read_clocks(uint64_t until_ns)
{
	uint64_t count = 0;

	while (clock_now_ns(CLOCK_MONOTONIC) < until_ns)
		count++;
	return count;
}

int main(int argc, char **argv)
{
	uint64_t ns = argument(argc, argv, 1, 500) * NS_PER_MS;

	printf("{\"count\": %llu}\n",
	       (unsigned long long)read_clocks(clock_now_ns(CLOCK_MONOTONIC) + ns));
	return 0;
}
