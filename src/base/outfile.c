/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/number.h"
#include "base/scope.h"

/*
 * Under sudo the caller gets the file. Only the file that was just opened is
 * touched, by descriptor, so a link put in its place is not followed.
 */
static void give_to_caller(int fd)
{
	const char *uid_text = getenv("SUDO_UID");
	const char *gid_text = getenv("SUDO_GID");
	uint64_t uid;
	uint64_t gid;

	if (geteuid() != 0 || !uid_text || !gid_text)
		return;
	if (number_parse_u64(uid_text, &uid) < 0 || number_parse_u64(gid_text, &gid) < 0)
		return;
	if (fchown(fd, (uid_t)uid, (gid_t)gid) < 0)
		return; /* a file system without owners: root keeps it */
}

int outfile_write_some(int fd, const void *data, size_t size, size_t *ret_written)
{
	const char *at = data;

	*ret_written = 0;
	while (*ret_written < size) {
		ssize_t n = write(fd, at + *ret_written, size - *ret_written);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		*ret_written += (size_t)n;
	}
	return 0;
}

int outfile_write_all(int fd, const void *data, size_t size)
{
	size_t written;

	return outfile_write_some(fd, data, size, &written);
}

int outfile_stdout_failed(int code, struct error *err)
{
	if (code == -EBADF) {
		(void)error_set(err, code, "standard output is closed");
		error_remedy(err, "leave it open, or send it to a file: > FILE");
		return code;
	}
	return error_file(err, code, "cannot write to standard output");
}

static int cannot_write(const char *path, int code, struct error *err)
{
	if (strcmp(path, "-") == 0)
		return outfile_stdout_failed(code, err);
	(void)error_file(err, code, "cannot write %s", path);
	if (code == -ENOSPC || code == -EDQUOT)
		error_remedy(err, "free some space, or choose another place with -o FILE");
	else if (code == -ENOENT || code == -ENOTDIR)
		error_remedy(err, "make its folder first, or choose another place with -o FILE");
	else if (code == -EACCES || code == -EPERM || code == -EROFS || code == -EISDIR)
		error_remedy(err, "choose a place you may write to with -o FILE");
	return code;
}

static int status_of(const char *path, int standard_fd, struct stat *ret)
{
	return strcmp(path, "-") == 0 ? fstat(standard_fd, ret) : stat(path, ret);
}

bool outfile_is_input(const char *output, const char *input)
{
	struct stat from;
	struct stat to;

	if (status_of(input, STDIN_FILENO, &from) < 0 || status_of(output, STDOUT_FILENO, &to) < 0)
		return false;
	return S_ISREG(from.st_mode) && from.st_dev == to.st_dev && from.st_ino == to.st_ino;
}

int outfile_open(const char *path, bool *ret_created, struct error *err)
{
	int fd;

	*ret_created = false;
	if (strcmp(path, "-") == 0) {
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return fd < 0 ? cannot_write(path, -errno, err) : fd;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd >= 0) {
		*ret_created = true;
		give_to_caller(fd);
		return fd;
	}
	if (errno == EEXIST)
		fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? cannot_write(path, -errno, err) : fd;
}

int outfile_begin(struct outfile *file, const char *path, struct error *err)
{
	SCOPED(mem) char *temporary = NULL;
	struct stat status;
	int fd;

	if (strcmp(path, "-") == 0) {
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	} else if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
		fd = open(path, O_WRONLY | O_CLOEXEC);
	} else {
		if (asprintf(&temporary, "%s.%ld.tmp", path, (long)getpid()) < 0) {
			temporary = NULL; /* undefined after a failure */
			return error_set(err, -ENOMEM, "out of memory");
		}
		fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	}
	if (fd < 0)
		return cannot_write(path, -errno, err);
	if (temporary)
		give_to_caller(fd);
	*file = (struct outfile){.path = path, .temporary = scope_take(&temporary), .fd = fd};
	return 0;
}

int outfile_append(struct outfile *file, const void *data, size_t size, struct error *err)
{
	int r = outfile_write_all(file->fd, data, size);

	return r < 0 ? cannot_write(file->path, r, err) : 0;
}

int outfile_commit(struct outfile *file, struct error *err)
{
	if (!file->temporary)
		return 0;
	if (rename(file->temporary, file->path) < 0)
		return cannot_write(file->path, -errno, err);
	free(file->temporary);
	file->temporary = NULL;
	return 0;
}

void outfile_fini(struct outfile *file)
{
	(void)close(file->fd); /* every write was checked */
	if (file->temporary)
		(void)unlink(file->temporary); /* best effort: the error is already known */
	free(file->temporary);
	file->temporary = NULL;
}

int outfile_write(const char *path, const void *data, size_t size, struct error *err)
{
	struct outfile file;
	int r = outfile_begin(&file, path, err);

	if (r < 0)
		return r;
	r = outfile_append(&file, data, size, err);
	if (r == 0)
		r = outfile_commit(&file, err);
	outfile_fini(&file);
	return r;
}
