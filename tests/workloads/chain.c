/* SPDX-License-Identifier: BSD-2-Clause */

/* chain [MS]: chain_a() calls chain_b() calls chain_c(), which burns MS. */

#include "burn.h"

static volatile uint64_t sink;

static NOINLINE uint64_t chain_c(uint64_t cpu_ns)
{
	return burn_cpu(cpu_ns);
}

static NOINLINE uint64_t chain_b(uint64_t cpu_ns)
{
	uint64_t burnt_ns = chain_c(cpu_ns);

	sink++; /* keeps the call from becoming a jump */
	return burnt_ns;
}

static NOINLINE uint64_t chain_a(uint64_t cpu_ns)
{
	uint64_t burnt_ns = chain_b(cpu_ns);

	sink++;
	return burnt_ns;
}

int main(int argc, char **argv)
{
	uint64_t cpu_ns = chain_a(argument(argc, argv, 1, 500) * NS_PER_MS);

	printf("{\"cpu_ns\": %llu, \"stack\": [\"main\", \"chain_a\", \"chain_b\", \"chain_c\"]}\n",
	       (unsigned long long)cpu_ns);
	return 0;
}
