/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/go/go_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"

#define TEXT 0x401000ull
#define MAGIC_1_20 0xfffffff1u
#define HEADER_BYTES 72
#define UNITS_BYTES 12
#define FILES "\0main.go\0other.go"
/* One byte before, for offset 0 is none; both tables of values. */
#define FILE_VALUES "\x02\x04\x02\x04\0" /* file 0 for 4 steps, file 1 for 4 more */
#define LINE_VALUES "\x16\x02\x03\x06\0" /* line 10 for 2 steps, line 8 for 6 more */

/* A table of one function at TEXT + 0x10, of 0x20 bytes, in unit 1. */
static struct bytes build(void)
{
	static const char values[] = "\0" FILE_VALUES LINE_VALUES;
	uint64_t units = HEADER_BYTES;
	uint64_t files = units + UNITS_BYTES;
	uint64_t tables = files + sizeof(FILES);
	uint64_t functab = tables + sizeof(values);
	const uint32_t function[] = {0x10, 1, 0, 0, 0, 1, 6, 0, 1};
	struct bytes out = {0};

	bytes_put_u32(&out, MAGIC_1_20);
	bytes_put_u16(&out, 0);
	bytes_put_u8(&out, 4);
	bytes_put_u8(&out, 8);
	bytes_put_u64(&out, 1);
	bytes_put_u64(&out, 2);
	bytes_put_u64(&out, TEXT);
	bytes_put_u64(&out, files); /* names: whatever */
	bytes_put_u64(&out, units);
	bytes_put_u64(&out, files);
	bytes_put_u64(&out, tables);
	bytes_put_u64(&out, functab);
	assert_int_equal(out.size, HEADER_BYTES);
	bytes_put_u32(&out, UINT32_MAX); /* of another unit */
	bytes_put_u32(&out, 1);
	bytes_put_u32(&out, 9);
	bytes_put(&out, FILES, sizeof(FILES));
	bytes_put(&out, values, sizeof(values));
	bytes_put_u32(&out, 0x10);
	bytes_put_u32(&out, 3 * sizeof(uint32_t));
	bytes_put_u32(&out, 0x30);
	bytes_put(&out, function, sizeof(function));
	assert_false(out.failed);
	return out;
}

static void lines_change_with_the_address(void **state)
{
	static const struct {
		uint64_t at;
		const char *file;
		uint32_t line;
	} cases[] = {{0x10, "main.go", 10},
		     {0x14, "main.go", 10},
		     {0x18, "main.go", 8},
		     {0x20, "other.go", 8},
		     {0x2f, "other.go", 8}};
	struct bytes table = build();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *file = NULL;
		uint32_t line = 0;

		assert_true(go_lines_parse(table.data, table.size, TEXT, TEXT + cases[i].at, &file,
					   &line));
		assert_string_equal(file, cases[i].file);
		assert_int_equal(line, cases[i].line);
	}
	bytes_fini(&table);
}

static void addresses_outside_of_functions_have_no_line(void **state)
{
	static const uint64_t addresses[] = {TEXT, TEXT + 0xf, TEXT + 0x30, 0, UINT64_MAX};
	struct bytes table = build();
	const char *file;
	uint32_t line;

	(void)state;
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
		assert_false(
			go_lines_parse(table.data, table.size, TEXT, addresses[i], &file, &line));
	bytes_fini(&table);
}

static void a_table_cut_anywhere_does_no_harm(void **state)
{
	struct bytes table = build();
	const char *file;
	uint32_t line;

	(void)state;
	for (size_t size = 0; size < table.size; size++)
		assert_false(go_lines_parse(table.data, size, TEXT, TEXT + 0x18, &file, &line));
	bytes_fini(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_change_with_the_address),
		cmocka_unit_test(addresses_outside_of_functions_have_no_line),
		cmocka_unit_test(a_table_cut_anywhere_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
