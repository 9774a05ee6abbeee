/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"
#include "proc/process_info.h"

static int parse(const char *text, struct process_info *info)
{
	*info = (struct process_info){0};
	return process_stat_parse(text, strlen(text), info);
}

static void a_name_with_spaces_and_parentheses_is_read_whole(void **state)
{
	struct process_info info;

	assert_int_equal(parse("42 (a) S (b c) R 7 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 9 0 "
			       "123456 1000 5\n",
			       &info),
			 0);
	assert_int_equal(info.pid, 42);
	assert_string_equal(info.comm, "a) S (b c");
	assert_int_equal(info.state, 'R');
	assert_int_equal(info.parent_pid, 7);
	assert_int_equal(info.thread_count, 9);
	assert_int_equal(info.start_ticks, 123456);
}

static void text_that_is_no_stat_line_is_refused(void **state)
{
	static const char *const cases[] = {
		"",
		"42",
		"42 (name",
		"42 )name( R",
		"42 (name) R 7 1",
		"x (name) R 1 2 3 4",
		"99999999999 (a) R 7 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 9 0 123456 1",
	};
	struct process_info info;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(parse(cases[i], &info), -EINVAL);
}

static void this_process_is_described(void **state)
{
	struct process_info info;

	assert_int_equal(process_info_read(getpid(), &info, NULL), 0);
	assert_int_equal(info.pid, getpid());
	assert_int_equal(info.parent_pid, getppid());
	assert_int_equal(info.uid, geteuid());
	assert_string_not_equal(info.user, "");
	assert_non_null(strstr(info.executable, "test_process_info"));
	assert_int_equal(info.state, 'R');
	assert_true(info.start_ns <= clock_monotonic_ns());
	assert_true(info.start_ns + 600 * NS_PER_SEC > clock_monotonic_ns());
}

static void pid_zero_is_this_process(void **state)
{
	struct process_info info;

	assert_int_equal(process_info_read(0, &info, NULL), 0);
	assert_int_equal(info.pid, getpid());
}

static void the_lists_hold_this_process_and_its_thread(void **state)
{
	struct pid_list processes = {0};
	struct pid_list threads = {0};
	bool found = false;

	assert_int_equal(process_list(&processes, NULL), 0);
	for (size_t i = 0; i < processes.count; i++)
		found |= processes.items[i] == getpid();
	assert_true(found);
	assert_int_equal(process_list_threads(getpid(), &threads, NULL), 0);
	assert_true(threads.count >= 1);
	assert_int_equal(threads.items[0], getpid());
	vec_fini(&processes);
	vec_fini(&threads);
}

static void a_thread_name_may_hold_anything(void **state)
{
	char comm[PROCESS_COMM_MAX];

	assert_int_equal(prctl(PR_SET_NAME, "odd )\n( name"), 0);
	assert_int_equal(process_thread_comm(getpid(), getpid(), comm, sizeof(comm)), 0);
	assert_string_equal(comm, "odd )\n( name");
	assert_int_equal(process_thread_comm(getpid(), 0x7ffffff0, comm, sizeof(comm)), -ESRCH);
	struct process_info info;
	assert_int_equal(process_info_read(0, &info, NULL), 0);
	assert_string_equal(info.comm, "odd )\n( name");
}

static void a_missing_process_is_an_error_with_a_remedy(void **state)
{
	struct process_info info;
	struct pid_list threads = {0};
	struct error err = {0};

	assert_int_equal(process_info_read(0x7ffffff0, &info, &err), -ESRCH);
	assert_string_equal(err.text, "no such process: 2147483632");
	assert_string_not_equal(err.remedy, "");
	assert_int_equal(process_list_threads(0x7ffffff0, &threads, &err), -ESRCH);
}

static void a_refusal_names_the_owner(void **state)
{
	struct error err = {0};

	assert_int_equal(process_error(&err, -EACCES, 1, "memory map"), -EACCES);
	assert_non_null(strstr(err.text, "cannot read the memory map of process 1"));
	assert_string_not_equal(err.remedy, "");
	/* Who is root already needs something else. */
	assert_int_equal(geteuid() == 0, strstr(err.remedy, "as root") == NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_with_spaces_and_parentheses_is_read_whole),
		cmocka_unit_test(text_that_is_no_stat_line_is_refused),
		cmocka_unit_test(this_process_is_described),
		cmocka_unit_test(pid_zero_is_this_process),
		cmocka_unit_test(the_lists_hold_this_process_and_its_thread),
		cmocka_unit_test(a_thread_name_may_hold_anything),
		cmocka_unit_test(a_missing_process_is_an_error_with_a_remedy),
		cmocka_unit_test(a_refusal_names_the_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
