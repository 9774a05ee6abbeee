/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/symbol_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void several_writers_are_one_only_when_root_is_all_the_rest(void **state)
{
	static const struct symbol_writer root = {true, 0}, one = {true, 1000}, two = {true, 1001},
					  unknown = {false, 0};
	static const struct {
		const struct symbol_writer *a, *b;
		bool is_known;
		uint32_t uid;
	} cases[] = {
		{&root, &root, true, 0},        {&root, &one, true, 1000},
		{&one, &one, true, 1000},       {&one, &two, false, 0},
		{&unknown, &one, false, 0},     {&unknown, &root, false, 0},
		{&unknown, &unknown, false, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int turned = 0; turned < 2; turned++) {
			struct symbol_writer joined =
				turned ? symbol_writer_join(*cases[i].b, *cases[i].a)
				       : symbol_writer_join(*cases[i].a, *cases[i].b);

			assert_int_equal(joined.is_known, cases[i].is_known);
			if (joined.is_known)
				assert_int_equal(joined.uid, cases[i].uid);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_writers_are_one_only_when_root_is_all_the_rest)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
