/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"

static char path[] = "/tmp/wick-log-XXXXXX";

static void read_log(char *ret, size_t size)
{
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	ret[fread(ret, 1, size - 1, file)] = '\0';
	assert_int_equal(fclose(file), 0);
}

static void a_level_stands_alone_or_before_a_file(void **state)
{
	static const struct {
		const char *text;
		enum log_level level;
		const char *file;
	} cases[] = {
		{NULL, LOG_LEVEL_WARN, ""},
		{"", LOG_LEVEL_WARN, ""},
		{"error", LOG_LEVEL_ERROR, ""},
		{"warn", LOG_LEVEL_WARN, ""},
		{"info", LOG_LEVEL_INFO, ""},
		{"debug", LOG_LEVEL_DEBUG, ""},
		{"trace:a:b", LOG_LEVEL_TRACE, "a:b"},
		{"debug:", LOG_LEVEL_DEBUG, ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		enum log_level level;
		const char *file;

		assert_int_equal(log_parse(cases[i].text, &level, &file, NULL), 0);
		assert_int_equal(level, cases[i].level);
		assert_string_equal(file, cases[i].file);
	}
}

static void what_is_no_level_is_refused_with_those_that_there_are(void **state)
{
	static const char *const wrong[] = {"loud", "DEBUG", "debu", "debugs", ":file", "1"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct error err = {0};
		enum log_level level;
		const char *file;

		assert_int_equal(log_parse(wrong[i], &level, &file, &err), -EINVAL);
		assert_int_equal(level, LOG_LEVEL_WARN);
		assert_non_null(strstr(err.text, wrong[i]));
		assert_non_null(strstr(err.remedy, "error, warn, info, debug or trace"));
	}
}

static void what_the_level_wants_goes_to_the_file_line_by_line(void **state)
{
	char text[256];

	errno = ENOTTY;
	log_info("one %d", 1);
	log_debug("two\nthree \033[31m\n");
	log_trace("four");
	assert_int_equal(errno, ENOTTY);
	read_log(text, sizeof(text));
	assert_string_equal(text, "before\nwick: info: one 1\nwick: debug: two\n"
				  "wick: debug: three \\x1b[31m\n");
	assert_true(log_wants(LOG_LEVEL_DEBUG));
	assert_false(log_wants(LOG_LEVEL_TRACE));
	assert_int_equal(log_check(NULL), 0);
}

/* A pipe in a folder of one's own, for a process whose log it is: that reads the variable once. */
static void make_pipe(char *folder, char *fifo, size_t size)
{
	assert_non_null(mkdtemp(folder));
	(void)snprintf(fifo, size, "%s/fifo", folder);
	assert_int_equal(mkfifo(fifo, 0600), 0);
}

static void assert_ends_well(pid_t child, const char *folder, const char *fifo)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(unlink(fifo), 0);
	assert_int_equal(rmdir(folder), 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void log_to(const char *fifo)
{
	char setting[96];

	(void)snprintf(setting, sizeof(setting), "debug:%s", fifo);
	(void)setenv("WICK_LOG", setting, 1);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)alarm(60); /* one that waits is ended */
}

static void a_reader_that_goes_ends_no_program(void **state)
{
	char folder[] = "/tmp/wick-log-XXXXXX";
	char fifo[64];
	pid_t child;

	make_pipe(folder, fifo, sizeof(fifo));
	child = fork();
	if (child == 0) {
		int reader = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		char text[64] = "";
		ssize_t n;

		log_to(fifo);
		log_info("one");
		n = read(reader, text, sizeof(text) - 1);
		(void)close(reader);
		log_info("two");
		_exit(n > 0 && strcmp(text, "wick: info: one\n") == 0 ? 0 : 1);
	}
	assert_ends_well(child, folder, fifo);
}

static void a_pipe_that_nobody_reads_is_not_waited_for(void **state)
{
	char folder[] = "/tmp/wick-log-XXXXXX";
	char fifo[64];
	pid_t child;

	make_pipe(folder, fifo, sizeof(fifo));
	child = fork();
	if (child == 0) {
		struct error err = {0};

		log_to(fifo);
		_exit(log_check(&err) < 0 && strstr(err.text, "nobody reads") ? 0 : 1);
	}
	assert_ends_well(child, folder, fifo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_level_stands_alone_or_before_a_file),
		cmocka_unit_test(what_is_no_level_is_refused_with_those_that_there_are),
		cmocka_unit_test(a_reader_that_goes_ends_no_program),
		cmocka_unit_test(a_pipe_that_nobody_reads_is_not_waited_for),
		cmocka_unit_test(what_the_level_wants_goes_to_the_file_line_by_line),
	};
	char setting[64];
	int fd = mkstemp(path);
	int failed;

	/* The variable is read once: before anybody asks. */
	(void)snprintf(setting, sizeof(setting), "debug:%s", path);
	if (fd < 0 || write(fd, "before\n", 7) != 7 || setenv("WICK_LOG", setting, 1) < 0)
		return 1;
	(void)close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	(void)unlink(path);
	return failed;
}
