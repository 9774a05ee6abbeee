/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/number.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void whole_numbers_are_strict(void **state)
{
	uint64_t value = 0;

	assert_int_equal(number_parse_u64("18446744073709551615", &value), 0);
	assert_int_equal(value, UINT64_MAX);
	assert_int_equal(number_parse_u64("0xfF", &value), 0);
	assert_int_equal(value, 255);
	assert_int_equal(number_parse_u64("18446744073709551616", &value), -ERANGE);
	assert_int_equal(number_parse_u64("", &value), -EINVAL);
	assert_int_equal(number_parse_u64("-1", &value), -EINVAL);
	assert_int_equal(number_parse_u64(" 1", &value), -EINVAL);
	assert_int_equal(number_parse_u64("1x", &value), -EINVAL);
	assert_int_equal(number_parse_u64("0x", &value), -EINVAL);
	assert_int_equal(number_parse_u64("0x0x1", &value), -EINVAL);
}

static void durations_have_units(void **state)
{
	uint64_t ns = 0;

	assert_int_equal(number_parse_duration("1.5s", &ns), 0);
	assert_int_equal(ns, 1500000000);
	assert_int_equal(number_parse_duration("20ms", &ns), 0);
	assert_int_equal(ns, 20000000);
	assert_int_equal(number_parse_duration("2", &ns), 0);
	assert_int_equal(ns, 2000000000);
	assert_int_equal(number_parse_duration("3 s", &ns), -EINVAL);
	assert_int_equal(number_parse_duration("-1s", &ns), -EINVAL);
	assert_int_equal(number_parse_duration("1e30h", &ns), -ERANGE);
}

static void sizes_are_powers_of_1024(void **state)
{
	uint64_t bytes = 0;

	assert_int_equal(number_parse_size("64K", &bytes), 0);
	assert_int_equal(bytes, 65536);
	assert_int_equal(number_parse_size("2GiB", &bytes), 0);
	assert_int_equal(bytes, 2147483648);
	assert_int_equal(number_parse_size("4096", &bytes), 0);
	assert_int_equal(bytes, 4096);
	assert_int_equal(number_parse_size("K", &bytes), -EINVAL);
}

static void fractions_are_finite(void **state)
{
	double value = 0;

	assert_int_equal(number_parse_double("-2.5", &value), 0);
	assert_true(value == -2.5);
	assert_int_equal(number_parse_double("nan", &value), -EINVAL);
	assert_int_equal(number_parse_double("1e999", &value), -ERANGE);
	assert_int_equal(number_parse_double("-", &value), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers_are_strict),
		cmocka_unit_test(durations_have_units),
		cmocka_unit_test(sizes_are_powers_of_1024),
		cmocka_unit_test(fractions_are_finite),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
