/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * split [MS] [PERCENT]: 70 % of MS of CPU time in hot_70(), 30 % in cool_30(); or PERCENT in
 * hot_70() and the rest in cool_30().
 */

#include "burn.h"

static uint64_t hot_ns;
static uint64_t cool_ns;

static NOINLINE void hot_70(uint64_t until_ns)
{
	if (hot_ns < until_ns)
		hot_ns += burn_cpu(until_ns - hot_ns);
}

static NOINLINE void cool_30(uint64_t until_ns)
{
	if (cool_ns < until_ns)
		cool_ns += burn_cpu(until_ns - cool_ns);
}

int main(int argc, char **argv)
{
	uint64_t total_ns = argument(argc, argv, 1, 2000) * NS_PER_MS;
	uint64_t percent = argument(argc, argv, 2, 70);

	/* Each step catches up with what is due, so overshoot does not add up. */
	for (uint64_t due_ns = 0; due_ns < total_ns;) {
		due_ns += 10 * NS_PER_MS;
		hot_70(due_ns * percent / 100);
		cool_30(due_ns * (100 - percent) / 100);
	}
	printf("{\"cpu_ns\": %llu, \"functions\": {\"hot_70\": %llu, \"cool_30\": %llu}}\n",
	       (unsigned long long)(hot_ns + cool_ns), (unsigned long long)hot_ns,
	       (unsigned long long)cool_ns);
	return 0;
}
