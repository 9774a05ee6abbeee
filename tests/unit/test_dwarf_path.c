/* SPDX-License-Identifier: BSD-2-Clause */
#include "dwarf/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"

static void parts_are_joined_and_made_plain(void **state)
{
	static const struct {
		const char *comp_dir, *directory, *name, *wanted;
	} cases[] = {
		{"/src", "lib", "a.c", "/src/lib/a.c"},
		{"/src", "/usr/include", "a.h", "/usr/include/a.h"},
		{"/src", "lib", "/abs/a.c", "/abs/a.c"},
		{"/src", NULL, "a.c", "/src/a.c"},
		{NULL, NULL, "a.c", "a.c"},
		{"/src/build", "../lib", "./a.c", "/src/lib/a.c"},
		{"/src//x/", "./.", "a.c", "/src/x/a.c"},
		{"/", "..", "a.c", "/a.c"},
		{NULL, "../up", "a.c", "../up/a.c"},
		{NULL, "x/../..", "a.c", "../a.c"},
		{"rel", "..", "a.c", "a.c"},
		{"", "", "", ""},
	};
	struct arena arena = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(
			path_join(&arena, cases[i].comp_dir, cases[i].directory, cases[i].name),
			cases[i].wanted);
	arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(parts_are_joined_and_made_plain)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
