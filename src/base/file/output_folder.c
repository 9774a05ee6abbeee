/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/file/output_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/file/owner.h"
#include "base/scope.h"

#define MOST_LINKS 40u /* as many as the kernel follows */
#define FOLDER_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)

bool output_folder_is_open(const struct stat *folder)
{
	return (folder->st_mode & (S_ISVTX | S_IWOTH)) != 0 ||
	       (folder->st_mode & S_IWGRP && !owner_is_our_group(folder->st_gid));
}

/* Whether a link may be followed. */
static bool is_trusted(const struct stat *folder, const struct stat *link)
{
	return !output_folder_is_open(folder) || link->st_uid == 0 || owner_is_ours(link->st_uid);
}

/* Whether a link leads to an open file, so that its text is not the way there. */
static bool is_of_proc(int folder)
{
	struct statfs status;

	return fstatfs(folder, &status) == 0 && status.f_type == PROC_SUPER_MAGIC;
}

/* Puts the target of a link in front of the rest of the path. */
static int add_target(int folder, const char *name, char **path, const char *rest)
{
	char target[PATH_MAX];
	ssize_t size = readlinkat(folder, name, target, sizeof(target) - 1);
	char *longer;

	if (size < 0)
		return -errno;
	target[size] = '\0';
	if (asprintf(&longer, "%s/%s", target, rest) < 0)
		return -ENOMEM;
	free(*path);
	*path = longer;
	return 0;
}

/* Moves *folder one part of the path ahead. Returns 1 if *path has been replaced. */
static int step(int *folder, const char *name, char **path, const char *rest)
{
	struct stat above;
	struct stat status;
	int next;

	if (fstat(*folder, &above) < 0 || fstatat(*folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (S_ISLNK(status.st_mode) && !is_trusted(&above, &status))
		return -ELOOP;
	if (S_ISLNK(status.st_mode) && !is_of_proc(*folder)) {
		int r = add_target(*folder, name, path, rest);

		return r < 0 ? r : 1;
	}
	/* It may have become a link by now: that is not followed either. */
	next = openat(*folder, name, FOLDER_FLAGS | (S_ISLNK(status.st_mode) ? 0 : O_NOFOLLOW));
	if (next < 0)
		return -errno;
	(void)close(*folder); /* nothing was written to it */
	*folder = next;
	return 0;
}

/* Follows a path from a folder; an absolute path starts again at the root. */
static int walk(int *folder, char **path)
{
	uint32_t links = 0;
	char *at = *path;

	while (*at) {
		char name[NAME_MAX + 1];
		size_t size = strcspn(at, "/");
		int r;

		if (at == *path && *at == '/') {
			(void)close(*folder); /* nothing was written to it */
			*folder = open("/", FOLDER_FLAGS);
			if (*folder < 0)
				return -errno;
		}
		if (size == 0) {
			at++;
			continue;
		}
		if (size > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, at, size);
		name[size] = '\0';
		at += size;
		r = step(folder, name, path, at);
		if (r < 0)
			return r;
		if (r > 0)
			at = *path;
		if (r > 0 && ++links > MOST_LINKS)
			return -ELOOP;
	}
	return 0;
}

int output_folder_open(const char *path)
{
	SCOPED(mem) char *way = strdup(path);
	SCOPED(fd) int folder = open(*path == '/' ? "/" : ".", FOLDER_FLAGS);
	int r;

	if (!way)
		return -ENOMEM;
	if (folder < 0)
		return -errno;
	r = walk(&folder, &way);
	return r < 0 ? r : scope_take_fd(&folder);
}
