/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ptrace/snapshot.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define THREADS 4

static void *wait_for_ever(void *argument)
{
	for (;;)
		(void)pause();
	return argument;
}

/* A process with some threads, which are there when this returns. */
static pid_t start(void)
{
	int ready[2];
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		pthread_t thread;

		for (int i = 0; i < THREADS; i++)
			if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0)
				_exit(1);
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		(void)wait_for_ever(NULL);
	}
	(void)close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	return pid;
}

static void one_that_is_killed_while_it_is_held_ends(void **state)
{
	struct snapshot snapshot;
	pid_t pid = start();
	int status = 0;
	int r = snapshot_stop(&snapshot, pid, NULL);

	(void)state;
	(void)kill(pid, SIGKILL);
	if (r == 0)
		assert_int_equal(snapshot.threads.count, THREADS + 1);
	snapshot_fini(&snapshot);
	/* Nobody keeps its threads: else this would wait for ever. Its status is left to us. */
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	if (r == -EPERM)
		skip(); /* nobody may trace here */
	assert_int_equal(r, 0);
}

static void one_that_was_held_goes_on(void **state)
{
	struct snapshot snapshot;
	pid_t pid = start();
	int status = 0;
	int r = snapshot_stop(&snapshot, pid, NULL);

	(void)state;
	for (size_t i = 0; i < snapshot.threads.count && r == 0; i++)
		assert_true(snapshot.threads.items[i].is_known);
	snapshot_fini(&snapshot);
	(void)kill(pid, SIGTERM);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	if (r == -EPERM)
		skip();
	assert_int_equal(r, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_is_killed_while_it_is_held_ends),
		cmocka_unit_test(one_that_was_held_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
