/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/python/code.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

#include "language/python/layout.h"
#include "unwind/python_walk.h"

#define BASE 0x5000ull

/* A process: a code object at 0, strings at 0x200 and 0x300, its lines at 0x400. */
struct memory {
	uint8_t bytes[0x1000];
};

static const struct python_code_layout layout = {
	.name = 128,
	.file = 112,
	.first_line = 72,
	.lines = 136,
	.ascii_bytes = 48,
	.unicode_bytes = 72,
	.line_format = PYTHON_LINES_3_11,
};

static bool read_memory(void *context, uint64_t address, void *ret, uint32_t size)
{
	const struct memory *memory = context;

	if (address < BASE || address - BASE > sizeof(memory->bytes) ||
	    sizeof(memory->bytes) - (address - BASE) < size)
		return false;
	memcpy(ret, memory->bytes + (address - BASE), size);
	return true;
}

static void put(struct memory *memory, size_t place, uint64_t value)
{
	memcpy(memory->bytes + place, &value, sizeof(value));
}

/* A string of characters of `kind` bytes; state has its other bits. */
static void put_string(struct memory *memory, size_t place, const void *characters, size_t length,
		       unsigned int kind, bool ascii)
{
	put(memory, place + 16, length);
	put(memory, place + 32, kind << 2 | 1u << 5 | (ascii ? 1u << 6 : 0));
	memcpy(memory->bytes + place + (ascii ? 48 : 72), characters, length * kind);
}

static struct memory make_memory(void)
{
	static const uint8_t lines[] = {0x80 | 13 << 3 | 0, 2, 0x80 | 10 << 3 | 1, 0, 0};
	struct memory memory = {{0}};

	put(&memory, 128, BASE + 0x200);
	put(&memory, 112, BASE + 0x300);
	put(&memory, 72, 40);
	put(&memory, 136, BASE + 0x400);
	put_string(&memory, 0x200, "Shop.sell", 9, 1, true);
	put_string(&memory, 0x300, "/srv/shop.py", 12, 1, true);
	put(&memory, 0x400 + 16, sizeof(lines));
	memcpy(memory.bytes + 0x400 + 32, lines, sizeof(lines));
	return memory;
}

static int read_code(struct memory *memory, struct python_code *ret)
{
	struct python_reader reader = {read_memory, memory};
	struct python_code_key key;
	int r = python_code_key(&layout, &reader, BASE, &key);

	return r < 0 ? r : python_code_read(&layout, &reader, &key, ret);
}

static void a_code_object_has_a_name_a_file_and_lines(void **state)
{
	struct memory memory = make_memory();
	struct python_code code;

	(void)state;
	assert_int_equal(read_code(&memory, &code), 0);
	assert_string_equal(code.name, "Shop.sell");
	assert_string_equal(code.file, "/srv/shop.py");
	assert_int_equal(python_code_line(&code, 0), 41);
	assert_int_equal(python_code_line(&code, 1), 41);
	assert_int_equal(python_code_line(&code, 2), 41);
	python_code_fini(&code);
}

