/* SPDX-License-Identifier: BSD-2-Clause */

/* fib [MS]: computes fib(24) again and again for MS of CPU time; depth is at most 24. */

#include "burn.h"

static NOINLINE uint64_t fib(unsigned int n)
{
	uint64_t sum;

	if (n < 2)
		return n;
	sum = fib(n - 1);
	return sum + fib(n - 2);
}

int main(int argc, char **argv)
{
	uint64_t total_ns = argument(argc, argv, 1, 800) * NS_PER_MS;
	uint64_t start_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t now_ns = start_ns;
	uint64_t result = 0;

	while (now_ns < start_ns + total_ns) {
		result = fib(24);
		now_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
	}
	printf("{\"cpu_ns\": %llu, \"result\": %llu, \"max_depth\": 24}\n",
	       (unsigned long long)(now_ns - start_ns), (unsigned long long)result);
	return 0;
}
