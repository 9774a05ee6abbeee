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
#define LOOK_MS 100u      /* how often it looks whether to stop */
#define LAST_NS (5 * NS_PER_SEC)

/* What bounds a run. */
struct limits {
	uint64_t deadline_ns;
	size_t max_bytes;
	const atomic_bool *stop; /* NULL: nothing stops it */
};

/* The program gets signals that the calling thread leaves to others. */
static int set_mask(posix_spawnattr_t *attributes)
{
	sigset_t none;
	int r = posix_spawnattr_init(attributes);

	(void)sigemptyset(&none); /* cannot fail */
	if (r == 0)
		r = posix_spawnattr_setsigmask(attributes, &none);
	return r != 0 ? r : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK);
}

/* Starts the program with its output in *ret_fd. Returns its pid or -errno. */
static int start(const char *const *argv, int *ret_fd)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int ends[2];
	pid_t pid = -1;
	int r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	r = set_mask(&attributes);
	if (r == 0)
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
			r = posix_spawnp(&pid, argv[0], &actions, &attributes,
					 (char *const *)(uintptr_t)argv, environ);
		(void)posix_spawn_file_actions_destroy(&actions); /* cannot fail on Linux */
	}
	(void)posix_spawnattr_destroy(&attributes); /* cannot fail on Linux */
	(void)close(ends[1]);
	if (r != 0) {
		(void)close(ends[0]);
		return -r;
	}
	*ret_fd = ends[0];
	return pid;
}

/* Asks the program to end, once, when it is time. */
static void look_at_stop(struct limits *limits, pid_t pid)
{
	if (!limits->stop || !atomic_load(limits->stop))
		return;
	(void)kill(pid, SIGTERM); /* it is our child, which has not been waited for yet */
	limits->stop = NULL;
	limits->deadline_ns = clock_monotonic_ns() + LAST_NS;
}

/* Reads until the end of the output. 0, -ETIMEDOUT, -EFBIG or another negative errno. */
static int read_all(int fd, pid_t pid, struct limits *limits, struct bytes *out)
{
	size_t before = out->size;

	for (;;) {
		struct pollfd waited = {.fd = fd, .events = POLLIN};
		uint64_t now_ns;
		uint64_t wait_ms;
		uint8_t *place;
		ssize_t n;

		look_at_stop(limits, pid);
		now_ns = clock_monotonic_ns();
		if (now_ns >= limits->deadline_ns)
			return -ETIMEDOUT;
		wait_ms = (limits->deadline_ns - now_ns) / NS_PER_MS + 1;
		if (limits->stop && wait_ms > LOOK_MS)
			wait_ms = LOOK_MS;
		if (poll(&waited, 1, (int)wait_ms) == 0)
			continue;
		place = bytes_reserve(out, READ_BYTES);
		if (!place)
			return -ENOMEM;
		n = read(fd, place, READ_BYTES);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return 0;
		out->size += n > 0 ? (size_t)n : 0;
		if (out->size - before > limits->max_bytes)
			return -EFBIG;
	}
}

int run_command(const char *const *argv, uint64_t limit_ns, size_t max_bytes, struct bytes *out)
{
	return run_command_until(argv, limit_ns, max_bytes, NULL, out);
}

int run_command_until(const char *const *argv, uint64_t limit_ns, size_t max_bytes,
		      const atomic_bool *stop, struct bytes *out)
{
	struct limits limits = {.deadline_ns = clock_monotonic_ns() + limit_ns,
				.max_bytes = max_bytes,
				.stop = stop};
	int status = 0;
	int fd = -1;
	int pid = start(argv, &fd);
	int r;

	if (pid < 0)
		return pid;
	r = read_all(fd, pid, &limits, out);
	(void)close(fd); /* only read from */
	if (r < 0)
		(void)kill(pid, SIGKILL); /* it is our child, which has not been waited for yet */
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (r < 0)
		return r;
	return WIFEXITED(status) ? WEXITSTATUS(status) : SIGNAL_STATUS + WTERMSIG(status);
}
