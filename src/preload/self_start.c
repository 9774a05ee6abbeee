/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/self_start.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/path_text.h"
#include "preload/runtime.h"
#include "safe/clock.h"
#include "safe/syscall.h"

#define MODE_VARIABLE "WICK_MODE"
#define OUT_VARIABLE "WICK_OUT"
#define TOOL_VARIABLE "WICK_TOOL"
#define LEAKS_VARIABLE "WICK_LEAKS"
#define MODE_HEAP "heap"
#define TOOL_NAME "wick"

#define ANSWER_NS 5000000000ull /* a recorder needs some milliseconds */
#define ANSWER_BYTES 2048u
#define NO_TOOL '?' /* instead of an answer */
#define MOST_DESCRIPTORS 65536u

#ifndef SYS_close_range /* since Linux 5.9 */
#define SYS_close_range 436
#endif

/* Replaces the mode in the environment, so that children do not start another recorder. */
static char session_variable[sizeof(SESSION_VARIABLE "=") + SESSION_PATH_MAX];
static char mode_off[] = MODE_VARIABLE "=off";

/* The position of a variable in the environment; NULL: not set. */
static char **find_variable(const char *name)
{
	size_t length = strlen(name);

	for (char **at = environ; *at; at++)
		if (strncmp(*at, name, length) == 0 && (*at)[length] == '=')
			return at;
	return NULL;
}

static const char *value_of(const char *name)
{
	char **at = find_variable(name);

	return at ? *at + strlen(name) + 1 : NULL;
}

/* Removes a variable. */
static void remove_variable(const char *name)
{
	char **at = find_variable(name);

	for (; at && *at; at++)
		at[0] = at[1];
}

static void complain(const char *why, const char *detail, const char *remedy)
{
	char text[PATH_MAX];
	struct path line = PATH_IN(text);

	path_add(&line, "wick: the heap of this program is not recorded: ");
	path_add(&line, why);
	path_add(&line, detail);
	path_add(&line, remedy);
	path_add(&line, "\n");
	(void)safe_syscall(SYS_write, STDERR_FILENO, SAFE_POINTER(text), (long)line.length);
}

