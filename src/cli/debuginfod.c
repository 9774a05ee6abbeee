/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/debuginfod.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/scope.h"
#include "cli/command.h"
#include "elf/elf.h"

#define PROGRAM "debuginfod-find"

/* Starts the program with its output in *ret_fd. Returns its pid or -errno. */
static int start(const char *hex, int *ret_fd)
{
	char *argv[] = {(char[]){PROGRAM}, (char[]){"debuginfo"}, (char *)(uintptr_t)hex, NULL};
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
		if (r == 0)
			r = posix_spawnp(&pid, PROGRAM, &actions, NULL, argv, environ);
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

/* Reads the line that the program prints until the deadline. */
static int read_line(int fd, uint64_t deadline_ns, char *line, size_t size)
{
	size_t used = 0;

	while (used < size) {
		uint64_t now_ns = clock_monotonic_ns();
		struct pollfd waited = {.fd = fd, .events = POLLIN};
		ssize_t n;

		if (now_ns >= deadline_ns)
			return -ETIMEDOUT;
		if (poll(&waited, 1, (int)((deadline_ns - now_ns) / NS_PER_MS) + 1) == 0)
			return -ETIMEDOUT;
		n = read(fd, line + used, size - used);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0) {
			line[used] = '\0';
			line[strcspn(line, "\n")] = '\0';
			return 0;
		}
		used += n > 0 ? (size_t)n : 0;
	}
	return -ENAMETOOLONG;
}

static int ask(struct debuginfod *self, const char *hex, char *ret_path)
{
	uint64_t deadline_ns = clock_monotonic_ns() + self->left_ns;
	int status = 0;
	int fd = -1;
	int pid = start(hex, &fd);
	int r;

	if (pid < 0)
		return pid;
	r = read_line(fd, deadline_ns, ret_path, PATH_MAX);
	(void)close(fd);
	if (r < 0)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (r == 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || ret_path[0] != '/'))
		r = -ENODATA;
	return r;
}

static int fetch(void *data, const struct build_id *id, char *ret_path)
{
	struct debuginfod *self = data;
	FILE *err = self->context->err;
	char hex[2 * BUILD_ID_MAX + 1];
	uint64_t start_ns = clock_monotonic_ns();
	uint64_t took_ns;
	int r;

	if (self->left_ns == 0)
		return -ETIMEDOUT;
	build_id_format(id, hex);
	if (self->context->progress)
		(void)fprintf(err, "\rwick: asking debuginfod for %.16s…\033[K", hex);
	r = ask(self, hex, ret_path);
	if (self->context->progress)
		(void)fputs("\r\033[K", err);
	took_ns = clock_monotonic_ns() - start_ns;
	self->left_ns -= took_ns < self->left_ns ? took_ns : self->left_ns;
	if (r == -ETIMEDOUT) {
		self->left_ns = 0;
		(void)fprintf(err, "wick: debuginfod took too long; it is not asked again\n");
	} else if (r < 0 && r != -ENODATA) {
		self->left_ns = 0;
		(void)fprintf(err, "wick: cannot run " PROGRAM ": %s\n", strerror(-r));
	}
	return r;
}

void debuginfod_init(struct debuginfod *ret, const struct command_context *context,
		     uint64_t limit_ns)
{
	*ret = (struct debuginfod){.context = context,
				   .left_ns = limit_ns,
				   .search = {.fetch = fetch, .fetch_self = ret}};
}
