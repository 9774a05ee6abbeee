/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/file/open_below.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <cmocka.h>

#define STRANGER 54321u

/* A folder with a file in a folder, and a file beside the first. */
static char root[64];
static char below[96];

static char *path_of(const char *name)
{
	static char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", root, name);
	return path;
}

static void make_file(const char *name, mode_t mode)
{
	int fd = open(path_of(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(close(fd), 0);
}

static int set_up(void **state)
{
	(void)snprintf(root, sizeof(root), "/tmp/wick-below.XXXXXX");
	if (!mkdtemp(root) || chmod(root, 0755) < 0)
		return -1;
	(void)snprintf(below, sizeof(below), "%s/below", root);
	if (mkdir(below, 0755) < 0 || mkdir(path_of("below/in"), 0755) < 0)
		return -1;
	make_file("outside", 0644);
	make_file("below/in/file", 0644);
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = {"below/in/file", "below/in/link", "below/in/pipe",
					    "below/link",    "below/.hidden", "below/within",
					    "outside"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)unlink(path_of(names[i]));
	(void)rmdir(path_of("below/in"));
	(void)rmdir(below);
	return rmdir(root);
}

static int try(const char *name, const uid_t *users, size_t count)
{
	struct stat status;
	int fd = open_below(below, name, users, count, &status);

	if (fd < 0)
		return fd;
	assert_true(S_ISREG(status.st_mode));
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(close(fd), 0);
	return 0;
}

static void a_regular_file_below_the_folder_is_opened(void **state)
{
	assert_int_equal(try("in/file", NULL, 0), 0);
	assert_int_equal(symlink("in", path_of("below/within")), 0);
	(void)try("within/file", NULL, 0); /* a link that stays below may be followed, or not */
	assert_int_equal(try("in/none", NULL, 0), -ENOENT);
}

static void no_name_leads_out_of_the_folder(void **state)
{
	static const char *const names[] = {
		"../outside", "in/../../outside", "/etc/passwd", "",   ".",    "in//file",
		"in/",        ".hidden",          "in/./file",   "..", "in/.."};

	make_file("below/.hidden", 0644);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(try(names[i], NULL, 0), -ENOENT);
}

static void no_link_leads_out_of_the_folder(void **state)
{
	assert_int_equal(symlink("../outside", path_of("below/link")), 0);
	assert_true(try("link", NULL, 0) < 0);
	assert_int_equal(unlink(path_of("below/link")), 0);
	assert_int_equal(symlink("..", path_of("below/link")), 0);
	assert_true(try("link/outside", NULL, 0) < 0);
	assert_int_equal(symlink("file", path_of("below/in/link")), 0);
	assert_true(try("in/link", NULL, 0) < 0); /* the last name is no link, wherever it leads */
}

static void a_pipe_is_not_waited_for(void **state)
{
	assert_int_equal(mkfifo(path_of("below/in/pipe"), 0644), 0);
	(void)alarm(60);
	assert_int_equal(try("in/pipe", NULL, 0), -ENOENT);
	(void)alarm(0);
}

static void what_a_user_may_not_read_is_refused(void **state)
{
	const uid_t users[] = {geteuid(), STRANGER};

	assert_int_equal(try("in/file", users, 2), 0);
	make_file("below/in/file", 0600);
	assert_int_equal(try("in/file", users, 1), 0);
	assert_int_equal(try("in/file", users, 2), -EPERM);
}

static void folders_count_for_root_who_has_the_rights_back(void **state)
{
	const uid_t users[] = {STRANGER};
	gid_t before[256];
	gid_t after[256];
	int count = getgroups(256, before);

	if (geteuid() != 0)
		skip();
	assert_int_equal(try("in/file", users, 1), 0);
	assert_int_equal(chmod(path_of("below/in"), 0700), 0);
	assert_int_equal(try("in/file", users, 1), -EPERM);
	assert_int_equal(setfsuid((uid_t)-1), 0);
	assert_int_equal(setfsgid((gid_t)-1), getegid());
	assert_int_equal(getgroups(256, after), count);
	assert_memory_equal(before, after, (size_t)count * sizeof(*before));
	/* It can be read by root again, with all of what root may do. */
	assert_int_equal(try("in/file", NULL, 0), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_regular_file_below_the_folder_is_opened),
		TEST(no_name_leads_out_of_the_folder),
		TEST(no_link_leads_out_of_the_folder),
		TEST(a_pipe_is_not_waited_for),
		TEST(what_a_user_may_not_read_is_refused),
		TEST(folders_count_for_root_who_has_the_rights_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
