/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/file/open_below.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file/regular_file.h"
#include "base/scope.h"

#define LOOK_FLAGS (O_PATH | O_NOFOLLOW | O_CLOEXEC) /* opens nothing: a device notices nothing */

/* Whether each part of a name could be that of a source file or its folder. */
static bool is_plain(const char *name)
{
	if (!*name || *name == '/')
		return false;
	for (; name; name = strchr(name, '/')) {
		name += *name == '/';
		if (*name == '.' || *name == '/' || *name == '\0')
			return false;
	}
	return true;
}

/* Without openat2(), which is new in Linux 5.6: follows no links at all. */
static int walk(int folder, const char *name)
{
	int at = fcntl(folder, F_DUPFD_CLOEXEC, 3);

	while (at >= 0) {
		const char *slash = strchr(name, '/');
		char part[NAME_MAX + 1];
		int next;

		if (!slash)
			next = openat(at, name, LOOK_FLAGS);
		else if ((size_t)(slash - name) > NAME_MAX)
			next = (errno = ENAMETOOLONG, -1);
		else {
			memcpy(part, name, (size_t)(slash - name));
			part[slash - name] = '\0';
			next = openat(at, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			name = slash + 1;
		}
		(void)close(at); /* nothing was written */
		at = next;
		if (!slash)
			break;
	}
	return at < 0 ? -errno : at;
}

/* Finds the file without opening it. */
static int find(const char *folder, const char *name)
{
	struct open_how how = {.flags = LOOK_FLAGS,
			       .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
	SCOPED(fd) int folder_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	long fd;

	if (folder_fd < 0)
		return -errno;
	fd = syscall(SYS_openat2, folder_fd, name, &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* EPERM: from seccomp filters */
		return walk(folder_fd, name);
	return fd < 0 ? -errno : (int)fd;
}

static int open_plain(const char *folder, const char *name)
{
	SCOPED(fd) int found = find(folder, name);
	struct stat status;
	int fd;

	if (found < 0)
		return found;
	if (fstat(found, &status) == 0 && S_ISLNK(status.st_mode))
		return -ELOOP;
	fd = regular_file_reopen(found, &status);
	return fd == -EINVAL ? -ENOENT : fd;
}

/* With the credentials of a user who is in no group. */
static int open_as(uid_t uid, const char *folder, const char *name)
{
	gid_t groups[256];
	int count = getgroups(256, groups);
	uid_t own_uid = (uid_t)setfsuid((uid_t)-1); /* only a query */
	gid_t own_gid = (gid_t)setfsgid((gid_t)-1);
	int fd = -EACCES;

	/* The C library's setgroups() changes all threads. */
	if (count < 0 || syscall(SYS_setgroups, (size_t)0, NULL) < 0)
		return -EACCES;
	(void)setfsgid(OPEN_BELOW_NOBODY);
	(void)setfsuid(uid);
	if ((uid_t)setfsuid((uid_t)-1) == uid && (gid_t)setfsgid((gid_t)-1) == OPEN_BELOW_NOBODY)
		fd = open_plain(folder, name);
	(void)setfsuid(own_uid); /* going back is allowed */
	(void)setfsgid(own_gid);
	(void)syscall(SYS_setgroups, (size_t)count, groups); /* restored */
	return fd;
}

static bool lets_read(const struct stat *status, uid_t uid)
{
	return status->st_uid == uid ? status->st_mode & S_IRUSR : status->st_mode & S_IROTH;
}

/* Whether the name leads this user to the file that was opened. */
static bool can_open(uid_t uid, const char *folder, const char *name, const struct stat *wanted)
{
	SCOPED(fd) int fd = open_as(uid, folder, name);
	struct stat status;

	return fd >= 0 && fstat(fd, &status) == 0 && status.st_dev == wanted->st_dev &&
	       status.st_ino == wanted->st_ino;
}

int open_below(const char *folder, const char *name, const uid_t *users, size_t count,
	       struct stat *ret)
{
	SCOPED(fd) int fd = is_plain(name) ? open_plain(folder, name) : -ENOENT;

	if (fd < 0)
		return fd;
	if (fstat(fd, ret) < 0)
		return -errno;
	for (size_t i = 0; i < count; i++) {
		if (users[i] == 0 || users[i] == geteuid())
			continue;
		if (!lets_read(ret, users[i]) ||
		    (geteuid() == 0 && !can_open(users[i], folder, name, ret)))
			return -EPERM;
	}
	return scope_take_fd(&fd);
}
