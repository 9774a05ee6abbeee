/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/remote.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/error.h"

/* Anybody can take the name of any process. */
static void who_takes_the_name_of_another_is_not_asked(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	pid_t other = getppid();
	int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
			      "wick/recorder/%d", (int)other);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct bytes reply = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(
		bind(fd, (struct sockaddr *)&address,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)),
		0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(remote_ask(other, REMOTE_STATUS, &reply, &err), -ESRCH);
	assert_non_null(strstr(err.text, "went to another process"));
	assert_int_equal(reply.size, 0);
	(void)close(fd);
}

static void say_word(void *self, enum remote_request request, struct bytes *reply)
{
	(void)self;
	bytes_printf(reply, "%d", (int)request);
}

/* A recorder that answers one request, and is stopped before that if so wanted. */
static pid_t start_recorder(bool stopped)
{
	int ready[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		struct remote remote;

		remote_open(&remote);
		(void)!write(ready[1], "r", 1);
		if (stopped)
			(void)raise(SIGSTOP);
		while (remote.peer_fd < 0) /* until somebody has come; then until he is gone */
			remote_serve(&remote, 1, say_word, NULL);
		while (remote.peer_fd >= 0)
			remote_serve(&remote, 1, say_word, NULL);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	(void)close(ready[1]);
	return pid;
}

static void end_recorder(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

static void a_recorder_answers(void **state)
{
	pid_t pid = start_recorder(false);
	struct bytes reply = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(remote_ask(pid, REMOTE_RESUME, &reply, &err), 0);
	assert_int_equal(reply.size, 1);
	assert_int_equal(reply.data[0], '0' + REMOTE_RESUME);
	bytes_fini(&reply);
	end_recorder(pid);
}

static void one_that_is_stopped_is_not_waited_for(void **state)
{
	pid_t pid = start_recorder(true);
	struct bytes reply = {0};
	struct error err = {0};
	char remedy[64];
	int status;

	(void)state;
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(remote_ask(pid, REMOTE_STATUS, &reply, &err), -ETIMEDOUT);
	assert_non_null(strstr(err.text, "stopped (state T)"));
	(void)snprintf(remedy, sizeof(remedy), "let it go on with: kill -CONT %d", (int)pid);
	assert_string_equal(err.remedy, remedy);
	end_recorder(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_takes_the_name_of_another_is_not_asked),
		cmocka_unit_test(a_recorder_answers),
		cmocka_unit_test(one_that_is_stopped_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
