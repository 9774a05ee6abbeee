/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/file/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"

static char folder[64];

static const char *path_of(const char *name)
{
	static char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void assert_holds(const char *path, const char *expected)
{
	char text[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, text, sizeof(text) - 1), strlen(expected));
	assert_string_equal(text, expected);
	close(fd);
}

static void a_file_is_replaced_whole(void **state)
{
	const char *path = path_of("result");

	assert_int_equal(outfile_write(path, "-o FILE", "first version", 13, NULL), 0);
	assert_int_equal(outfile_write(path, "-o FILE", "second", 6, NULL), 0);
	assert_holds(path, "second");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0); /* no temporary file stays */
	assert_int_equal(mkdir(folder, 0700), 0);
}

static void a_failure_names_the_path_and_a_remedy(void **state)
{
	struct error err = {0};

	assert_int_equal(outfile_write(path_of("no/such"), "-o FILE", "x", 1, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no/such"));
	assert_non_null(strstr(err.remedy, "-o FILE"));
	if (access("/dev/full", W_OK) == 0)
		assert_int_equal(outfile_write("/dev/full", "-o FILE", "x", 1, &err), -ENOSPC);
}

static void a_remedy_names_the_option_that_the_path_was_given_with(void **state)
{
	struct error err = {0};

	if (access("/dev/full", W_OK) < 0)
		skip();
	assert_int_equal(outfile_write("/dev/full", "--flame FILE", "x", 1, &err), -ENOSPC);
	assert_non_null(strstr(err.remedy, "--flame FILE"));
	assert_null(strstr(err.remedy, "-o FILE"));
	assert_int_equal(outfile_write("/dev/full", NULL, "x", 1, &err), -ENOSPC);
	assert_null(strstr(err.remedy, "FILE"));
	assert_non_null(strstr(err.remedy, "another place"));
}

static void an_opened_file_keeps_its_bytes_and_is_close_on_exec(void **state)
{
	const char *path = path_of("log");
	bool created = true;
	int fd;

	assert_int_equal(outfile_write(path, "-o FILE", "old", 3, NULL), 0);
	fd = outfile_open(path, "-o FILE", &created, NULL);
	assert_true(fd >= 0);
	assert_false(created);
	assert_holds(path, "old");
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(outfile_write_all(fd, "new", 3), 0);
	close(fd);
	assert_holds(path, "new");
	assert_int_equal(unlink(path), 0);
}

static mode_t mode_of(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return status.st_mode & 07777;
}

/* Writes in both ways; both have to say the same. */
static void assert_refused(const char *path, const char *why)
{
	struct error err = {0};
	bool created;

	assert_int_equal(outfile_write(path, "-o FILE", "x", 1, &err), -EPERM);
	assert_non_null(strstr(err.text, why));
	assert_non_null(strstr(err.remedy, "-o FILE"));
	assert_int_equal(outfile_open(path, "-o FILE", &created, &err), -EPERM);
	assert_non_null(strstr(err.text, why));
}

static void results_are_for_their_owner_alone(void **state)
{
	const char *path = path_of("private");
	bool created;
	mode_t before = umask(0);
	int fd;

	assert_int_equal(outfile_write(path, "-o FILE", "x", 1, NULL), 0);
	assert_int_equal(mode_of(path), 0600);
	assert_int_equal(chmod(path, 0644), 0); /* as earlier versions made it */
	fd = outfile_open(path, "-o FILE", &created, NULL);
	assert_true(fd >= 0 && !created);
	close(fd);
	assert_int_equal(mode_of(path), 0600);
	assert_int_equal(unlink(path), 0);
	fd = outfile_open(path, "-o FILE", &created, NULL);
	assert_true(fd >= 0 && created);
	close(fd);
	assert_int_equal(mode_of(path), 0600);
	assert_int_equal(unlink(path), 0);
	(void)umask(before);
}

static void a_link_is_followed_only_where_nobody_else_could_put_it(void **state)
{
	char target[128];
	const char *path;

	(void)snprintf(target, sizeof(target), "%s", path_of("target"));
	path = path_of("link");
	assert_int_equal(outfile_write(target, "-o FILE", "old", 3, NULL), 0);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(outfile_write(path, "-o FILE", "through", 7, NULL), 0);
	assert_holds(target, "through");
	assert_int_equal(chmod(folder, 01777), 0);
	assert_refused(path, "link");
	assert_holds(target, "through");
	assert_int_equal(chmod(folder, 0700), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlink(target), 0);
}

static void a_link_that_leads_nowhere_is_told_as_one(void **state)
{
	struct error err = {0};
	bool created;

	assert_int_equal(symlink("gone/away", path_of("link")), 0);
	assert_int_equal(outfile_write(path_of("link"), "-o FILE", "x", 1, &err), -ENOENT);
	assert_non_null(strstr(err.text, "it is a dangling link to gone/away"));
	assert_non_null(strstr(err.remedy, "remove the link"));
	assert_non_null(strstr(err.remedy, "-o FILE"));
	assert_int_equal(outfile_open(path_of("link"), "-o FILE", &created, &err), -ENOENT);
	assert_non_null(strstr(err.text, "it is a dangling link"));
	assert_int_equal(outfile_write(path_of("link/x"), "-o FILE", "x", 1, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/link is a dangling link to gone/away"));
	assert_int_equal(unlink(path_of("link")), 0);
	assert_int_equal(outfile_write(path_of("link/x"), "-o FILE", "x", 1, &err), -ENOENT);
	assert_null(strstr(err.text, "dangling")); /* no link, no folder */
}

static void a_file_with_another_name_is_not_written_into_in_a_sticky_folder(void **state)
{
	char other[128];
	const char *path;

	(void)snprintf(other, sizeof(other), "%s", path_of("other"));
	path = path_of("name");
	assert_int_equal(outfile_write(other, "-o FILE", "precious", 8, NULL), 0);
	assert_int_equal(link(other, path), 0);
	assert_int_equal(chmod(folder, 01777), 0);
	assert_refused(path, "other hard links");
	assert_holds(other, "precious");
	assert_int_equal(chmod(folder, 0700), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlink(other), 0);
}

static void a_file_of_another_user_is_refused_in_a_sticky_folder(void **state)
{
	const char *path = path_of("theirs");

	if (geteuid() != 0)
		skip();
	assert_int_equal(outfile_write(path, "-o FILE", "theirs", 6, NULL), 0);
	assert_int_equal(chown(path, 65534, 65534), 0);
	assert_int_equal(chmod(folder, 01777), 0);
	assert_refused(path, "another user");
	assert_holds(path, "theirs");
	/* The caller of sudo is the one for whom it is written. */
	assert_int_equal(setenv("SUDO_UID", "65534", 1), 0);
	assert_int_equal(setenv("SUDO_GID", "65534", 1), 0);
	assert_int_equal(outfile_write(path, "-o FILE", "ours", 4, NULL), 0);
	assert_int_equal(unsetenv("SUDO_UID"), 0);
	assert_int_equal(unsetenv("SUDO_GID"), 0);
	assert_holds(path, "ours");
	assert_int_equal(chmod(folder, 0700), 0);
	assert_int_equal(unlink(path), 0);
}

static void a_pipe_that_nobody_reads_is_refused_in_a_sticky_folder(void **state)
{
	const char *path = path_of("pipe");
	char passed[16];
	int reader;

	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(chmod(folder, 01777), 0);
	(void)alarm(60); /* it is opened without waiting, or this ends the test */
	assert_refused(path, "nobody reads");
	reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(reader >= 0);
	assert_int_equal(outfile_write(path, "-o FILE", "passed", 6, NULL), 0);
	assert_int_equal(read(reader, passed, sizeof(passed)), 6);
	assert_memory_equal(passed, "passed", 6);
	close(reader);
	(void)alarm(0);
	assert_int_equal(chmod(folder, 0700), 0);
	assert_int_equal(unlink(path), 0);
}

static void a_pipe_is_not_waited_for_where_it_must_be_ready(void **state)
{
	const char *path = path_of("pipe");
	struct outfile file;
	struct error err = {0};

	assert_int_equal(mkfifo(path, 0600), 0);
	(void)alarm(60);
	assert_int_equal(outfile_begin_ready(&file, path, "-o FILE", &err), -EPERM);
	assert_non_null(strstr(err.text, "nobody reads"));
	(void)alarm(0);
	assert_int_equal(unlink(path), 0);
}

static int make_folder(void **state)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/test_outfile.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_replaced_whole),
		cmocka_unit_test(a_failure_names_the_path_and_a_remedy),
		cmocka_unit_test(a_remedy_names_the_option_that_the_path_was_given_with),
		cmocka_unit_test(an_opened_file_keeps_its_bytes_and_is_close_on_exec),
		cmocka_unit_test(results_are_for_their_owner_alone),
		cmocka_unit_test(a_link_is_followed_only_where_nobody_else_could_put_it),
		cmocka_unit_test(a_link_that_leads_nowhere_is_told_as_one),
		cmocka_unit_test(a_file_with_another_name_is_not_written_into_in_a_sticky_folder),
		cmocka_unit_test(a_file_of_another_user_is_refused_in_a_sticky_folder),
		cmocka_unit_test(a_pipe_that_nobody_reads_is_refused_in_a_sticky_folder),
		cmocka_unit_test(a_pipe_is_not_waited_for_where_it_must_be_ready),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
