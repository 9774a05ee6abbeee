/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/engine_trial.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "engine/engine.h"

static char *const program[] = {(char[]){"/bin/true"}, NULL};

static int hang(const struct engine_config *config, const struct target *target, struct sink *sink,
		void **ret_self, struct error *err)
{
	(void)config, (void)target, (void)sink, (void)ret_self, (void)err;
	(void)pause();
	return 0;
}

static int break_filter(const struct engine_config *config, const struct target *target,
			struct sink *sink, void **ret_self, struct error *err)
{
	(void)config, (void)target, (void)sink, (void)ret_self, (void)err;
	(void)signal(SIGSYS, SIG_DFL); /* the test's own handler is for other faults */
	(void)raise(SIGSYS);
	return 0;
}

static int refuse(const struct engine_config *config, const struct target *target,
		  struct sink *sink, void **ret_self, struct error *err)
{
	(void)config, (void)target, (void)sink, (void)ret_self;
	(void)error_set(err, -EACCES, "not here");
	error_remedy(err, "go there");
	return -EACCES;
}

static void try(const struct engine_ops *engine, bool attach, uint64_t limit_ns,
		struct trial_result *ret)
{
	const struct trial_plan plan = {
		.engine = engine, .attach = attach, .program = program, .limit_ns = limit_ns};
	struct trial trial;

	trial_start(&trial, &plan);
	trial_finish(&trial, ret);
	assert_int_equal(trial.fd, -1);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left */
	assert_int_equal(errno, ECHILD);
}

static void an_engine_that_hangs_is_ended_in_time(void **state)
{
	struct trial_result result;

	try(&(struct engine_ops){.name = "fake", .open = hang}, false, 50 * NS_PER_MS, &result);
	assert_int_equal(result.code, -ETIMEDOUT);
	assert_string_equal(result.err.text, "it did not answer in time");
}

static void an_engine_that_a_filter_kills_is_told_from_one_that_fails(void **state)
{
	struct trial_result result;

	try(&(struct engine_ops){.name = "fake", .open = break_filter}, false, 5 * NS_PER_SEC,
	    &result);
	assert_int_equal(result.code, -EPERM);
	assert_int_equal(result.killed_by, SIGSYS);
	assert_non_null(strstr(result.err.text, "seccomp"));
}

static void why_an_engine_does_not_open_is_handed_on(void **state)
{
	struct trial_result result;

	try(&(struct engine_ops){.name = "fake", .open = refuse}, false, 5 * NS_PER_SEC, &result);
	assert_int_equal(result.code, -EACCES);
	assert_string_equal(result.err.text, "not here");
	assert_string_equal(result.err.remedy, "go there");
}

static void a_program_that_never_says_that_it_begins_is_not_waited_for(void **state)
{
	struct trial_result result;

	try(&(struct engine_ops){.name = "fake", .open = refuse}, true, 5 * NS_PER_SEC, &result);
	assert_int_equal(result.code, -ETIMEDOUT);
	assert_string_equal(result.err.text, "the test program did not start");
}

static void without_an_engine_the_trial_takes_the_one_that_a_recording_would(void **state)
{
	struct trial_result result;
	const struct engine_ops *engine = engine_find("auto", NULL, NULL);

	try(NULL, false, 10 * NS_PER_SEC, &result);
	if (!engine)
		skip(); /* no engine works here */
	assert_int_equal(result.code, 0);
	assert_string_equal(result.engine, engine->name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_engine_that_hangs_is_ended_in_time),
		cmocka_unit_test(an_engine_that_a_filter_kills_is_told_from_one_that_fails),
		cmocka_unit_test(why_an_engine_does_not_open_is_handed_on),
		cmocka_unit_test(without_an_engine_the_trial_takes_the_one_that_a_recording_would),
		cmocka_unit_test(a_program_that_never_says_that_it_begins_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
