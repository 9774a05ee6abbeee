/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/known_codes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ADDRESS 4096u

static void put(struct known_codes *codes, uint64_t key, const char *name)
{
	assert_int_equal(known_codes_put(codes, ADDRESS, &(struct code_key){{key}}, strdup(name)),
			 0);
}

static const char *name_at(const struct known_codes *codes, uint32_t number)
{
	return known_codes_at(codes, number)->code;
}

static void a_number_keeps_its_meaning_when_the_address_is_used_again(void **state)
{
	struct known_codes codes = {.free_code = free, .keeps_replaced = true};
	uint32_t first;
	uint32_t second;

	(void)state;
	put(&codes, 1, "first");
	first = known_codes_number(&codes, ADDRESS);
	put(&codes, 2, "second");
	second = known_codes_number(&codes, ADDRESS);
	assert_string_equal(name_at(&codes, first), "first");
	assert_string_equal(name_at(&codes, second), "second");
	assert_true(known_codes_has(&codes, ADDRESS, &(struct code_key){{2}}));
	assert_false(known_codes_has(&codes, ADDRESS, &(struct code_key){{1}}));
	assert_int_equal(codes.generation, 0);
	known_codes_fini(&codes);
}

static void otherwise_a_replaced_one_is_forgotten(void **state)
{
	struct known_codes codes = {.free_code = free};

	(void)state;
	put(&codes, 1, "first");
	put(&codes, 2, "second");
	assert_string_equal(known_codes_find(&codes, ADDRESS)->code, "second");
	assert_int_equal(known_codes_number(&codes, ADDRESS), 0);
	assert_int_equal(known_codes_number(&codes, 2 * ADDRESS), ID_NONE);
	assert_null(known_codes_at(&codes, 1));
	assert_int_equal(codes.generation, 1);
	known_codes_fini(&codes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_keeps_its_meaning_when_the_address_is_used_again),
		cmocka_unit_test(otherwise_a_replaced_one_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
