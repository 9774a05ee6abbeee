/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/run_command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"

#define READ_BYTES 65536u
#define SIGNAL_STATUS 128 /* what shells add to a signal number */

/* Starts the program with its output in *ret_fd. Returns its pid or -errno. */
static int start(const char *const *argv, int *ret_fd)
{
	posix_spawn_file_actions_t actions;
	int ends[2];
	pid_t pid = -1;
	int r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	r = posix_spawn_file_actions_init(&actions);
	if (r == 0) {
		r = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
		if (r == 0)
			r = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
							     O_RDONLY, 0);
		if (r == 0)
			r = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
							     O_WRONLY, 0);
		if (r == 0) /* it does not change them: the type is for old programs */
			r = posix_spawnp(&pid, argv[0], &actions, NULL,
					 (char *const *)(uintptr_t)argv, environ);
		(void)posix_spawn_file_actions_destroy(&actions); /* cannot fail on Linux */
	}
	(void)close(ends[1]);
	if (r != 0) {
		(void)close(ends[0]);
		return -r;
	}
	*ret_fd = ends[0];
	return pid;
}

/* Reads until the end of the output. 0, -ETIMEDOUT, -EFBIG or another negative errno. */
static int read_all(int fd, uint64_t deadline_ns, size_t max_bytes, struct bytes *out)
{
	size_t before = out->size;

	for (;;) {
		uint64_t now_ns = clock_monotonic_ns();
		struct pollfd waited = {.fd = fd, .events = POLLIN};
		uint8_t *place;
		ssize_t n;

		if (now_ns >= deadline_ns)
			return -ETIMEDOUT;
		if (poll(&waited, 1, (int)((deadline_ns - now_ns) / NS_PER_MS) + 1) == 0)
			return -ETIMEDOUT;
		place = bytes_reserve(out, READ_BYTES);
		if (!place)
			return -ENOMEM;
		n = read(fd, place, READ_BYTES);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return 0;
		out->size += n > 0 ? (size_t)n : 0;
		if (out->size - before > max_bytes)
			return -EFBIG;
	}
}

int run_command(const char *const *argv, uint64_t limit_ns, size_t max_bytes, struct bytes *out)
{
	uint64_t deadline_ns = clock_monotonic_ns() + limit_ns;
	int status = 0;
	int fd = -1;
	int pid = start(argv, &fd);
	int r;

	if (pid < 0)
		return pid;
	r = read_all(fd, deadline_ns, max_bytes, out);
	(void)close(fd); /* only read from */
	if (r < 0)
		(void)kill(pid, SIGKILL); /* it is our child, which has not been waited for yet */
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (r < 0)
		return r;
	return WIFEXITED(status) ? WEXITSTATUS(status) : SIGNAL_STATUS + WTERMSIG(status);
}
