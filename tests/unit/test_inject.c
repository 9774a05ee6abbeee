/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ptrace/inject.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"

/* Stops that come while they are waited for: one in some dozens meets each moment of a wait. */
#define STOPS 1000
#define PATIENCE_NS (60 * NS_PER_SEC)

/* A process that runs, and is traced; 0: nobody may trace here. */
static pid_t start_traced(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* where a check fails, too */
		for (;;)
			__asm__ volatile("" ::: "memory");
	}
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0)
		return pid;
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return 0;
}

static void a_stop_is_no_end_whenever_it_comes(void **state)
{
	pid_t pid = start_traced();

	(void)state;
	if (pid == 0)
		skip();
	for (int i = 0; i < STOPS; i++) {
		assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), 0);
		assert_int_equal(inject_wait(pid, PATIENCE_NS), SIGTRAP | PTRACE_EVENT_STOP << 8);
		assert_int_equal(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	}
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, __WALL), pid);
}

static void an_end_is_told_and_its_status_is_left(void **state)
{
	pid_t pid = start_traced();
	int status = 0;

	(void)state;
	if (pid == 0)
		skip();
	(void)kill(pid, SIGKILL);
	assert_int_equal(inject_wait(pid, PATIENCE_NS), -ESRCH);
	assert_int_equal(waitpid(pid, &status, __WALL), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void one_that_goes_on_is_waited_for_no_longer_than_asked(void **state)
{
	pid_t pid = start_traced();

	(void)state;
	if (pid == 0)
		skip();
	assert_int_equal(inject_wait(pid, NS_PER_MS), -ETIMEDOUT);
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, __WALL), pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stop_is_no_end_whenever_it_comes),
		cmocka_unit_test(an_end_is_told_and_its_status_is_left),
		cmocka_unit_test(one_that_goes_on_is_waited_for_no_longer_than_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
