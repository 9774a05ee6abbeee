/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/signal/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "engine/signal/preload_path.h"

/* The room that the file systems of this test say they have. */
static uint64_t shm_bytes;
static uint64_t other_bytes;

static int fake_statvfs(const char *path, struct statvfs *ret)
{
	*ret = (struct statvfs){.f_frsize = 1};
	ret->f_bavail = strcmp(path, "/dev/shm") == 0 ? shm_bytes : other_bytes;
	return 0;
}

/* The name that the C library gives it depends on the size of offsets. */
int __wrap_statvfs(const char *path, struct statvfs *ret);
int __wrap_statvfs(const char *path, struct statvfs *ret)
{
	return fake_statvfs(path, ret);
}

int __wrap_statvfs64(const char *path, struct statvfs *ret);
int __wrap_statvfs64(const char *path, struct statvfs *ret)
{
	return fake_statvfs(path, ret);
}

int __wrap_preload_path(char *ret, size_t size, struct error *err);
int __wrap_preload_path(char *ret, size_t size, struct error *err)
{
	(void)err;
	(void)snprintf(ret, size, "/nowhere/libwick-preload.so");
	return 0;
}

static int set_up(void **state)
{
	char *folder = strdup("/tmp/test-session-XXXXXX");

	assert_non_null(folder);
	assert_non_null(mkdtemp(folder));
	assert_int_equal(setenv("TMPDIR", folder, 1), 0);
	*state = folder;
	return access("/dev/shm", W_OK) < 0;
}

static int tear_down(void **state)
{
	int r = rmdir(*state); /* nothing is left in it */

	free(*state);
	return r;
}

static void memory_with_room_is_taken(void **state)
{
	struct session session;

	(void)state;
	shm_bytes = other_bytes = 1 << 30;
	assert_int_equal(session_open(&session, NULL), 0);
	assert_memory_equal(session.folder, "/dev/shm/", 9);
	assert_string_equal(session.notice, "");
	session_close(&session);
}

static void memory_without_room_is_passed_over_and_that_is_said(void **state)
{
	const char *folder = *state;
	struct session session;

	shm_bytes = 1500000;
	other_bytes = 1 << 30;
	assert_int_equal(session_open(&session, NULL), 0);
	assert_memory_equal(session.folder, folder, strlen(folder));
	assert_non_null(strstr(session.notice, "/dev/shm has only 1.5 MB free"));
	session_close(&session);
}

static void the_best_is_made_of_no_room_at_all(void **state)
{
	struct session session;

	(void)state;
	shm_bytes = other_bytes = 1000;
	assert_int_equal(session_open(&session, NULL), 0);
	assert_memory_equal(session.folder, "/dev/shm/", 9);
	assert_string_equal(session.notice, "");
	session_close(&session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(memory_with_room_is_taken, set_up, tear_down),
		cmocka_unit_test_setup_teardown(memory_without_room_is_passed_over_and_that_is_said,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_best_is_made_of_no_room_at_all, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
