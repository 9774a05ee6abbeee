/* SPDX-License-Identifier: BSD-2-Clause */

/* spin [MS]: MS of CPU time in spin_here(). */

#include "burn.h"

static NOINLINE uint64_t spin_here(uint64_t cpu_ns)
{
	return burn_cpu(cpu_ns);
}

int main(int argc, char **argv)
{
	uint64_t cpu_ns = spin_here(argument(argc, argv, 1, 1000) * NS_PER_MS);

	printf("{\"cpu_ns\": %llu, \"functions\": {\"spin_here\": %llu}}\n",
	       (unsigned long long)cpu_ns, (unsigned long long)cpu_ns);
	return 0;
}
