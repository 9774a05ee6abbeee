/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/run_command.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"

#define MINUTE_NS 60000000000u

static void output_and_status_come_back(void **state)
{
	static const char *const says[] = {"sh", "-c", "echo '$HOME'; echo no >&2; exit 3", NULL};
	struct bytes out = {0};

	assert_int_equal(run_command(says, MINUTE_NS, 100, &out), 3);
	assert_int_equal(out.size, 6);
	assert_memory_equal(out.data, "$HOME\n", 6);
	bytes_fini(&out);
}

static void arguments_are_no_words_of_a_shell(void **state)
{
	static const char *const says[] = {"echo", "a b; exit 1", "$(id)", NULL};
	struct bytes out = {0};

	assert_int_equal(run_command(says, MINUTE_NS, 100, &out), 0);
	assert_memory_equal(out.data, "a b; exit 1 $(id)\n", out.size);
	bytes_fini(&out);
}

static void a_program_that_ends_by_a_signal_says_which(void **state)
{
	static const char *const dies[] = {"sh", "-c", "kill -TERM $$", NULL};
	struct bytes out = {0};

	assert_int_equal(run_command(dies, MINUTE_NS, 100, &out), 128 + 15);
	bytes_fini(&out);
}

static void bounds_end_the_program(void **state)
{
	static const char *const endless[] = {"yes", NULL};
	static const char *const silent[] = {"sleep", "1000", NULL};
	struct bytes out = {0};

	assert_int_equal(run_command(endless, MINUTE_NS, 1000, &out), -EFBIG);
	assert_int_equal(run_command(silent, 1, 1000, &out), -ETIMEDOUT);
	bytes_fini(&out);
}

static void a_program_is_asked_to_end(void **state)
{
	static const char *const silent[] = {"sleep", "1000", NULL};
	static const char *const polite[] = {
		"sh", "-c", "trap 'echo last words; exit 7' TERM; while :; do sleep 0.1; done",
		NULL};
	atomic_bool stop = true;
	struct bytes out = {0};
	sigset_t mask;

	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, SIGTERM); /* as in a thread that leaves signals to others */
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &mask, NULL), 0);
	assert_int_equal(run_command_until(silent, MINUTE_NS, 1000, &stop, &out), 128 + 15);
	atomic_store(&stop, false);
	assert_int_equal(run_command_until(silent, 1, 1000, &stop, &out), -ETIMEDOUT);
	atomic_store(&stop, true);
	assert_true(run_command_until(polite, MINUTE_NS, 1000, &stop, &out) > 0);
	assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &mask, NULL), 0);
	bytes_fini(&out);
}

static void a_program_that_is_not_there_is_told(void **state)
{
	static const char *const missing[] = {"no-such-program-of-wick", NULL};
	struct bytes out = {0};

	assert_int_equal(run_command(missing, MINUTE_NS, 100, &out), -ENOENT);
	bytes_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_and_status_come_back),
		cmocka_unit_test(arguments_are_no_words_of_a_shell),
		cmocka_unit_test(a_program_that_ends_by_a_signal_says_which),
		cmocka_unit_test(bounds_end_the_program),
		cmocka_unit_test(a_program_is_asked_to_end),
		cmocka_unit_test(a_program_that_is_not_there_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
