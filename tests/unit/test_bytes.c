/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void numbers_come_back(void **state)
{
	const uint64_t values[] = {0, 1, 127, 128, 300, UINT32_MAX, INT64_MAX, UINT64_MAX};
	struct bytes bytes = {0};
	struct cursor in;

	for (size_t i = 0; i < 8; i++)
		bytes_put_varint(&bytes, values[i]);
	bytes_put_u8(&bytes, 0x12);
	bytes_put_u16(&bytes, 0x1234);
	bytes_put_u32(&bytes, 0x12345678);
	bytes_put_u64(&bytes, 0x123456789abcdef0);
	in = cursor_of(bytes.data, bytes.size);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(cursor_varint(&in), values[i]);
	assert_int_equal(cursor_u8(&in), 0x12);
	assert_int_equal(cursor_u16(&in), 0x1234);
	assert_int_equal(cursor_u32(&in), 0x12345678);
	assert_int_equal(cursor_u64(&in), 0x123456789abcdef0);
	assert_int_equal(cursor_left(&in), 0);
	assert_false(in.failed);
	bytes_fini(&bytes);
}

static void zigzag_keeps_signs(void **state)
{
	const int64_t values[] = {0, -1, 1, INT64_MIN, INT64_MAX};

	for (size_t i = 0; i < 5; i++)
		assert_int_equal(zigzag_decode(zigzag_encode(values[i])), values[i]);
	assert_int_equal(zigzag_encode(-1), 1);
	assert_int_equal(zigzag_encode(1), 2);
}

static void a_cursor_past_its_end_fails_and_answers_zeros(void **state)
{
	const uint8_t data[] = {1, 2, 3};
	struct cursor in = cursor_of(data, 3);

	assert_int_equal(cursor_u32(&in), 0);
	assert_true(in.failed);
	assert_int_equal(cursor_u8(&in), 0);
	assert_null(cursor_take(&in, 0));
}

static void a_varint_of_more_than_64_bits_fails(void **state)
{
	const uint8_t most[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
	const uint8_t more[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2};
	const uint8_t unfinished[] = {0x80, 0x80};
	struct cursor in = cursor_of(most, sizeof(most));

	assert_int_equal(cursor_varint(&in), UINT64_MAX);
	in = cursor_of(more, sizeof(more));
	assert_int_equal(cursor_varint(&in), 0);
	assert_true(in.failed);
	in = cursor_of(unfinished, sizeof(unfinished));
	assert_int_equal(cursor_varint(&in), 0);
	assert_true(in.failed);
}

static void a_varint_above_its_limit_fails(void **state)
{
	const uint8_t data[] = {10, 11};
	struct cursor in = cursor_of(data, 2);

	assert_int_equal(cursor_varint_max(&in, 10), 10);
	assert_int_equal(cursor_varint_max(&in, 10), 0);
	assert_true(in.failed);
}

static void a_buffer_that_cannot_grow_stays_failed(void **state)
{
	struct bytes bytes = {0};

	bytes_put_u8(&bytes, 1);
	assert_null(bytes_reserve(&bytes, SIZE_MAX));
	bytes_put_u8(&bytes, 2);
	assert_true(bytes.failed);
	assert_int_equal(bytes.size, 1);
	bytes_clear(&bytes);
	bytes_printf(&bytes, "%d-%s", 7, "x");
	assert_int_equal(bytes.size, 3);
	assert_memory_equal(bytes.data, "7-x", 3);
	bytes_fini(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_come_back),
		cmocka_unit_test(zigzag_keeps_signs),
		cmocka_unit_test(a_cursor_past_its_end_fails_and_answers_zeros),
		cmocka_unit_test(a_varint_of_more_than_64_bits_fails),
		cmocka_unit_test(a_varint_above_its_limit_fails),
		cmocka_unit_test(a_buffer_that_cannot_grow_stays_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
