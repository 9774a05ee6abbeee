/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/file/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/scope.h"

/* The kernel's name for a descriptor: it leads to the same file even if its path changes. */
#define NAME_BYTES 32

int regular_file_reopen(int place, struct stat *ret)
{
	char name[NAME_BYTES];
	struct stat status;
	int fd;

	if (fstat(place, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", place); /* it fits */
	/* Some file systems have regular files that block, such as the kernel's logs. */
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	*ret = status;
	return fd;
}

int regular_file_open(const char *path, struct stat *ret)
{
	SCOPED(fd) int place = open(path, O_PATH | O_CLOEXEC);

	return place < 0 ? -errno : regular_file_reopen(place, ret);
}
