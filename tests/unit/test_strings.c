/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/strings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void equal_texts_have_equal_ids(void **state)
{
	struct strings strings;
	uint32_t id;

	assert_int_equal(strings_init(&strings), 0);
	assert_int_equal(strings_add(&strings, ""), 0);
	id = strings_add(&strings, "main");
	assert_int_equal(strings_add_n(&strings, "mainly", 4), id);
	assert_int_equal(strings_add_n(&strings, "main\0x", 6), id);
	assert_int_not_equal(strings_add(&strings, "mai"), id);
	assert_string_equal(strings_get(&strings, id), "main");
	assert_string_equal(strings_get(&strings, 99), "");
	strings_fini(&strings);
}

static void texts_stay_where_they_are(void **state)
{
	struct strings strings;
	const char *first;
	char text[16];

	assert_int_equal(strings_init(&strings), 0);
	first = strings_get(&strings, strings_add(&strings, "first"));
	for (int i = 0; i < 20000; i++) {
		(void)snprintf(text, sizeof(text), "%d", i);
		assert_int_not_equal(strings_add(&strings, text), ID_NONE);
	}
	assert_ptr_equal(strings_get(&strings, strings_add(&strings, "first")), first);
	strings_fini(&strings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_texts_have_equal_ids),
		cmocka_unit_test(texts_stay_where_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
