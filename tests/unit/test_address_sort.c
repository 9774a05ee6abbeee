/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/address_sort.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define COUNT 5000

static void any_order_comes_out_sorted_and_equal_addresses_keep_theirs(void **state)
{
	static struct address_ref refs[COUNT];
	uint64_t random = 1;

	for (uint32_t i = 0; i < COUNT; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		refs[i] = (struct address_ref){random >> 33 << (i % 30), i};
		refs[i].address = i % 7 ? refs[i].address : 42;
	}
	assert_int_equal(address_sort(refs, COUNT), 0);
	for (size_t i = 1; i < COUNT; i++) {
		assert_true(refs[i - 1].address <= refs[i].address);
		if (refs[i - 1].address == refs[i].address)
			assert_true(refs[i - 1].index < refs[i].index);
	}
}

static void the_upper_bound_counts_what_is_not_above(void **state)
{
	const uint64_t sorted[] = {10, 20, 20, 30, UINT64_MAX};

	assert_int_equal(address_upper_bound(sorted, 0, 10), 0);
	for (size_t n = 1; n <= 5; n++) {
		assert_int_equal(address_upper_bound(sorted, n, 9), 0);
		assert_int_equal(address_upper_bound(sorted, n, 10), 1);
		assert_int_equal(address_upper_bound(sorted, n, UINT64_MAX), n);
	}
	assert_int_equal(address_upper_bound(sorted, 5, 20), 3);
	assert_int_equal(address_upper_bound(sorted, 5, 29), 3);
	assert_int_equal(address_upper_bound(sorted, 5, 31), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order_comes_out_sorted_and_equal_addresses_keep_theirs),
		cmocka_unit_test(the_upper_bound_counts_what_is_not_above),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
