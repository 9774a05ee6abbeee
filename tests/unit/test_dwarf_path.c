/* SPDX-License-Identifier: BSD-2-Clause */
#include "dwarf/source_path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

static void a_source_belongs_to_the_tree_that_it_was_compiled_in(void **state)
{
	static const struct {
		const char *comp_dir, *path, *wanted;
	} cases[] = {
		{"/home/me/app", "/home/me/app/src/a.c", "/home/me/app"},
		{"/src", "/src/a.c", "/src"},
		{"/home/me/app/build", "/home/me/app/src/a.c", "/home/me/app"},
		{"/home/me/app/build/lib", "/home/me/app/lib/a.c", "/home/me/app"},
		{"/home/me/app", "/home/me/apples/a.c", "/home/me"},
		{"/home/me/app", "/home/you/a.c", ""},
		{"/home/me/app", "/etc/shadow", ""},
		{"/", "/etc/shadow", ""},
		{"/src", "/srcs/a.c", ""},
		{"/home/me/app", "/usr/include/a.h", "/usr"},
		{"/usr/src/app", "/usr/src/app/a.c", "/usr/src/app"},
		{"/usr/src/app", "/usr/local/a.c", "/usr"},
		{".", "/home/me/app/a.c", ""},
		{"", "/home/me/app/a.c", ""},
		{NULL, "/home/me/app/a.c", ""},
		{"/home/me/app", "a.c", ""},
		{"/home/me/app", "/home/me/app", "/home/me"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t size = path_tree(cases[i].comp_dir, cases[i].path);

		assert_int_equal(size, strlen(cases[i].wanted));
		assert_memory_equal(cases[i].path, cases[i].wanted, size);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_joined_and_made_plain),
		cmocka_unit_test(a_source_belongs_to_the_tree_that_it_was_compiled_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
