/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/symbol_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct spec {
	const char *name; /* "" for a function that only .eh_frame knows */
	uint64_t start;
	uint64_t size; /* 0: sizeless, with room up to 0x1000 */
	bool is_repeated;
};

/* The name that owns the address: "-" when it has none, "none" when nobody does. */
static const char *owner_of(const struct spec *specs, size_t count, uint64_t vaddr)
{
	static char text[64];
	struct symbol_index index = {0};
	struct symbol_list list = {0};
	uint32_t found;

	for (size_t i = 0; i < count; i++)
		assert_int_equal(
			vec_push(
				&list.items,
				(struct symbol_candidate){
					.start = specs[i].start,
					.size = specs[i].size ? specs[i].size
							      : 0x1000 - specs[i].start,
					.is_sized = specs[i].size > 0,
					.name = specs[i].name[0]
							? symbol_list_name(&list, specs[i].name, "")
							: 0,
					.kind = specs[i].name[0] ? KIND_FUNCTION : KIND_START,
					.is_repeated = specs[i].is_repeated,
				}),
			0);
	assert_int_equal(symbol_index_init(&index, &list), 0);
	found = symbol_index_find(&index, vaddr);
	if (found == UINT32_MAX)
		strncpy(text, "none", sizeof(text) - 1);
	else if (index.symbols[found].name == 0)
		strncpy(text, "-", sizeof(text) - 1);
	else
		strncpy(text, (char *)list.names.data + index.symbols[found].name,
			sizeof(text) - 1);
	symbol_index_fini(&index);
	symbol_list_fini(&list);
	return text;
}

static void a_function_without_a_name_owns_its_range(void **state)
{
	const struct spec specs[] = {{"", 0x100, 0x40}, {"named", 0x140, 0x40}};

	(void)state;
	assert_string_equal(owner_of(specs, 2, 0x13f), "-");
	assert_string_equal(owner_of(specs, 2, 0x140), "named");
	assert_string_equal(owner_of(specs, 2, 0xff), "none");
}

static void a_name_at_the_same_place_wins_and_its_size_counts(void **state)
{
	const struct spec specs[] = {{"", 0x100, 0x40}, {"named", 0x100, 0x30}};

	(void)state;
	assert_string_equal(owner_of(specs, 2, 0x12f), "named");
	assert_string_equal(owner_of(specs, 2, 0x130), "none");
}

static void a_sizeless_symbol_ends_where_its_function_ends(void **state)
{
	const struct spec specs[] = {{"start", 0x100, 0}, {"", 0x100, 0x20}, {"far", 0x200, 8}};

	(void)state;
	assert_string_equal(owner_of(specs, 3, 0x11f), "start");
	assert_string_equal(owner_of(specs, 3, 0x120), "none");
}

static void a_sizeless_symbol_inside_a_nameless_function_names_the_rest_of_it(void **state)
{
	const struct spec specs[] = {{"", 0x100, 0x40}, {"entry", 0x110, 0}};

	(void)state;
	assert_string_equal(owner_of(specs, 2, 0x10f), "-");
	assert_string_equal(owner_of(specs, 2, 0x13f), "entry");
	assert_string_equal(owner_of(specs, 2, 0x140), "none");
}

static void a_part_of_a_named_function_is_no_function(void **state)
{
	const struct spec specs[] = {{"whole", 0x100, 0x40}, {"", 0x120, 0x10}};

	(void)state;
	assert_string_equal(owner_of(specs, 2, 0x128), "whole");
}

static void the_best_of_few_and_of_many_names_is_the_same(void **state)
{
	const struct spec specs[] = {
		{"__f", 0x100, 8}, {"fff", 0x100, 8}, {"_f", 0x100, 8}, {"ff", 0x100, 8},
		{"fa", 0x100, 8},  {"_g", 0x100, 8},  {"gg", 0x100, 8}, {"_h", 0x100, 8},
		{"hhh", 0x100, 8}, {"_i", 0x100, 8},  {"ii", 0x100, 8},
	};

	(void)state;
	assert_string_equal(owner_of(specs, 3, 0x104), "fff");
	assert_string_equal(owner_of(specs, 6, 0x104), "fa");
	assert_string_equal(owner_of(specs, 11, 0x104), "fa");
}

static void a_name_of_the_fuller_table_wins(void **state)
{
	const struct spec specs[] = {{"short", 0x100, 8, true}, {"much_longer", 0x100, 8, false}};

	(void)state;
	assert_string_equal(owner_of(specs, 2, 0x104), "much_longer");
}

static void what_is_made_of_one_long_name_is_limited(void **state)
{
	size_t size = (size_t)8 << 20;
	char *name = malloc(size + 1);
	struct symbol_list list = {0};
	int made = 0;

	(void)state;
	assert_non_null(name);
	memset(name, 'a', size);
	name[size] = '\0';
	while (made < 100 && symbol_list_name(&list, name, "@plt"))
		made++;
	assert_int_equal(made, 7);
	symbol_list_fini(&list);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_without_a_name_owns_its_range),
		cmocka_unit_test(a_name_at_the_same_place_wins_and_its_size_counts),
		cmocka_unit_test(a_sizeless_symbol_ends_where_its_function_ends),
		cmocka_unit_test(a_sizeless_symbol_inside_a_nameless_function_names_the_rest_of_it),
		cmocka_unit_test(a_part_of_a_named_function_is_no_function),
		cmocka_unit_test(the_best_of_few_and_of_many_names_is_the_same),
		cmocka_unit_test(a_name_of_the_fuller_table_wins),
		cmocka_unit_test(what_is_made_of_one_long_name_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
