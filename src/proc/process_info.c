/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/process_info.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"

static void scope_release_dir(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir); /* read only: nothing can be lost */
}

void process_path(char *path, size_t size, pid_t pid, const char *name)
{
	if (pid == 0)
		(void)snprintf(path, size, "/proc/self/%s", name);
	else
		(void)snprintf(path, size, "/proc/%d/%s", (int)pid, name);
}

static void user_name(uid_t uid, char *name, size_t size)
{
	char text[4096];
	struct passwd entry;
	struct passwd *found = NULL;

	if (getpwuid_r(uid, &entry, text, sizeof(text), &found) == 0 && found)
		(void)snprintf(name, size, "%s", found->pw_name);
	else
		(void)snprintf(name, size, "%u", (unsigned int)uid);
}

int process_error(struct error *err, int code, pid_t pid, const char *what)
{
	char path[64];
	char user[64];
	struct stat status;

	if (code == -ENOENT || code == -ESRCH) {
		code = error_set(err, -ESRCH, "no such process: %d", (int)pid);
		error_remedy(err, "list the running processes: ps -e");
		return code;
	}
	process_path(path, sizeof(path), pid, "");
	if ((code != -EACCES && code != -EPERM) || stat(path, &status) < 0)
		return error_errno(err, code, "cannot read the %s of process %d", what, (int)pid);
	user_name(status.st_uid, user, sizeof(user));
	if (geteuid() == 0) {
		code = error_errno(err, code, "cannot read the %s of process %d, even as root",
				   what, (int)pid);
		error_remedy(err, "a container or sandbox prevents it: run wick outside it, or "
				  "with the capability CAP_SYS_PTRACE");
		return code;
	}
	if (status.st_uid == geteuid()) {
		/*
		 * Same user, still refused: the program made itself unreadable, or a sandbox did.
		 */
		code = error_errno(err, code, "cannot read the %s of process %d", what, (int)pid);
		error_remedy(err, "run as root: the process is protected even from its own user");
		return code;
	}
	code = error_errno(err, code, "cannot read the %s of process %d, which belongs to %s", what,
			   (int)pid, user);
	if (status.st_uid == 0)
		error_remedy(err, "run as root, for instance with sudo");
	else
		error_remedy(err, "run as %s or as root, for instance with sudo", user);
	return code;
}

