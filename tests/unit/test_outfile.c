/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/outfile.h"

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

	assert_int_equal(outfile_write(path, "first version", 13, NULL), 0);
	assert_int_equal(outfile_write(path, "second", 6, NULL), 0);
	assert_holds(path, "second");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0); /* no temporary file stays */
	assert_int_equal(mkdir(folder, 0700), 0);
}

static void a_failure_names_the_path_and_a_remedy(void **state)
{
	struct error err = {0};

	assert_int_equal(outfile_write(path_of("no/such"), "x", 1, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no/such"));
	assert_non_null(strstr(err.remedy, "-o FILE"));
	if (access("/dev/full", W_OK) == 0)
		assert_int_equal(outfile_write("/dev/full", "x", 1, &err), -ENOSPC);
}

static void an_opened_file_keeps_its_bytes_and_is_close_on_exec(void **state)
{
	const char *path = path_of("log");
	bool created = true;
	int fd;

	assert_int_equal(outfile_write(path, "old", 3, NULL), 0);
	fd = outfile_open(path, &created, NULL);
	assert_true(fd >= 0);
	assert_false(created);
	assert_holds(path, "old");
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(outfile_write_all(fd, "new", 3), 0);
	close(fd);
	assert_holds(path, "new");
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
		cmocka_unit_test(an_opened_file_keeps_its_bytes_and_is_close_on_exec),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