static void names_of_any_width_become_utf_8(void **state)
{
	static const uint8_t latin[] = {'n', 0xe9};
	static const uint16_t wide[] = {'f', 0x4e2d, 0xd800};
	static const uint32_t widest[] = {0x1f40d, 0x7f};
	static const struct {
		const void *characters;
		size_t length;
		unsigned int kind;
		const char *text;
	} cases[] = {
		{latin, 2, 1, "n\xc3\xa9"},
		{wide, 3, 2, "f\xe4\xb8\xad?"},
		{widest, 2, 4, "\xf0\x9f\x90\x8d?"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct memory memory = make_memory();
		struct python_code code;

		put_string(&memory, 0x200, cases[i].characters, cases[i].length, cases[i].kind,
			   false);
		assert_int_equal(read_code(&memory, &code), 0);
		assert_string_equal(code.name, cases[i].text);
		python_code_fini(&code);
	}
}

static void what_is_no_string_is_refused(void **state)
{
	struct memory memory = make_memory();
	struct python_code code;

	(void)state;
	put(&memory, 0x200 + 32, 0); /* neither compact nor of a known width */
	assert_int_equal(read_code(&memory, &code), -EINVAL);
	memory = make_memory();
	put(&memory, 0x200 + 16, UINT64_MAX);
	assert_int_equal(read_code(&memory, &code), -EINVAL);
	memory = make_memory();
	put(&memory, 0x400 + 16, UINT64_MAX);
	assert_int_equal(read_code(&memory, &code), -EINVAL);
	memory = make_memory();
	put(&memory, 0x200 + 16, 4000); /* longer than the memory that can be read */
	put(&memory, 128, BASE + 0xe00);
	put_string(&memory, 0xe00, "x", 1, 1, true);
	put(&memory, 0xe00 + 16, 1000);
	assert_int_equal(read_code(&memory, &code), -EFAULT);
}

static void code_of_the_interpreter_itself_has_no_name(void **state)
{
	struct memory memory = make_memory();
	struct python_code code;

	(void)state;
	put(&memory, 128, 0);
	assert_int_equal(read_code(&memory, &code), 0);
	assert_null(code.name);
}

/* Lines of another format, of the first eight instructions. */
static void expect_lines(enum python_lines format, uint8_t *table, size_t size,
			 const uint32_t *expected)
{
	struct python_code code = {
		.lines = table, .line_bytes = size, .first_line = 10, .line_format = format};

	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(python_code_line(&code, i), expected[i]);
}

static void each_version_has_its_own_table_of_lines(void **state)
{
	uint8_t lines_3_9[] = {4, 1, 4, (uint8_t)-2, 4, 5};
	uint8_t lines_3_10[] = {4, 0, 4, 1, 4, 0x80, 4, 3};
	/* A column entry, a long one two lines back, none, and one without columns. */
	uint8_t lines_3_11[] = {0x80 | 0 << 3 | 1,
				0x11,
				0x80 | 14 << 3 | 1,
				5,
				0,
				1,
				1,
				0x80 | 15 << 3 | 1,
				0x80 | 13 << 3 | 1,
				0x40 | 2,
				1};

	(void)state;
	expect_lines(PYTHON_LINES_3_9, lines_3_9, sizeof(lines_3_9),
		     (const uint32_t[]){10, 10, 11, 11, 9, 9, 14, 14});
	expect_lines(PYTHON_LINES_3_10, lines_3_10, sizeof(lines_3_10),
		     (const uint32_t[]){10, 10, 11, 11, 11, 11, 14, 14});
	expect_lines(PYTHON_LINES_3_11, lines_3_11, sizeof(lines_3_11),
		     (const uint32_t[]){10, 10, 8, 8, 8, 8, 41, 41});
}

static void a_table_that_ends_in_an_entry_is_read_to_its_end(void **state)
{
	uint8_t table[] = {0x80 | 13 << 3 | 7, 0x7f, 0x7f};
	struct python_code code = {.lines = table,
				   .line_bytes = sizeof(table),
				   .first_line = 10,
				   .line_format = PYTHON_LINES_3_11};

	(void)state;
	assert_int_equal(python_code_line(&code, 100), 10);
}

static bool read_nothing(void *context, uint64_t address, void *ret, uint32_t size)
{
	(void)context;
	(void)address;
	memset(ret, 0, size);
	return true;
}

static void versions_without_a_layout_are_refused(void **state)
{
	const struct python_reader reader = {read_nothing, NULL};
	struct python_structs structs;
	const char *why;

	(void)state;
	assert_int_equal(python_structs_find(0x03080000, 8, &reader, &structs, &why), -ENOTSUP);
	assert_int_equal(python_structs_find(0x030f0000, 8, &reader, &structs, &why), -ENOTSUP);
	/* Says nothing about itself. */
	assert_int_equal(python_structs_find(0x030d0000, 8, &reader, &structs, &why), -ENOTSUP);
	assert_int_equal(python_structs_find(0x030b0700, 8, &reader, &structs, &why), 0);
	assert_int_equal(structs.frames.version, 0x030b);
	assert_int_equal(structs.frames.runtime, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_code_object_has_a_name_a_file_and_lines),
		cmocka_unit_test(names_of_any_width_become_utf_8),
		cmocka_unit_test(what_is_no_string_is_refused),
		cmocka_unit_test(code_of_the_interpreter_itself_has_no_name),
		cmocka_unit_test(each_version_has_its_own_table_of_lines),
		cmocka_unit_test(a_table_that_ends_in_an_entry_is_read_to_its_end),
		cmocka_unit_test(versions_without_a_layout_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
