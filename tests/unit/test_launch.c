/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "record/launch.h"

static void fork_shell(struct child *child, const char *script, const sigset_t *mask, int stdout_fd)
{
	char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, strdup(script), NULL};
	struct launch_plan plan = {.argv = argv, .mask = mask, .stdout_fd = stdout_fd};

	assert_int_equal(child_fork(child, &plan, NULL), 0);
	free(argv[2]);
}

static void wait_for_end(struct child *child)
{
	struct pollfd fd = {.fd = child->pid_fd, .events = POLLIN};

	while (!child_ended(child))
		(void)poll(&fd, 1, 10);
}

/* Runs a script and gives its status as a shell would. */
static int run(const char *script)
{
	struct child child;
	sigset_t mask;
	int status;

	(void)sigemptyset(&mask);
	fork_shell(&child, script, &mask, -1);
	assert_int_equal(child_release(&child, "sh", NULL), 0);
	wait_for_end(&child);
	status = child_exit_status(&child);
	child_fini(&child);
	return status;
}

static int fail_to_run(const char *program, struct error *err)
{
	char *copy = strdup(program);
	char *argv[] = {copy, NULL};
	struct child child;
	sigset_t mask;
	struct launch_plan plan = {.argv = argv, .mask = &mask, .stdout_fd = -1};
	int r;

	(void)sigemptyset(&mask);
	assert_int_equal(child_fork(&child, &plan, NULL), 0);
	r = child_release(&child, program, err);
	assert_true(child.reaped);
	child_fini(&child);
	free(copy);
	return r;
}

/* A file of this content that lives until the test ends. */
static void make_file(char *path, const char *content, mode_t mode)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), (ssize_t)strlen(content));
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(close(fd), 0);
}

