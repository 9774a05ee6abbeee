/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/names/script_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void only_scripts_have_a_folder(void **state)
{
	static const struct {
		const char *path;
		uint32_t length;
	} cases[] = {
		{"/home/me/app.py", 8},
		{"/home/me/app.rb", 8},
		{"/usr/lib/python3.11/json/decoder.py", 4},
		{"/usrs/app.py", 5},
		{"/app.py", 0},
		{"app.py", 0},
		{"/home/me/.py", 0},
		{"/home/me/.ssh/id_rsa", 0},
		{"/home/me/app.py/key", 0},
		{"<string>", 0},
		{"", 0},
		{NULL, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(script_folder(cases[i].path), cases[i].length);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_scripts_have_a_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
