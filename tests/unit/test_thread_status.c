/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "proc/thread_status.h"

static const char text[] = "Name:\tTgid: 7\\nTgid: 8\n"
			   "Tgid:\t4711\n"
			   "TracerPid:\t0\n"
			   "Uid:\tnone\n"
			   "CapEff:\t000001ffffffffff\n"
			   "Huge:\t99999999999999999999999\n"
			   "Empty:";

static void a_field_is_found_by_its_whole_name_at_the_start_of_a_line(void **state)
{
	uint64_t value = 1;

	(void)state;
	assert_int_equal(thread_status_parse(text, "Tgid", 10, &value), 0);
	assert_int_equal(value, 4711);
	assert_int_equal(thread_status_parse(text, "TracerPid", 10, &value), 0);
	assert_int_equal(value, 0);
	assert_int_equal(thread_status_parse(text, "CapEff", 16, &value), 0);
	assert_int_equal(value, 0x1ffffffffff);
	assert_int_equal(thread_status_parse(text, "Pid", 10, &value), -ENOENT);
	assert_int_equal(thread_status_parse("", "Pid", 10, &value), -ENOENT);
}

static void what_is_no_number_is_refused(void **state)
{
	uint64_t value = 1;

	(void)state;
	assert_int_equal(thread_status_parse(text, "Uid", 10, &value), -EINVAL);
	assert_int_equal(thread_status_parse(text, "Huge", 10, &value), -EINVAL);
	assert_int_equal(thread_status_parse(text, "Empty", 10, &value), -EINVAL);
	assert_int_equal(value, 1);
}

static void this_process_knows_itself(void **state)
{
	(void)state;
	assert_int_equal(thread_process(getpid()), getpid());
	assert_true(thread_tracer(getpid()) >= 0);
	assert_int_equal(thread_process(INT32_MAX), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_field_is_found_by_its_whole_name_at_the_start_of_a_line),
		cmocka_unit_test(what_is_no_number_is_refused),
		cmocka_unit_test(this_process_knows_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
