/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/jit_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file/owner.h"
#include "base/file/regular_file.h"
#include "base/scope.h"
#include "proc/process_info.h"
#include "proc/thread_status.h"

#define MAX_FILE_BYTES (512ll << 20)
/* Two ways to find out when a process began agree within a clock tick; this allows for more. */
#define SAME_START_NS NS_PER_SEC

static bool is_same(pid_t pid, uint64_t start_ns)
{
	struct process_info info;

	if (process_info_read(pid, &info, NULL) < 0 || info.state == 'Z' || info.state == 'X')
		return false;
	return start_ns == 0 || (info.start_ns < start_ns + SAME_START_NS &&
				 start_ns < info.start_ns + SAME_START_NS);
}

void jit_process_read(struct jit_process *process, pid_t pid, uint64_t start_ns)
{
	char path[64];
	char text[4096];
	size_t size = 0;

	*process =
		(struct jit_process){.pid = pid, .inner_pid = pid, .uid = geteuid(), .ended = true};
	if (!is_same(pid, start_ns))
		return;
	process_path(path, sizeof(path), pid, "status");
	SCOPED(file) FILE *file = fopen(path, "re");

	if (file)
		size = fread(text, 1, sizeof(text) - 1, file);
	text[size] = '\0';
	const char *uids = strstr(text, "\nUid:");
	unsigned int effective;

	if (!uids || sscanf(uids, "\nUid:%*u%u", &effective) != 1 ||
	    thread_inner_tid(pid, &process->inner_pid) < 0)
		return;
	process->uid = effective;
	process->ended = false;
}

/* Whether the process that has the pid now already had it when something was written. */
static bool is_older(pid_t pid, uint64_t written_ns)
{
	struct process_info info;
	uint64_t since_ns;

	if (process_info_read(pid, &info, NULL) < 0)
		return false;
	since_ns = clock_monotonic_ns() - info.start_ns;
	return clock_realtime_ns() - since_ns <= written_ns;
}

void jit_process_of_past(struct jit_process *process, pid_t pid, const struct jit_past *past)
{
	*process =
		(struct jit_process){.pid = pid, .inner_pid = pid, .uid = geteuid(), .ended = true};
	if (geteuid() == 0 && is_older(pid, past->written_ns))
		jit_process_read(process, pid, 0);
	if (geteuid() == 0 && process->ended)
		process->uid = past->uid;
	process->made_before_ns = past->written_ns;
}

/* When a file was created; 0: its file system does not record it. */
static uint64_t made_ns(int fd)
{
	struct statx status;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &status) < 0 ||
	    !(status.stx_mask & STATX_BTIME))
		return 0;
	return (uint64_t)status.stx_btime.tv_sec * NS_PER_SEC + status.stx_btime.tv_nsec;
}

/*
 * Finds path below the root directory of the process: links cannot lead out of it. The descriptor
 * can be used to inspect the file, but not to read it.
 */
static int find_inside(const struct jit_process *process, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	SCOPED(fd) int root = -1;
	char place[64];
	int fd;

	if (process->ended)
		(void)snprintf(place, sizeof(place), "/");
	else
		process_path(place, sizeof(place), process->pid, "root");
	root = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

static int check(const struct jit_process *process, const char *path, const struct stat *status,
		 struct error *err)
{
	if (S_ISLNK(status->st_mode))
		return error_set(err, -EPERM, "%s is a symbolic link", path);
	if (!S_ISREG(status->st_mode))
		return error_set(err, -EPERM, "%s is not a regular file", path);
	if (process->ended && status->st_uid != process->uid && !owner_is_ours(status->st_uid))
		return error_set(
			err, -EPERM,
			"%s belongs to user %u, and the process has ended, so its user is unknown",
			path, status->st_uid);
	if (!process->ended && status->st_uid != process->uid)
		return error_set(err, -EPERM, "%s belongs to user %u, the process to user %u", path,
				 status->st_uid, process->uid);
	if (status->st_size > MAX_FILE_BYTES)
		return error_set(err, -EPERM, "%s is larger than %lld MB", path,
				 MAX_FILE_BYTES >> 20);
	return 0;
}

/* Reads what exists; a file may shrink meanwhile. */
static int read_all(int fd, void *place, size_t size, size_t *ret_size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, (char *)place + done, size - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	*ret_size = done;
	return 0;
}

int jit_file_size(const struct jit_process *process, const char *path, uint64_t *ret)
{
	SCOPED(fd) int place = find_inside(process, path);
	struct stat status;
	int r;

	if (place < 0)
		return place;
	r = fstat(place, &status) < 0 ? -errno : check(process, path, &status, NULL);
	if (r == 0)
		*ret = (uint64_t)status.st_size;
	return r;
}

int jit_file_read(const struct jit_process *process, const char *path, void **ret_data,
		  size_t *ret_size, struct error *err)
{
	SCOPED(fd) int place = find_inside(process, path);
	SCOPED(mem) void *data = NULL;
	struct stat status;
	int r;

	if (place == -ENOENT)
		return error_set(err, -ENOENT, "%s does not exist", path);
	if (place < 0)
		return error_file(err, place, "cannot open %s", path);
	if (fstat(place, &status) < 0)
		return error_file(err, -errno, "cannot inspect %s", path);
	r = check(process, path, &status, err);
	if (r < 0)
		return r;
	if (process->made_before_ns > 0 && made_ns(place) > process->made_before_ns)
		return error_set(err, -EPERM,
				 "%s was created after the recording, by another process", path);
	SCOPED(fd) int fd = regular_file_reopen(place, &status);
	if (fd < 0)
		return error_file(err, fd, "cannot open %s", path);
	data = malloc((size_t)status.st_size + 1);
	if (!data)
		return error_set(err, -ENOMEM, "out of memory reading %s", path);
	r = read_all(fd, data, (size_t)status.st_size, ret_size);
	if (r < 0)
		return error_file(err, r, "cannot read %s", path);
	*ret_data = scope_take(&data);
	return 0;
}
