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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_hashes_give_all_their_ids),
		cmocka_unit_test(ids_survive_growth_and_leave_when_cleared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
