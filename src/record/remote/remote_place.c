/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/remote/remote_place.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/scope.h"

#define ROOT_FOLDER "/run/wick"
#define USER_FOLDERS "/run/user"
#define LAST_RESORT "/tmp/wick-"

/* A descriptor of a folder that only this user can access; else a negative errno. */
static int open_own(const char *path)
{
	SCOPED(fd) int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	if (status.st_uid != geteuid())
		return -EPERM;
	if ((status.st_mode & 0777) != 0700 && fchmod(fd, 0700) < 0)
		return -errno;
	return scope_take_fd(&fd);
}

/*
 * A folder that was created but cannot be used, for example without descriptors, is removed again.
 */
static int open_made(const char *path)
{
	int fd = open_own(path);

	if (fd < 0)
		(void)rmdir(path); /* it is empty, or already used by others */
	return fd;
}

static int make_own(const char *path)
{
	if (mkdir(path, 0700) == 0)
		return open_made(path);
	return errno == EEXIST ? open_own(path) : -errno;
}

/* Others must not be able to rename its entries. */
static bool is_own_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
	       (status.st_mode & 022) == 0;
}

/* The folder inside a folder of the user, if it is the user's. */
static int make_below(const char *parent, char *path, size_t size)
{
	int length;

	if (!parent || parent[0] != '/' || !is_own_folder(parent))
		return -ENOENT;
	length = snprintf(path, size, "%s/wick", parent);
	return length > 0 && (size_t)length < size ? make_own(path) : -ENAMETOOLONG;
}

/* Another user may have taken the name: then use one that cannot be guessed. */
static int make_last_resort(char *path, size_t size)
{
	glob_t found = {0};
	int fd;

	(void)snprintf(path, size, LAST_RESORT "%u", (unsigned int)geteuid());
	fd = make_own(path);
	if (fd >= 0)
		return fd;
	(void)snprintf(path, size, LAST_RESORT "%u-??????", (unsigned int)geteuid());
	if (glob(path, GLOB_NOSORT, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc && fd < 0; i++) {
			(void)snprintf(path, size, "%s", found.gl_pathv[i]);
			fd = open_own(path);
		}
	globfree(&found);
	if (fd >= 0)
		return fd;
	(void)snprintf(path, size, LAST_RESORT "%u-XXXXXX", (unsigned int)geteuid());
	return mkdtemp(path) ? open_made(path) : -errno;
}

int remote_place_make(char *path, size_t size)
{
	char parent[64];
	int fd = -ENOENT;

	if (geteuid() == 0) {
		(void)snprintf(path, size, "%s", ROOT_FOLDER);
		fd = make_own(path);
	}
	if (fd < 0)
		fd = make_below(getenv("XDG_RUNTIME_DIR"), path, size);
	(void)snprintf(parent, sizeof(parent), USER_FOLDERS "/%u", (unsigned int)geteuid());
	if (fd < 0)
		fd = make_below(parent, path, size);
	return fd < 0 ? make_last_resort(path, size) : fd;
}

void remote_place_leave(const char *path)
{
	(void)rmdir(path); /* or others have sockets there */
}

/* The folders examined so far: the environment may name one twice. */
struct seen {
	struct {
		dev_t device;
		ino_t inode;
	} items[256];
	size_t count;
};

static bool is_new(struct seen *seen, const struct stat *status)
{
	for (size_t i = 0; i < seen->count; i++)
		if (seen->items[i].device == status->st_dev &&
		    seen->items[i].inode == status->st_ino)
			return false;
	if (seen->count == sizeof(seen->items) / sizeof(seen->items[0]))
		return false; /* no one has this many */
	seen->items[seen->count].device = status->st_dev;
	seen->items[seen->count++].inode = status->st_ino;
	return true;
}

/* Visits a folder if this user may read it, otherwise counts it. */
static int look(const char *path, struct seen *seen, size_t *others, remote_place_fn *fn,
		void *self)
{
	SCOPED(fd) int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	*others += fd < 0 && errno == EACCES;
	if (fd < 0 || fstat(fd, &status) < 0 || (status.st_mode & 077) != 0)
		return 0;
	if (status.st_uid != geteuid() && geteuid() != 0)
		return 0;
	if (!is_new(seen, &status))
		return 0;
	return fn(self, &(struct remote_place){fd, status.st_uid, path});
}

int remote_place_each(remote_place_fn *fn, void *self)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct seen seen = {.count = 0};
	glob_t found = {0};
	char path[REMOTE_PLACE_PATH];
	size_t others = 0;
	int r = look(ROOT_FOLDER, &seen, &others, fn, self);

	if (r == 0 && runtime && runtime[0] == '/' &&
	    snprintf(path, sizeof(path), "%s/wick", runtime) < (int)sizeof(path))
		r = look(path, &seen, &others, fn, self);
	/* The owner decides whose it is, not the name. */
	if (glob(USER_FOLDERS "/*/wick", GLOB_NOSORT, NULL, &found) == GLOB_NOSPACE ||
	    glob(LAST_RESORT "[0-9]*", GLOB_NOSORT | GLOB_APPEND, NULL, &found) == GLOB_NOSPACE)
		r = r == 0 ? -ENOMEM : r;
	for (size_t i = 0; i < found.gl_pathc && r == 0; i++)
		r = look(found.gl_pathv[i], &seen, &others, fn, self);
	globfree(&found);
	return r != 0 ? r : (int)others;
}

void remote_place_address(int fd, const char *name, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	/* This fits however long the path of the folder is, and always refers to this folder. */
	(void)snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d%s%.32s", fd,
		       name[0] ? "/" : "", name);
}

int remote_place_connect(int folder_fd, const char *name)
{
	SCOPED(fd) int file = openat(folder_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	SCOPED(fd) int fd = -1;
	struct sockaddr_un address;
	struct stat status;

	if (file < 0 || fstat(file, &status) < 0)
		return -errno;
	if (!S_ISSOCK(status.st_mode))
		return -ENOENT;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	remote_place_address(file, "", &address);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return scope_take_fd(&fd);
}
