/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/arena.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void things_stay_where_they_are(void **state)
{
	struct arena arena = {0};
	char *first = arena_strndup(&arena, "first", 5);
	char *large;

	for (size_t i = 1; i < 3000; i++) {
		void *place = arena_alloc(&arena, i);

		assert_non_null(place);
		assert_int_equal((uintptr_t)place % alignof(max_align_t), 0);
		memset(place, 0xff, i);
	}
	large = arena_alloc(&arena, 1 << 20);
	assert_non_null(large);
	memset(large, 0xff, 1 << 20);
	assert_string_equal(arena_strndup(&arena, "second half", 6), "second");
	assert_string_equal(first, "first");
	arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(things_stay_where_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
