/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/held_messages.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

/* Standard error is a terminal of our own; what comes out of it is read from the other end. */
struct fixture {
	int master_fd;
	int old_fd;
};

static void set_up(struct fixture *fixture)
{
	struct termios modes;
	int fd;

	fixture->master_fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	assert_true(fixture->master_fd >= 0);
	assert_int_equal(grantpt(fixture->master_fd), 0);
	assert_int_equal(unlockpt(fixture->master_fd), 0);
	fd = open(ptsname(fixture->master_fd), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(tcgetattr(fd, &modes), 0);
	cfmakeraw(&modes);
	assert_int_equal(tcsetattr(fd, TCSANOW, &modes), 0);
	fixture->old_fd = dup(STDERR_FILENO);
	assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	assert_int_equal(close(fd), 0);
}

static void tear_down(struct fixture *fixture)
{
	assert_int_equal(dup2(fixture->old_fd, STDERR_FILENO), STDERR_FILENO);
	assert_int_equal(close(fixture->old_fd), 0);
	assert_int_equal(close(fixture->master_fd), 0);
}

static ssize_t say(const char *text)
{
	return write(STDERR_FILENO, text, strlen(text));
}

static void assert_seen(const struct fixture *fixture, const char *expected)
{
	char text[256] = "";
	ssize_t n = read(fixture->master_fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	assert_string_equal(text, expected);
}

static void messages_come_when_the_view_is_gone(void **state)
{
	struct held_messages held = {0};
	struct fixture fixture;

	set_up(&fixture);
	held_messages_begin(&held);
	held_messages_begin(&held); /* once is enough */
	assert_int_equal(say("one\n"), 4);
	assert_int_equal(say("two\n"), 4);
	assert_seen(&fixture, "");
	held_messages_end(&held);
	assert_seen(&fixture, "one\ntwo\n");
	held_messages_end(&held);
	assert_int_equal(say("three\n"), 6);
	assert_seen(&fixture, "three\n");
	tear_down(&fixture);
}

static void too_many_are_not_kept(void **state)
{
	struct held_messages held = {0};
	struct fixture fixture;
	int lines = 0;

	set_up(&fixture);
	held_messages_begin(&held);
	while (lines < HELD_MESSAGES_BYTES && say("12345678\n") == 9)
		lines++;
	assert_true(lines <= HELD_MESSAGES_BYTES / 9);
	assert_true(lines > HELD_MESSAGES_BYTES / 9 - 1000);
	/* Nobody reads so much here: what does not fit would wait. */
	assert_int_equal(fcntl(held.real_fd, F_SETFL, O_RDWR | O_NONBLOCK), 0);
	held_messages_end(&held);
	tear_down(&fixture);
}

static void a_file_gets_its_lines_at_once(void **state)
{
	struct held_messages held = {0};
	int ends[2];
	int old_fd = dup(STDERR_FILENO);
	char text[8] = "";

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	held_messages_begin(&held);
	assert_int_equal(say("now\n"), 4);
	assert_int_equal(read(ends[0], text, sizeof(text) - 1), 4);
	assert_string_equal(text, "now\n");
	held_messages_end(&held);
	assert_int_equal(dup2(old_fd, STDERR_FILENO), STDERR_FILENO);
	(void)close(old_fd);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_come_when_the_view_is_gone),
		cmocka_unit_test(too_many_are_not_kept),
		cmocka_unit_test(a_file_gets_its_lines_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
