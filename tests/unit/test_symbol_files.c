/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/symbol_files.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/entity.h"

/* A file that is noted, and whose name then leads nowhere. */
struct fixture {
	char path[64];
	struct module module;
	struct symbol_files *files;
};

static int set_up(void **state)
{
	static struct fixture f;
	int fd;

	f = (struct fixture){.path = "/tmp/wick-test-XXXXXX", .files = symbol_files_new()};
	assert_non_null(f.files);
	fd = mkstemp(f.path);
	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	f.module = (struct module){.kind = MODULE_FILE,
				   .path = f.path,
				   .build_id = {.size = 4, .bytes = {1, 2, 3, 4}}};
	symbol_files_note(f.files, &f.module, (uint32_t)getpid());
	assert_int_equal(unlink(f.path), 0);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	symbol_files_free(f->files);
	return 0;
}

static void who_takes_a_file_has_its_descriptor(void **state)
{
	struct fixture *f = *state;
	struct symbol_file_found found;

	assert_int_equal(symbol_files_take(f->files, &f->module.build_id, &found), 0);
	assert_true(found.fd >= 0);
	assert_string_equal(found.path, f->path);
	assert_int_equal(close(found.fd), 0);
	assert_int_equal(symbol_files_take(f->files, &f->module.build_id, &found), 0);
	assert_int_equal(found.fd, -1);
}

static void what_was_put_back_can_be_taken_again(void **state)
{
	struct fixture *f = *state;
	struct symbol_file_found found;
	int fd;

	assert_int_equal(symbol_files_take(f->files, &f->module.build_id, &found), 0);
	fd = found.fd;
	symbol_files_put_back(f->files, &found);
	assert_int_equal(found.fd, -1);
	assert_true(fcntl(fd, F_GETFD) >= 0);
	assert_int_equal(symbol_files_take(f->files, &f->module.build_id, &found), 0);
	assert_int_equal(found.fd, fd);
	assert_int_equal(close(fd), 0);
}

static void what_nobody_knows_any_more_is_closed(void **state)
{
	struct fixture *f = *state;
	struct symbol_file_found found;
	int fd;

	assert_int_equal(symbol_files_take(f->files, &f->module.build_id, &found), 0);
	fd = found.fd;
	found.build_id.bytes[0]++;
	symbol_files_put_back(f->files, &found);
	assert_int_equal(found.fd, -1);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(errno, EBADF);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(who_takes_a_file_has_its_descriptor),
		TEST(what_was_put_back_can_be_taken_again),
		TEST(what_nobody_knows_any_more_is_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
