/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/file/open_below.h"
#include "base/file/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "elf/elf.h"
#include "proc/jit_file.h"
#include "symbol/debug_file.h"

#define STRANGER 65534u

struct world {
	char folder[64];
	char fifo[96];
	char file[96];
	char link[96];
};

static int set_up(void **state)
{
	static struct world world;
	int fd;

	(void)snprintf(world.folder, sizeof(world.folder), "/tmp/wick-regular-XXXXXX");
	if (!mkdtemp(world.folder))
		return -1;
	(void)snprintf(world.fifo, sizeof(world.fifo), "%s/fifo", world.folder);
	(void)snprintf(world.file, sizeof(world.file), "%s/file", world.folder);
	(void)snprintf(world.link, sizeof(world.link), "%s/link", world.folder);
	fd = open(world.file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	*state = &world;
	return fd < 0 || write(fd, "text", 4) != 4 || close(fd) < 0 ||
			       symlink(world.file, world.link) < 0
		       ? -1
		       : mkfifo(world.fifo, 0600);
}

static int tear_down(void **state)
{
	const struct world *world = *state;

	(void)unlink(world->fifo);
	(void)unlink(world->file);
	(void)unlink(world->link);
	return rmdir(world->folder);
}

static int try_regular(const char *path)
{
	struct stat status;

	return regular_file_open(path, &status);
}

static int try_elf(const char *path)
{
	struct elf_file *elf = NULL;

	return elf_open(path, &elf, NULL);
}

static int try_debug_file(const char *path)
{
	struct elf_file *elf = NULL;
	struct stat status;

	return debug_file_open(path, &elf, &status, NULL);
}

/* The way of source files. */
static int try_below(const char *path)
{
	struct stat status;

	return open_below("/", path + 1, NULL, 0, &status);
}

static int try_jit(const char *path)
{
	struct jit_process process = {.pid = getpid(), .uid = geteuid()};
	void *data = NULL;
	size_t size;

	return jit_file_read(&process, path, &data, &size, NULL);
}

/* Opening is what a device notices, and inotify too: it must not happen at all. */
static void what_is_no_regular_file_is_refused_without_opening_it(void **state)
{
	static int (*const tries[])(const char *) = {try_regular, try_elf, try_debug_file,
						     try_below, try_jit};
	const struct world *world = *state;
	int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char event[512];
	int fd;

	assert_true(inotify_add_watch(watch, world->fifo, IN_OPEN) >= 0);
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		assert_true(tries[i](world->fifo) < 0);
		assert_int_equal(read(watch, event, sizeof(event)), -1);
		assert_int_equal(errno, EAGAIN);
	}
	fd = open(world->fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* which would be seen */
	assert_true(read(watch, event, sizeof(event)) > 0);
	(void)close(fd);
	(void)close(watch);
	assert_int_equal(try_regular(world->fifo), -EINVAL);
	assert_int_equal(try_regular(world->folder), -EINVAL);
	assert_int_equal(try_regular("/dev/null"), -EINVAL);
}

static void a_regular_file_is_opened_also_by_a_link(void **state)
{
	const struct world *world = *state;
	const char *const paths[] = {world->file, world->link};

	for (size_t i = 0; i < 2; i++) {
		struct stat status = {0};
		int fd = regular_file_open(paths[i], &status);
		char text[8];

		assert_true(fd >= 0);
		assert_int_equal(status.st_size, 4);
		assert_int_equal(read(fd, text, sizeof(text)), 4);
		assert_memory_equal(text, "text", 4);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		(void)close(fd);
	}
	assert_int_equal(try_regular("/nonexistent/file"), -ENOENT);
}

static void a_link_in_place_of_a_jit_map_is_refused_by_that_name(void **state)
{
	const struct world *world = *state;
	struct jit_process process = {.pid = getpid(), .uid = geteuid()};
	struct error err = {0};
	void *data = NULL;
	size_t size;

	assert_int_equal(jit_file_read(&process, world->link, &data, &size, &err), -EPERM);
	assert_non_null(strstr(err.text, "is a symbolic link"));
	assert_int_equal(jit_file_read(&process, world->file, &data, &size, &err), 0);
	assert_int_equal(size, 4);
	free(data);
}

/* A process of another user, which waits to be killed. */
static pid_t start_stranger(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		if (setuid(STRANGER) == 0 && write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	(void)close(ready[1]);
	return pid;
}

static void root_knows_whose_a_process_of_the_past_is(void **state)
{
	struct timespec now;
	struct jit_past past = {.uid = 77};
	struct jit_process process;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip();
	pid = start_stranger();
	(void)clock_gettime(CLOCK_REALTIME, &now);
	/* It ran before the file was written. */
	past.written_ns = (uint64_t)(now.tv_sec + 60) * 1000000000;
	jit_process_of_past(&process, pid, &past);
	assert_false(process.ended);
	assert_int_equal(process.uid, STRANGER);
	assert_int_equal(process.made_before_ns, past.written_ns);
	/* It began later: another process had this pid, and the file tells whose it may be. */
	past.written_ns = (uint64_t)(now.tv_sec - 3600) * 1000000000;
	jit_process_of_past(&process, pid, &past);
	assert_true(process.ended);
	assert_int_equal(process.uid, 77);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	past.written_ns = (uint64_t)(now.tv_sec + 60) * 1000000000;
	jit_process_of_past(&process, pid, &past);
	assert_true(process.ended);
	assert_int_equal(process.uid, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_regular_file_is_refused_without_opening_it),
		cmocka_unit_test(a_regular_file_is_opened_also_by_a_link),
		cmocka_unit_test(a_link_in_place_of_a_jit_map_is_refused_by_that_name),
		cmocka_unit_test(root_knows_whose_a_process_of_the_past_is),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