/* Reads a small file of /proc and terminates it with NUL. Returns its size. */
static ssize_t read_small(const char *path, char *text, size_t size)
{
	size_t used = 0;

	SCOPED(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (used < size - 1) {
		ssize_t n = read(fd, text + used, size - 1 - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		used += (size_t)n;
	}
	text[used] = '\0';
	return (ssize_t)used;
}

/* Copies at most size - 1 bytes; a name may contain anything but NUL. */
static void copy_text(char *place, size_t size, const char *text, size_t n)
{
	if (n > size - 1)
		n = size - 1;
	memcpy(place, text, n);
	place[n] = '\0';
}

/* Fields are numbered as in proc(5); those from 3 on follow the name. */
enum stat_field {
	FIELD_STATE = 3,
	FIELD_PARENT = 4,
	FIELD_THREADS = 20,
	FIELD_START = 22,
};

static int parse_fields(const char *at, const char *end, struct process_info *ret)
{
	for (int field = FIELD_STATE; field <= FIELD_START; field++) {
		uint64_t value = 0;

		while (at < end && *at == ' ')
			at++;
		if (at == end)
			return -EINVAL;
		if (field == FIELD_STATE)
			ret->state = *at;
		for (; at < end && *at != ' '; at++)
			if (isdigit((unsigned char)*at))
				value = value * 10 + (uint64_t)(*at - '0');
		if (field == FIELD_PARENT)
			ret->parent_pid = (pid_t)value;
		else if (field == FIELD_THREADS)
			ret->thread_count = (uint32_t)value;
		else if (field == FIELD_START)
			ret->start_ticks = value;
	}
	return 0;
}

int process_stat_parse(const char *text, size_t size, struct process_info *ret)
{
	const char *end = text + size;
	const char *open = memchr(text, '(', size);
	/* The name may contain ")", the numbers after it cannot: the last one ends it. */
	const char *close = memrchr(text, ')', size);
	pid_t pid = 0;

	if (!open || !close || close < open)
		return -EINVAL;
	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	for (const char *p = text; p < open && isdigit((unsigned char)*p); p++) {
		if (pid > (INT32_MAX - 9) / 10)
			return -EINVAL;
		pid = pid * 10 + (*p - '0');
	}
	ret->pid = pid;
	copy_text(ret->comm, sizeof(ret->comm), open + 1, (size_t)(close - open - 1));
	return parse_fields(close + 1, end, ret);
}

/*
 * The kernel counts ticks of the boot clock, which continues while the machine is suspended;
 * CLOCK_MONOTONIC does not. We use the current difference, so a process that started before a
 * suspend appears to have started too early by the suspended time.
 */
static uint64_t ticks_to_monotonic_ns(uint64_t ticks)
{
	long rate_hz = sysconf(_SC_CLK_TCK);
	uint64_t hz = rate_hz > 0 ? (uint64_t)rate_hz : 100;
	uint64_t boot_ns = ticks / hz * NS_PER_SEC + ticks % hz * NS_PER_SEC / hz;
	uint64_t monotonic_ns = clock_monotonic_ns();
	uint64_t slept_ns = clock_ns(CLOCK_BOOTTIME) - monotonic_ns;

	return boot_ns > slept_ns ? boot_ns - slept_ns : 0;
}

int process_info_read(pid_t pid, struct process_info *ret, struct error *err)
{
	struct process_info info = {0};
	struct stat status;
	char path[64];
	char text[2048];

	process_path(path, sizeof(path), pid, "stat");
	ssize_t n = read_small(path, text, sizeof(text));
	if (n < 0)
		return process_error(err, (int)n, pid, "state");
	if (process_stat_parse(text, (size_t)n, &info) < 0)
		return error_advise(err, error_set(err, -EINVAL, "cannot parse %s", path),
				    "report this with the contents of that file");
	info.start_ns = ticks_to_monotonic_ns(info.start_ticks);
	process_path(path, sizeof(path), pid, "");
	if (stat(path, &status) < 0)
		return process_error(err, -errno, pid, "owner");
	info.uid = status.st_uid;
	user_name(info.uid, info.user, sizeof(info.user));
	process_path(path, sizeof(path), pid, "exe");
	n = readlink(path, info.executable, sizeof(info.executable) - 1);
	info.executable[n > 0 ? n : 0] = '\0';
	*ret = info;
	return 0;
}

/* Appends the entries of a directory that are numbers. */
static int list_numbers(const char *path, struct pid_list *list)
{
	SCOPED(dir) DIR *dir = opendir(path);
	if (!dir)
		return -errno;
	for (;;) {
		errno = 0;
		const struct dirent *entry = readdir(dir);
		if (!entry)
			return -errno;
		char *end;
		long number = strtol(entry->d_name, &end, 10);
		if (*end || number <= 0 || number > INT32_MAX)
			continue;
		if (vec_push(list, (pid_t)number) < 0)
			return -ENOMEM;
	}
}

bool pid_list_has(const struct pid_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == pid)
			return true;
	return false;
}

int process_list(struct pid_list *list, struct error *err)
{
	int r = list_numbers("/proc", list);

	if (r < 0)
		error_errno(err, r, "cannot list the processes in /proc");
	return r;
}

int process_list_threads(pid_t pid, struct pid_list *list, struct error *err)
{
	char path[64];

	process_path(path, sizeof(path), pid, "task");
	int r = list_numbers(path, list);
	return r < 0 ? process_error(err, r, pid, "threads") : 0;
}

int process_thread_comm(pid_t pid, pid_t tid, char *ret, size_t size)
{
	char name[32];
	char path[64];
	char text[PROCESS_COMM_MAX + 1];

	(void)snprintf(name, sizeof(name), "task/%d/comm", (int)tid);
	process_path(path, sizeof(path), pid, name);
	ssize_t n = read_small(path, text, sizeof(text));
	if (n < 0)
		return n == -ENOENT ? -ESRCH : (int)n;
	if (n > 0 && text[n - 1] == '\n')
		n--;
	copy_text(ret, size, text, (size_t)n);
	return 0;
}

uint64_t process_peak_bytes(void)
{
	SCOPED(file) FILE *file = fopen("/proc/self/status", "re");
	char line[128];
	uint64_t peak_kb;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmHWM: %" SCNu64 " kB", &peak_kb) == 1)
			return peak_kb * 1024;
	return 0;
}

int process_user(pid_t pid, uid_t *ret)
{
	char path[64];
	char line[128];
	unsigned int real, effective, saved;

	process_path(path, sizeof(path), pid, "status");
	SCOPED(file) FILE *file = fopen(path, "re");

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Uid: %u %u %u", &real, &effective, &saved) != 3)
			continue;
		*ret = real;
		return real == effective && real == saved ? 0 : -EINVAL;
	}
	return -ESRCH;
}

bool process_is_over(pid_t pid)
{
	struct process_info info;

	return process_info_read(pid, &info, NULL) < 0 || info.state == 'Z' || info.state == 'X';
}

bool process_has_variable(pid_t pid, const char *name, const char *value)
{
	char path[64];
	SCOPED(mem) char *variable = NULL;
	size_t room = 0;
	bool found = false;

	process_path(path, sizeof(path), pid, "environ");
	SCOPED(file) FILE *file = fopen(path, "re");

	while (file && !found && getdelim(&variable, &room, '\0', file) > 0)
		found = strncmp(variable, name, strlen(name)) == 0 &&
			variable[strlen(name)] == '=' &&
			strcmp(variable + strlen(name) + 1, value) == 0;
	return found;
}
