/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/id_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void equal_hashes_give_all_their_ids(void **state)
{
	struct id_index index = {0};
	struct id_probe probe = id_index_probe(&index, 7);
	uint32_t found = 0;
	uint32_t id;

	assert_int_equal(id_probe_next(&index, &probe), ID_NONE);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(id_index_add(&index, i % 2 ? 7 : i, i), 0);
	probe = id_index_probe(&index, 7);
	while ((id = id_probe_next(&index, &probe)) != ID_NONE) {
		assert_int_equal(id % 2, 1);
		found++;
	}
	assert_int_equal(found, 500);
	id_index_fini(&index);
}

static void ids_survive_growth_and_leave_when_cleared(void **state)
{
	struct id_index index = {0};
	struct id_probe probe;

	for (uint32_t i = 0; i < 20000; i++)
		assert_int_equal(id_index_add(&index, hash_pair(i, 1), i), 0);
	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t id;

		probe = id_index_probe(&index, hash_pair(i, 1));
		while ((id = id_probe_next(&index, &probe)) != i)
			assert_int_not_equal(id, ID_NONE);
	}
	id_index_clear(&index);
	probe = id_index_probe(&index, hash_pair(5, 1));
	assert_int_equal(id_probe_next(&index, &probe), ID_NONE);
	id_index_fini(&index);
}

/* x with x * odd = 1, modulo 2^64. */
static uint64_t inverse(uint64_t odd)
{
	uint64_t x = odd;

	for (int i = 0; i < 6; i++)
		x *= 2 - odd * x;
	return x;
}

#define HOSTILE 4096u

/*
 * Without a seed the hash of a pair was a function of a * first ^ (b + offset) * second: for
 * each b there is an a that makes that 0, and all such pairs meet in one place.
 */
static void pairs_made_to_collide_are_spread_all_the_same(void **state)
{
	const uint64_t first = 0x9e3779b97f4a7c15u;
	const uint64_t second = 0xc2b2ae3d27d4eb4fu;
	const uint64_t offset = 0x632be59bd9b4e019u;
	struct id_index index = {0};
	uint32_t met = 0;

	for (uint32_t b = 0; b < HOSTILE; b++)
		assert_int_equal(id_index_add(&index,
					      hash_pair((b + offset) * second * inverse(first), b),
					      b),
				 0);
	for (uint32_t b = 0; b < HOSTILE; b++) {
		struct id_probe probe = id_index_probe(
			&index, hash_pair((b + offset) * second * inverse(first), b));

		while (id_probe_next(&index, &probe) != ID_NONE)
			met++;
	}
	assert_true(met >= HOSTILE);
	assert_true(met < HOSTILE + HOSTILE / 8);
	id_index_fini(&index);
}

/* Whatever the seed: neighbours, multiples of a page, and one word alone do not meet. */
static void usual_keys_are_spread_evenly(void **state)
{
	for (unsigned int shift = 0; shift < 40; shift += 4) {
		uint32_t buckets[1024] = {0};
		uint32_t most = 0;

		for (uint64_t i = 0; i < 16384; i++) {
			uint64_t hash = hash_pair(i << shift, 0);
			uint32_t *bucket = &buckets[(hash ^ hash >> 32) % 1024];

			most = ++*bucket > most ? *bucket : most;
		}
		assert_true(most < 64); /* 16 on average; 48 above it by chance never happens */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_hashes_give_all_their_ids),
		cmocka_unit_test(ids_survive_growth_and_leave_when_cleared),
		cmocka_unit_test(pairs_made_to_collide_are_spread_all_the_same),
		cmocka_unit_test(usual_keys_are_spread_evenly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
