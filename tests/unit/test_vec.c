/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void items_survive_growth(void **state)
{
	VEC(uint32_t) ids = {0};

	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(vec_push(&ids, i), 0);
	assert_int_equal(ids.count, 10000);
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(ids.items[i], i);
	vec_fini(&ids);
	assert_null(ids.items);
}

static void absurd_sizes_are_no_memory(void **state)
{
	VEC(uint64_t) words = {0};

	assert_int_equal(vec_reserve(&words, SIZE_MAX / 4), -ENOMEM);
	assert_int_equal(words.capacity, 0);
	vec_fini(&words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_survive_growth),
		cmocka_unit_test(absurd_sizes_are_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
