/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/quantity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/vec.h"

static void values_are_written_in_units_that_people_read(void **state)
{
	static const struct {
		int64_t value;
		const char *unit;
		const char *text;
	} cases[] = {
		{0, "nanoseconds", "0"},
		{999, "nanoseconds", "999 ns"},
		{1500, "nanoseconds", "1.50 us"},
		{12345678, "nanoseconds", "12.3 ms"},
		{1234567890, "nanoseconds", "1.23 s"},
		{-1234567890, "nanoseconds", "-1.23 s"},
		{INT64_MAX, "nanoseconds", "9223372036.9 s"},
		{999949999, "nanoseconds", "999.9 ms"},
		{999950001, "nanoseconds", "1.00 s"},
		{999999, "nanoseconds", "1.00 ms"},
		{-999999, "nanoseconds", "-1.00 ms"},
		{9994000, "nanoseconds", "9.99 ms"},
		{9996000, "nanoseconds", "10.0 ms"},
		{1023, "bytes", "1023 B"},
		{(1 << 20) - 1, "bytes", "1.00 MiB"},
		{1536, "bytes", "1.50 KiB"},
		{64 << 20, "bytes", "64.0 MiB"},
		{999, "count", "999"},
		{1000, "count", "1,000"},
		{-1234567, "count", "-1,234,567"},
		{INT64_MIN, "count", "-9,223,372,036,854,775,808"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(quantity_of(cases[i].value, cases[i].unit).text, cases[i].text);
}

static void counts_have_separators(void **state)
{
	assert_string_equal(quantity_count(0).text, "0");
	assert_string_equal(quantity_count(123456).text, "123,456");
	assert_string_equal(quantity_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
}

static void a_share_of_nothing_is_nothing(void **state)
{
	assert_string_equal(quantity_share(1, 3).text, "33.3%");
	assert_string_equal(quantity_share(3, 3).text, "100.0%");
	assert_string_equal(quantity_share(3, 0).text, "0.0%");
}

static void changes_have_a_sign(void **state)
{
	assert_string_equal(quantity_change(12300000, "nanoseconds").text, "+12.3 ms");
	assert_string_equal(quantity_change(-2048, "bytes").text, "-2.00 KiB");
	assert_string_equal(quantity_change(0, "count").text, "0");
	assert_string_equal(quantity_points(0.0321).text, "+3.2 pp");
	assert_string_equal(quantity_points(-0.5).text, "-50.0 pp");
	assert_string_equal(quantity_points(-0.0001).text, "0.0 pp");
	assert_string_equal(quantity_relative(20, 21).text, "+5.0%");
	assert_string_equal(quantity_relative(3, 2).text, "-33.3%");
	assert_string_equal(quantity_relative(0, 2).text, "new");
	assert_string_equal(quantity_relative(2, 0).text, "gone");
	assert_string_equal(quantity_relative(0, 0).text, "-");
	assert_string_equal(quantity_relative(1, 1e300).text, "+1000000000000000.0%");
}

static void nothing_is_certain(void **state)
{
	assert_string_equal(quantity_confidence(0.975).text, "97.5%");
	assert_string_equal(quantity_confidence(1).text, ">99.9%");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_have_a_sign),
		cmocka_unit_test(nothing_is_certain),
		cmocka_unit_test(values_are_written_in_units_that_people_read),
		cmocka_unit_test(counts_have_separators),
		cmocka_unit_test(a_share_of_nothing_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