/* The folder of the file that contains this code; follows links. */
static bool find_own_folder(char *ret, size_t size)
{
	char text[64];
	struct path name = PATH_IN(text);
	Dl_info info;
	long fd;
	long n;

	if (!dladdr(session_variable, &info) || !info.dli_fname)
		return false;
	fd = safe_syscall(SYS_openat, AT_FDCWD, SAFE_POINTER(info.dli_fname), O_PATH | O_CLOEXEC);
	if (fd < 0)
		return false;
	path_add(&name, "/proc/self/fd/");
	path_number(&name, (uint64_t)fd);
	n = safe_syscall(SYS_readlinkat, AT_FDCWD, SAFE_POINTER(text), SAFE_POINTER(ret),
			 (long)size - 1);
	(void)safe_syscall(SYS_close, fd);
	while (n > 0 && ret[n - 1] != '/')
		n--;
	ret[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Executes the recorder in a folder, or returns. */
static void try_tool(const char *folder, size_t length, const char *below, char *const *arguments)
{
	char text[PATH_MAX];
	struct path path = PATH_IN(text);

	path_add_part(&path, folder, length);
	path_add(&path, below);
	(void)safe_syscall(SYS_execve, SAFE_POINTER(text), SAFE_POINTER(arguments),
			   SAFE_POINTER(environ));
}

/*
 * Executes the recorder: the named one, else that in the folder of the library (a build), of the
 * installation prefix (PREFIX/lib/wick, PREFIX/lib/TRIPLET/wick), or on PATH. Returns if there is
 * none.
 */
static void try_tools(char *const *arguments)
{
	const char *named = value_of(TOOL_VARIABLE);
	const char *path = value_of("PATH");
	char folder[PATH_MAX];

	if (named) {
		try_tool(named, strlen(named), "", arguments);
		return;
	}
	if (find_own_folder(folder, sizeof(folder))) {
		try_tool(folder, strlen(folder), TOOL_NAME, arguments);
		try_tool(folder, strlen(folder), "../../bin/" TOOL_NAME, arguments);
		try_tool(folder, strlen(folder), "../../../bin/" TOOL_NAME, arguments);
	}
	while (path && *path) {
		size_t length = strcspn(path, ":");

		if (length > 0)
			try_tool(path, length, "/" TOOL_NAME, arguments);
		path += length + (path[length] == ':');
	}
}

static void close_from(uint32_t first)
{
	struct rlimit limit = {MOST_DESCRIPTORS, MOST_DESCRIPTORS};

	if (safe_syscall(SYS_close_range, first, ~0u, 0) == 0)
		return;
	(void)safe_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, SAFE_POINTER(&limit));
	for (uint32_t fd = first; fd < limit.rlim_cur && fd < MOST_DESCRIPTORS; fd++)
		(void)safe_syscall(SYS_close, fd);
}

/*
 * The answer is written to standard output. Of the program's descriptors only standard error stays
 * open, until the recorder has printed its messages.
 */
static void set_descriptors(long answer_fd)
{
	long null_fd;

	answer_fd = safe_syscall(SYS_fcntl, answer_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	do /* even if one of the three is closed */
		null_fd = safe_syscall(SYS_openat, AT_FDCWD, SAFE_POINTER("/dev/null"), O_RDWR);
	while (null_fd >= 0 && null_fd <= STDERR_FILENO);
	(void)safe_syscall(SYS_dup3, null_fd, STDIN_FILENO);
	(void)safe_syscall(SYS_dup3, answer_fd, STDOUT_FILENO);
	close_from(STDERR_FILENO + 1);
}

/* Runs in a separate process, with a copy of the program's memory. Does not return. */
static _Noreturn void be_recorder(uint32_t pid, long answer_fd)
{
	const char *out = value_of(OUT_VARIABLE);
	const char no_tool = NO_TOOL;
	char number[16];
	struct path text = PATH_IN(number);
	const char *leaks = value_of(LEAKS_VARIABLE);
	const char *arguments[9] = {TOOL_NAME, MODE_HEAP, "--join", number, "--quiet"};
	size_t count = 5;

	if (leaks && *leaks && strcmp(leaks, "0") != 0)
		arguments[count++] = "--leaks";
	if (out && *out) {
		arguments[count++] = "-o";
		arguments[count++] = out;
	}
	path_number(&text, pid);
	set_descriptors(answer_fd);
	remove_variable("LD_PRELOAD");
	remove_variable(MODE_VARIABLE);
	/* execve() does not change its arguments. */
	try_tools((char *const *)(uintptr_t)arguments);
	(void)safe_syscall(SYS_write, STDOUT_FILENO, SAFE_POINTER(&no_tool), 1);
	for (;;)
		(void)safe_syscall(SYS_exit_group, 127);
}

/*
 * Starts the recorder detached: the intermediate process ends at once, and is not reported by
 * wait() or SIGCHLD. Returns a descriptor to read its answer from.
 */
static long start_recorder(void)
{
	uint32_t pid = (uint32_t)safe_syscall(SYS_getpid, 0);
	int ends[2];
	long r = safe_syscall(SYS_pipe2, SAFE_POINTER(ends), O_CLOEXEC);
	long between;

	if (r < 0)
		return r;
	between = safe_syscall(SYS_clone, 0);
	if (between == 0) {
		(void)safe_syscall(SYS_setsid, 0);
		if (safe_syscall(SYS_clone, 0) == 0)
			be_recorder(pid, ends[1]);
		for (;;)
			(void)safe_syscall(SYS_exit_group, 0);
	}
	(void)safe_syscall(SYS_close, ends[1]);
	if (between > 0)
		while (safe_syscall(SYS_wait4, between, 0, __WCLONE, 0) == -EINTR)
			;
	if (between > 0)
		return ends[0];
	(void)safe_syscall(SYS_close, ends[0]);
	return between;
}

/* Reads the recorder's answer to its end. Returns the bytes, or a negative errno. */
static long read_answer(long fd, char *ret, size_t size)
{
	uint64_t end_ns = safe_clock_ns(CLOCK_MONOTONIC) + ANSWER_NS;
	size_t length = 0;

	while (length < size - 1) {
		uint64_t now_ns = safe_clock_ns(CLOCK_MONOTONIC);
		uint64_t left_ns = now_ns < end_ns ? end_ns - now_ns : 0;
		struct timespec left = {(time_t)(left_ns / 1000000000),
					(long)(left_ns % 1000000000)};
		struct pollfd poll = {.fd = (int)fd, .events = POLLIN};
		long n = safe_syscall(SYS_ppoll, SAFE_POINTER(&poll), 1, SAFE_POINTER(&left), 0, 0);

		if (n == 0)
			return -ETIMEDOUT;
		if (n > 0)
			n = safe_syscall(SYS_read, fd, SAFE_POINTER(ret + length),
					 (long)(size - 1 - length));
		if (n == 0)
			break;
		if (n < 0 && n != -EINTR)
			return n;
		length += n > 0 ? (size_t)n : 0;
	}
	ret[length] = '\0';
	return (long)length;
}

/* Extracts the session's line from an answer. */
static bool take_session(const char *answer)
{
	struct path variable = PATH_IN(session_variable);
	const char *at = strstr(answer, SESSION_VARIABLE "=/");
	size_t length = at ? strcspn(at, "\n") : 0;

	if (length == 0 || at[length] != '\n' || length >= sizeof(session_variable))
		return false;
	path_add_part(&variable, at, length);
	return true;
}

static bool is_recorder_there(void)
{
	const char *named = value_of(TOOL_VARIABLE);
	char answer[ANSWER_BYTES];
	long fd = start_recorder();
	long n = fd < 0 ? fd : read_answer(fd, answer, sizeof(answer));

	if (fd >= 0)
		(void)safe_syscall(SYS_close, fd);
	if (n > 0 && take_session(answer))
		return true;
	if (fd < 0)
		complain("cannot start a process for the recorder", "",
			 "; raise ulimit -u, or use wick heap");
	else if (n == -ETIMEDOUT)
		complain("the recorder did not answer in 5 s", "", "; use wick heap instead");
	else if (n > 0 && answer[0] == NO_TOOL && named)
		complain(TOOL_VARIABLE "=", named, " cannot be run; set it to the path of wick");
	else if (n > 0 && answer[0] == NO_TOOL)
		complain("wick is neither beside this library nor in PATH", "",
			 "; set " TOOL_VARIABLE " to its path");
	else
		complain("the recorder could not start", "", "; see its message");
	return false;
}

bool self_start_begin(void)
{
	char **place = find_variable(MODE_VARIABLE);
	const char *mode = place ? *place + strlen(MODE_VARIABLE "=") : "";
	bool heap = strcmp(mode, MODE_HEAP) == 0;

	if (*mode == '\0' || strcmp(*place, mode_off) == 0)
		return false;
	if (!heap)
		complain("invalid " MODE_VARIABLE "=", mode, "; the only mode is " MODE_HEAP);
	/*
	 * Changes one pointer, which is visible to all who have not copied it: as good as setenv().
	 */
	if (heap && is_recorder_there()) {
		*place = session_variable;
		return true;
	}
	*place = mode_off; /* children need not try and complain again */
	return false;
}

void self_start_tell_stranger(void)
{
	complain("the recorder is a different version", "",
		 "; set " TOOL_VARIABLE " to the wick of this library");
}
