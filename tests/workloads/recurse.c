/* SPDX-License-Identifier: BSD-2-Clause */

/* recurse [DEPTH] [MS]: burns MS in bottom(), below DEPTH frames of descend(). */

#include "burn.h"

static NOINLINE uint64_t bottom(uint64_t cpu_ns)
{
	return burn_cpu(cpu_ns);
}

/* NOLINTNEXTLINE(misc-no-recursion): it is what this is about */
static NOINLINE uint64_t descend(uint64_t depth, uint64_t cpu_ns)
{
#if defined(ROOM_BYTES)
	volatile uint8_t room[ROOM_BYTES]; /* makes stacks long, not deep */

	room[0] = (uint8_t)depth;
	depth += room[0] & 0u;
#endif
	uint64_t burnt_ns = depth > 1 ? descend(depth - 1, cpu_ns) : bottom(cpu_ns);

	__asm__ volatile("" : "+r"(burnt_ns));
	return burnt_ns;
}

int main(int argc, char **argv)
{
	uint64_t depth = argument(argc, argv, 1, 100);

	printf("{\"depth\": %llu, \"cpu_ns\": %llu}\n", (unsigned long long)depth,
	       (unsigned long long)descend(depth, argument(argc, argv, 2, 500) * NS_PER_MS));
	return 0;
}
