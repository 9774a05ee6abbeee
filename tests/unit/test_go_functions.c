/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/go/go_functions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "symbol/symbol_index.h"

#define TEXT 0x401000ull
#define TEXT_SIZE 0x1000ull
#define NAMES "\0main.main\0main.work"
#define MAGIC_1_16 0xfffffffau
#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u

static void put_word(struct bytes *out, bool wide, uint64_t value)
{
	if (wide)
		bytes_put_u64(out, value);
	else
		bytes_put_u32(out, (uint32_t)value);
}

/* A table of main.main at TEXT + 0x10 and main.work at TEXT + 0x50, which ends at 0x60. */
static struct bytes build(uint32_t magic, uint64_t text)
{
	bool wide = magic == MAGIC_1_16;
	uint64_t word = wide ? 8 : 4;
	uint64_t base = wide ? TEXT : 0;
	uint64_t names = wide ? 64 : 72;
	uint64_t functab = names + sizeof(NAMES);
	uint64_t functions = 5 * word;
	struct bytes out = {0};

	bytes_put_u32(&out, magic);
	bytes_put_u16(&out, 0);
	bytes_put_u8(&out, 4);
	bytes_put_u8(&out, 8);
	bytes_put_u64(&out, 2);
	bytes_put_u64(&out, 0);
	if (!wide)
		bytes_put_u64(&out, text);
	bytes_put_u64(&out, names);
	for (int i = 0; i < 3; i++)
		bytes_put_u64(&out, 0);
	bytes_put_u64(&out, functab);
	bytes_put(&out, NAMES, sizeof(NAMES));
	put_word(&out, wide, base + 0x10);
	put_word(&out, wide, functions);
	put_word(&out, wide, base + 0x50);
	put_word(&out, wide, functions + word + 4);
	put_word(&out, wide, base + 0x60);
	put_word(&out, wide, base + 0x10);
	bytes_put_u32(&out, 1);
	put_word(&out, wide, base + 0x50);
	bytes_put_u32(&out, 11);
	assert_false(out.failed);
	return out;
}

static void assert_item(const struct symbol_list *list, size_t i, uint64_t start, uint64_t size,
			const char *name)
{
	assert_true(i < list->items.count);
	assert_int_equal(list->items.items[i].start, start);
	assert_int_equal(list->items.items[i].size, size);
	assert_string_equal((const char *)list->names.data + list->items.items[i].name, name);
}

static void functions_of_every_version_are_named(void **state)
{
	static const struct {
		uint32_t magic;
		uint64_t text;
	} cases[] = {{MAGIC_1_16, 0}, {MAGIC_1_18, TEXT}, {MAGIC_1_20, TEXT}, {MAGIC_1_20, 0}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bytes table = build(cases[i].magic, cases[i].text);
		struct symbol_list list = {0};

		assert_int_equal(go_functions_parse(table.data, table.size, TEXT, TEXT_SIZE, &list),
				 0);
		assert_int_equal(list.items.count, 2);
		assert_item(&list, 0, TEXT + 0x10, 0x40, "main.main");
		assert_item(&list, 1, TEXT + 0x50, 0x10, "main.work");
		symbol_list_fini(&list);
		bytes_fini(&table);
	}
}

static void a_table_cut_anywhere_gives_no_wrong_function(void **state)
{
	struct bytes table = build(MAGIC_1_20, TEXT);

	(void)state;
	for (size_t size = 0; size < table.size; size++) {
		struct symbol_list list = {0};

		assert_int_equal(go_functions_parse(table.data, size, TEXT, TEXT_SIZE, &list), 0);
		assert_true(list.items.count < 2);
		symbol_list_fini(&list);
	}
	bytes_fini(&table);
}

static void other_tables_and_functions_outside_the_code_give_none(void **state)
{
	struct bytes table = build(0xfffffffbu, TEXT);
	struct symbol_list list = {0};

	(void)state;
	assert_int_equal(go_functions_parse(table.data, table.size, TEXT, TEXT_SIZE, &list), 0);
	bytes_fini(&table);
	table = build(MAGIC_1_20, TEXT + TEXT_SIZE);
	assert_int_equal(go_functions_parse(table.data, table.size, TEXT, TEXT_SIZE, &list), 0);
	assert_int_equal(list.items.count, 0);
	symbol_list_fini(&list);
	bytes_fini(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_every_version_are_named),
		cmocka_unit_test(a_table_cut_anywhere_gives_no_wrong_function),
		cmocka_unit_test(other_tables_and_functions_outside_the_code_give_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
