/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ptrace/tid_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define THREADS 5000

static void an_empty_index_knows_nobody(void **state)
{
	struct tid_index index = {0};

	assert_int_equal(tid_index_find(&index, 1), TID_NOWHERE);
	tid_index_remove(&index, 1);
	tid_index_fini(&index);
}

static void threads_are_found_where_they_were_put_last(void **state)
{
	struct tid_index index = {0};

	assert_int_equal(tid_index_set(&index, 7, 3), 0);
	assert_int_equal(tid_index_set(&index, 7, 4), 0);
	assert_int_equal(tid_index_find(&index, 7), 4);
	assert_int_equal(tid_index_find(&index, 8), TID_NOWHERE);
	assert_int_equal(tid_index_find(&index, 0), TID_NOWHERE);
	assert_int_equal(index.count, 1);
	tid_index_fini(&index);
}

/* Numbers far apart and close together, with others that come and go. */
static void many_come_and_go(void **state)
{
	struct tid_index index = {0};

	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(tid_index_set(&index, (pid_t)(1 + i * (i % 3 + 1)), i), 0);
	for (uint32_t i = 0; i < THREADS; i += 2)
		tid_index_remove(&index, (pid_t)(1 + i * (i % 3 + 1)));
	for (pid_t tid = 1; tid <= 3 * THREADS; tid++) {
		uint32_t place = tid_index_find(&index, tid);

		if (place != TID_NOWHERE)
			assert_int_equal(tid, 1 + place * (place % 3 + 1));
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		pid_t tid = (pid_t)(1 + i * (i % 3 + 1));

		tid_index_remove(&index, tid);
		assert_int_equal(tid_index_find(&index, tid), TID_NOWHERE);
	}
	assert_int_equal(index.count, 0);
	tid_index_fini(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_index_knows_nobody),
		cmocka_unit_test(threads_are_found_where_they_were_put_last),
		cmocka_unit_test(many_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
