/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/remote/remote.h"

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
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/vec.h"
#include "record/remote/remote_place.h"

static char folder[REMOTE_PLACE_PATH];

/* A descriptor of the folder of this user's recorders. */
static int open_folder(void)
{
	int fd;

	do /* a recorder that ends may just have removed it */
		fd = remote_place_make(folder, sizeof(folder));
	while (fd == -ENOENT);
	assert_true(fd >= 0);
	return fd;
}

static bool has_socket(pid_t pid)
{
	char name[16];
	int fd = open_folder();
	struct stat status;
	bool found;

	(void)snprintf(name, sizeof(name), "%d", (int)pid);
	found = fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
	(void)close(fd);
	remote_place_leave(folder);
	return found;
}

/* A socket under the name of a process, which is not made by remote_open(). */
static int listen_as(pid_t pid)
{
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char name[16];
	int r;

	(void)snprintf(name, sizeof(name), "%d", (int)pid);
	do {
		int folder_fd = open_folder();

		remote_place_address(folder_fd, name, &address);
		(void)unlinkat(folder_fd, name, 0);
		r = bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
		(void)close(folder_fd);
	} while (r == -ENOENT);
	assert_int_equal(r, 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static void remove_socket(pid_t pid)
{
	char name[16];
	int fd = open_folder();

	(void)snprintf(name, sizeof(name), "%d", (int)pid);
	(void)unlinkat(fd, name, 0);
	(void)close(fd);
	remote_place_leave(folder);
}

/* Ids are used again, and mean something else in a container. */
static void who_takes_the_name_of_another_is_not_asked(void **state)
{
	pid_t other = getppid();
	int fd = listen_as(other);
	struct bytes reply = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(remote_ask(other, REMOTE_STATUS, &reply, &err), -ESRCH);
	assert_non_null(strstr(err.text, "belongs to another process"));
	assert_int_equal(reply.size, 0);
	(void)close(fd);
	remove_socket(other);
}

static void say_word(void *self, enum remote_request request, struct bytes *reply)
{
	(void)self;
	bytes_printf(reply, "%d", (int)request);
}

/* A recorder that answers until it is killed, and is stopped before that if so wanted. */
static pid_t start_recorder(bool stopped)
{
	int ready[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		struct remote *remote = remote_open();

		(void)!write(ready[1], remote ? "r" : "f", 1);
		if (stopped)
			(void)raise(SIGSTOP);
		for (;;) { /* time stands still: who says nothing is never sent away */
			struct pollfd fds[REMOTE_FDS];
			size_t count = remote_fds(remote, fds);

			(void)poll(fds, count, -1);
			remote_serve(remote, 1, say_word, NULL);
		}
	}
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(byte, 'r');
	(void)close(ready[0]);
	(void)close(ready[1]);
	return pid;
}

static void end_recorder(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	remove_socket(pid);
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
	(void)snprintf(remedy, sizeof(remedy), "resume it with: kill -CONT %d", (int)pid);
	assert_string_equal(err.remedy, remedy);
	end_recorder(pid);
}

static void ask_within(pid_t pid, int limit_ms, struct remote_answer *ret)
{
	*ret = (struct remote_answer){.recorder = pid};
	remote_ask_all(ret, 1, REMOTE_STATUS, limit_ms);
	bytes_fini(&ret->reply);
}

/* A process that listens under its own name, and does as it likes. */
static pid_t start_listener(void (*behave)(int listening))
{
	int ready[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		int listening = listen_as(getpid());

		(void)!write(ready[1], "r", 1);
		behave(listening);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	(void)close(ready[1]);
	return pid;
}

static void drip(int listening)
{
	int fd = accept(listening, NULL, NULL);

	while (send(fd, "{", 1, MSG_NOSIGNAL) == 1)
		(void)usleep(1000);
	(void)pause();
}

/* However often something comes, the whole answer has one limit. */
static void one_that_never_comes_to_an_end_is_given_up(void **state)
{
	struct remote_answer answer;
	pid_t pid;

	(void)state;
	pid = start_listener(drip);
	ask_within(pid, 200, &answer);
	assert_int_equal(answer.err.code, -ETIMEDOUT);
	end_recorder(pid);
}

static void those_who_say_nothing_keep_nobody_from_an_answer(void **state)
{
	pid_t pid = start_recorder(false);
	int folder_fd = open_folder();
	struct bytes reply = {0};
	struct error err = {0};
	int silent[2 * REMOTE_FDS];
	char name[16];

	(void)state;
	(void)snprintf(name, sizeof(name), "%d", (int)pid);
	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		do
			silent[i] = remote_place_connect(folder_fd, name);
		while (silent[i] == -EAGAIN);
	assert_int_equal(remote_ask(pid, REMOTE_PAUSE, &reply, &err), 0);
	assert_int_equal(reply.data[0], '0' + REMOTE_PAUSE);
	bytes_fini(&reply);
	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		assert_int_equal(close(silent[i]), 0);
	(void)close(folder_fd);
	end_recorder(pid);
}

/* As a recorder does that has too many others to listen to. */
static void send_away_thrice(int listening)
{
	char word[16];
	int fd;

	for (int i = 0; i < 3; i++)
		(void)close(accept(listening, NULL, NULL));
	fd = accept(listening, NULL, NULL);
	(void)!recv(fd, word, sizeof(word), 0);
	(void)send(fd, "{}", 2, MSG_NOSIGNAL);
}

static void one_that_sends_us_away_is_asked_again(void **state)
{
	struct remote_answer answer;
	pid_t pid;

	(void)state;
	pid = start_listener(send_away_thrice);
	ask_within(pid, REMOTE_LIMIT_MS, &answer);
	assert_int_equal(answer.err.code, 0);
	end_recorder(pid);
}

static void all_are_asked_at_the_same_time(void **state)
{
	struct remote_answer answers[3] = {{.recorder = start_recorder(false)},
					   {.recorder = start_recorder(true)},
					   {.recorder = start_recorder(false)}};

	(void)state;
	assert_int_equal(waitpid(answers[1].recorder, NULL, WUNTRACED), answers[1].recorder);
	remote_ask_all(answers, 3, REMOTE_STATUS, REMOTE_LIMIT_MS);
	assert_int_equal(answers[0].err.code, 0);
	assert_int_equal(answers[1].err.code, -ETIMEDOUT);
	assert_int_equal(answers[2].err.code, 0);
	for (size_t i = 0; i < 3; i++) {
		bytes_fini(&answers[i].reply);
		end_recorder(answers[i].recorder);
	}
}

static void kill_recorder(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	assert_true(has_socket(pid));
}

static void the_socket_of_one_that_was_killed_goes_when_it_is_asked(void **state)
{
	pid_t pid = start_recorder(false);
	struct remote_answer answer;

	(void)state;
	kill_recorder(pid);
	ask_within(pid, REMOTE_LIMIT_MS, &answer);
	assert_int_equal(answer.err.code, -ESRCH);
	assert_false(has_socket(pid));
}

static void the_socket_of_one_that_was_killed_goes_when_another_begins(void **state)
{
	pid_t pid = start_recorder(false);
	struct remote *remote;

	(void)state;
	kill_recorder(pid);
	remote = remote_open();
	assert_non_null(remote);
	assert_false(has_socket(pid));
	assert_true(has_socket(getpid()));
	remote_close(remote);
	assert_false(has_socket(getpid()));
}

static void a_recorder_that_runs_keeps_its_socket_when_another_begins(void **state)
{
	pid_t pid = start_recorder(false);
	struct remote *remote = remote_open();

	(void)state;
	assert_true(has_socket(pid));
	remote_close(remote);
	assert_true(has_socket(pid));
	end_recorder(pid);
}

static void a_folder_that_others_may_look_into_is_closed_to_them(void **state)
{
	struct stat status;
	int fd = open_folder();

	(void)state;
	assert_int_equal(fchmod(fd, 0755), 0);
	(void)close(fd);
	fd = open_folder();
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0700);
	assert_int_equal(status.st_uid, geteuid());
	(void)close(fd);
	remote_place_leave(folder);
}

static void nobody_is_no_remote(void **state)
{
	struct pollfd fds[REMOTE_FDS];

	(void)state;
	assert_int_equal(remote_fds(NULL, fds), 0);
	remote_serve(NULL, 1, say_word, NULL);
	remote_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_takes_the_name_of_another_is_not_asked),
		cmocka_unit_test(a_recorder_answers),
		cmocka_unit_test(one_that_is_stopped_is_not_waited_for),
		cmocka_unit_test(one_that_never_comes_to_an_end_is_given_up),
		cmocka_unit_test(those_who_say_nothing_keep_nobody_from_an_answer),
		cmocka_unit_test(one_that_sends_us_away_is_asked_again),
		cmocka_unit_test(all_are_asked_at_the_same_time),
		cmocka_unit_test(the_socket_of_one_that_was_killed_goes_when_it_is_asked),
		cmocka_unit_test(the_socket_of_one_that_was_killed_goes_when_another_begins),
		cmocka_unit_test(a_recorder_that_runs_keeps_its_socket_when_another_begins),
		cmocka_unit_test(a_folder_that_others_may_look_into_is_closed_to_them),
		cmocka_unit_test(nobody_is_no_remote),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
