/* SPDX-License-Identifier: BSD-2-Clause */

/* stopped [MS]: stops itself; when it is continued it burns MS. */

#include <signal.h>

#include "burn.h"

static NOINLINE uint64_t after_stop(uint64_t cpu_ns)
{
	return burn_cpu(cpu_ns);
}

int main(int argc, char **argv)
{
	uint64_t cpu_ns;

	if (raise(SIGSTOP) != 0)
		abort();
	cpu_ns = after_stop(argument(argc, argv, 1, 200) * NS_PER_MS);
	printf("{\"cpu_ns\": %llu, \"functions\": {\"after_stop\": %llu}}\n",
	       (unsigned long long)cpu_ns, (unsigned long long)cpu_ns);
	return 0;
}
