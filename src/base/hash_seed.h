/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_HASH_SEED_H
#define WICK_BASE_HASH_SEED_H

/*
 * hash_seed: random numbers of this process, which go into the hash of everything that a file or
 * another process may choose.
 *
 * An attacker who knows how a table hashes can make keys that all collide, so that each lookup
 * walks over all of them. Nobody knows the numbers before the process runs, and no hash made with
 * them leaves it.
 *
 * They are set before main() and never change: any thread may read them.
 */

#include <stdint.h>

struct hash_seed {
	uint64_t first;
	uint64_t second;
};

extern struct hash_seed hash_seed;

#endif
