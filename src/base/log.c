/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file/outfile.h"
#include "base/text.h"
#include "base/vec.h"

static const char *const names[LOG_LEVELS] = {"error", "warn", "info", "debug", "trace"};

static struct {
	pthread_once_t once;
	enum log_level level;
	int fd;
	struct error problem; /* with the variable */
} state = {.once = PTHREAD_ONCE_INIT, .level = LOG_LEVEL_WARN, .fd = STDERR_FILENO};

int log_parse(const char *text, enum log_level *ret_level, const char **ret_file, struct error *err)
{
	size_t length = text ? strcspn(text, ":") : 0;

	*ret_level = LOG_LEVEL_WARN;
	*ret_file = "";
	if (!text || !text[0])
		return 0;
	for (int i = 0; i < LOG_LEVELS; i++) {
		if (strlen(names[i]) != length || strncmp(names[i], text, length) != 0)
			continue;
		*ret_level = (enum log_level)i;
		*ret_file = text[length] ? text + length + 1 : "";
		return 0;
	}
	(void)error_set(err, -EINVAL, "WICK_LOG=%.100s is invalid", text);
	error_remedy(err,
		     "set it to error, warn, info, debug or trace; append :FILE to log to a file");
	return -EINVAL;
}

/* A pipe of its own: /dev/stdout leads to one that others have open, too. */
static bool is_pipe(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISFIFO(status.st_mode);
}

/* A user who runs us with elevated privileges must not use them to write files. */
static int open_file(const char *path, struct error *err)
{
	bool created;
	int fd;

	if (getauxval(AT_SECURE)) {
		(void)error_set(err, -EPERM,
				"WICK_LOG: cannot log to %.200s with elevated privileges", path);
		error_remedy(err, "leave out the file: the log then goes to standard error");
		return -EPERM;
	}
	fd = outfile_open_ready(path, NULL, &created, err);
	if (fd < 0) {
		(void)error_prefix(err, fd, "WICK_LOG");
		error_remedy(err,
			     "name a writable file, or none: the log then goes to standard error");
		return fd;
	}
	/*
	 * Several wicks must not overwrite each other's lines, and a full pipe must not block one:
	 * lines that do not fit are lost.
	 */
	(void)fcntl(fd, F_SETFL, O_APPEND | (is_pipe(path) ? O_NONBLOCK : 0));
	return fd;
}

static void read_variable(void)
{
	const char *file;
	int fd;

	if (log_parse(getenv("WICK_LOG"), &state.level, &file, &state.problem) < 0 || !file[0])
		return;
	fd = open_file(file, &state.problem);
	if (fd >= 0)
		state.fd = fd;
}

bool log_wants(enum log_level level)
{
	(void)pthread_once(&state.once, read_variable); /* cannot fail */
	return level <= state.level;
}

int log_check(struct error *err)
{
	(void)log_wants(LOG_LEVEL_ERROR);
	if (state.problem.code < 0)
		*err = state.problem;
	return state.problem.code;
}

/*
 * Writes without the signals that a write may cause: a program that uses the library must not die
 * because the reader of a log has gone, or the log may not grow.
 */
static void write_line(const struct bytes *line)
{
	static const int signals[] = {SIGPIPE, SIGXFSZ};
	const struct timespec none = {0};
	sigset_t ours;
	sigset_t before;
	sigset_t pending;

	(void)sigemptyset(&ours); /* none of these can fail */
	(void)sigpending(&pending);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (!sigismember(&pending, signals[i]))
			(void)sigaddset(&ours, signals[i]);
	(void)pthread_sigmask(SIG_BLOCK, &ours, &before);
	if (write(state.fd, line->data, line->size) < 0) /* nowhere to report a broken log */
		(void)sigtimedwait(&ours, NULL, &none);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void put_line(enum log_level level, const char *text)
{
	struct bytes line = {0};

	bytes_printf(&line, "wick: %s: ", names[level]);
	text_put_terminal(&line, text);
	bytes_put_u8(&line, '\n');
	if (!line.failed)
		write_line(&line);
	bytes_fini(&line);
}

/* Some messages have several lines, such as the kernel verifier's. */
__attribute__((format(printf, 2, 0))) static void put(enum log_level level, const char *format,
						      va_list args)
{
	int code = errno; /* the caller may want to report it */
	char *text = NULL;
	char *rest;
	char *line;

	if (!log_wants(level) || vasprintf(&text, format, args) < 0)
		return;
	rest = text;
	while ((line = strsep(&rest, "\n")))
		if (line[0])
			put_line(level, line);
	free(text);
	errno = code;
}

void log_info(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put(LOG_LEVEL_INFO, format, args);
	va_end(args);
}

void log_debug(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put(LOG_LEVEL_DEBUG, format, args);
	va_end(args);
}

void log_trace(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put(LOG_LEVEL_TRACE, format, args);
	va_end(args);
}