static size_t open_descriptors(void)
{
	size_t n = 0;
	int fd;

	for (fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void the_exit_status_is_passed_on(void **state)
{
	(void)state;
	assert_int_equal(run("exit 0"), 0);
	assert_int_equal(run("exit 42"), 42);
}

static void a_signal_gives_128_and_its_number(void **state)
{
	(void)state;
	assert_int_equal(run("kill -TERM $$"), 128 + SIGTERM);
	assert_int_equal(run("kill -KILL $$"), 128 + SIGKILL);
}

static void a_command_that_is_not_there_is_named_with_a_remedy(void **state)
{
	struct error err = {0};

	(void)state;
	assert_int_equal(fail_to_run("no-such-command-anywhere", &err), -ENOENT);
	assert_non_null(strstr(err.text, "no-such-command-anywhere: command not found"));
	assert_true(err.remedy[0]);
	assert_int_equal(fail_to_run("/no/such/path", &err), -ENOENT);
}

static void a_file_that_is_not_executable_says_how_to_make_it_so(void **state)
{
	char path[] = "/tmp/wick-test-XXXXXX";
	struct error err = {0};

	(void)state;
	make_file(path, "#!/bin/sh\n", 0644);
	assert_int_equal(fail_to_run(path, &err), -EACCES);
	assert_non_null(strstr(err.remedy, "chmod +x"));
	assert_int_equal(unlink(path), 0);
}

static void a_directory_is_called_one(void **state)
{
	struct error err = {0};

	(void)state;
	assert_int_equal(fail_to_run("/tmp", &err), -EACCES);
	assert_non_null(strstr(err.text, "directory"));
	assert_null(strstr(err.remedy, "chmod"));
}

static void a_script_whose_interpreter_is_not_there_was_found_all_the_same(void **state)
{
	char path[] = "/tmp/wick-test-XXXXXX";
	struct error err = {0};

	(void)state;
	make_file(path, "#!/no/such/interpreter\n", 0755);
	assert_int_equal(fail_to_run(path, &err), -EACCES);
	assert_non_null(strstr(err.text, "interpreter"));
	assert_int_equal(unlink(path), 0);
}

static void the_child_runs_with_the_mask_it_was_given(void **state)
{
	struct child child;
	sigset_t mask;
	sigset_t blocked;
	sigset_t old;

	(void)state;
	(void)sigemptyset(&mask);
	(void)sigemptyset(&blocked);
	(void)sigaddset(&blocked, SIGTERM);
	assert_int_equal(sigprocmask(SIG_BLOCK, &blocked, &old), 0);
	fork_shell(&child, "kill -TERM $$; exit 0", &mask, -1);
	assert_int_equal(child_release(&child, "sh", NULL), 0);
	wait_for_end(&child);
	assert_int_equal(child_exit_status(&child), 128 + SIGTERM);
	child_fini(&child);
	assert_int_equal(sigprocmask(SIG_SETMASK, &old, NULL), 0);
}

static void nothing_runs_before_the_release(void **state)
{
	char path[] = "/tmp/wick-test-XXXXXX";
	char script[64];
	struct child child;
	sigset_t mask;

	(void)state;
	make_file(path, "", 0644);
	(void)snprintf(script, sizeof(script), "rm %s", path);
	(void)sigemptyset(&mask);
	fork_shell(&child, script, &mask, -1);
	assert_int_equal(child_ended(&child), 0);
	child_fini(&child);
	assert_int_equal(waitpid(child.pid, NULL, 0), -1); /* it is gone, and was reaped */
	assert_int_equal(errno, ECHILD);
	assert_int_equal(unlink(path), 0);
}

static void a_child_that_was_killed_before_its_release_ended_by_that_signal(void **state)
{
	struct child child;
	sigset_t mask;

	(void)state;
	(void)sigemptyset(&mask);
	fork_shell(&child, "exit 0", &mask, -1);
	assert_int_equal(kill(child.pid, SIGKILL), 0);
	assert_int_equal(child_release(&child, "sh", NULL), 0);
	wait_for_end(&child);
	assert_int_equal(child_exit_status(&child), 128 + SIGKILL);
	child_fini(&child);
}

static void its_output_goes_where_it_was_told(void **state)
{
	struct child child;
	char text[8] = "";
	sigset_t mask;
	int pipe_fds[2];

	(void)state;
	(void)sigemptyset(&mask);
	assert_int_equal(pipe(pipe_fds), 0);
	fork_shell(&child, "echo hello", &mask, pipe_fds[1]);
	assert_int_equal(child_release(&child, "sh", NULL), 0);
	assert_int_equal(read(pipe_fds[0], text, sizeof(text)), 6);
	assert_string_equal(text, "hello\n");
	wait_for_end(&child);
	child_fini(&child);
	assert_int_equal(close(pipe_fds[0]) | close(pipe_fds[1]), 0);
}

static void a_status_is_had_also_where_child_signals_are_ignored(void **state)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction old;

	(void)state;
	assert_int_equal(sigaction(SIGCHLD, &ignore, &old), 0);
	assert_int_equal(run("exit 7"), 7);
	assert_int_equal(sigaction(SIGCHLD, &old, NULL), 0);
}

static void no_descriptor_is_left_behind(void **state)
{
	size_t before = open_descriptors();
	struct error err;

	(void)state;
	(void)run("exit 0");
	(void)fail_to_run("no-such-command-anywhere", &err);
	assert_int_equal(open_descriptors(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_exit_status_is_passed_on),
		cmocka_unit_test(a_signal_gives_128_and_its_number),
		cmocka_unit_test(a_command_that_is_not_there_is_named_with_a_remedy),
		cmocka_unit_test(a_file_that_is_not_executable_says_how_to_make_it_so),
		cmocka_unit_test(a_directory_is_called_one),
		cmocka_unit_test(a_script_whose_interpreter_is_not_there_was_found_all_the_same),
		cmocka_unit_test(the_child_runs_with_the_mask_it_was_given),
		cmocka_unit_test(nothing_runs_before_the_release),
		cmocka_unit_test(a_child_that_was_killed_before_its_release_ended_by_that_signal),
		cmocka_unit_test(its_output_goes_where_it_was_told),
		cmocka_unit_test(a_status_is_had_also_where_child_signals_are_ignored),
		cmocka_unit_test(no_descriptor_is_left_behind),
	};
	struct sigaction pipes = {.sa_handler = SIG_IGN}; /* as main() sees to it */

	(void)sigaction(SIGPIPE, &pipes, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
