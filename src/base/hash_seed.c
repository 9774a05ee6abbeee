/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/hash_seed.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>

struct hash_seed hash_seed;

/*
 * A constructor, because every table of every library user needs it before its first hash, and a
 * check in each hash would cost more than the hash.
 */
__attribute__((constructor)) static void draw(void)
{
	const void *of_start;

	if (getrandom(&hash_seed, sizeof(hash_seed), GRND_NONBLOCK) == (ssize_t)sizeof(hash_seed))
		return;
	/*
	 * Early in the boot, or refused: use the 16 bytes that the kernel gave the program at its
	 * start.
	 */
	of_start = (const void *)getauxval(AT_RANDOM);
	if (of_start)
		memcpy(&hash_seed, of_start, sizeof(hash_seed));
}
