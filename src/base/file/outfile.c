/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/file/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file/output_folder.h"
#include "base/file/owner.h"
#include "base/scope.h"

#define OUTPUT_MODE 0600 /* it shows what ran and may contain source: private */

/*
 * Where a result goes: a name in a folder, held open so that it stays the same if the path changes.
 */
struct place {
	const char *path;   /* as the user gave it */
	const char *option; /* it was given with, or NULL */
	int folder_fd;
	char *folder;     /* owned */
	const char *name; /* in the path, or in the target of its links */
	bool is_shared;   /* users besides root and the caller can create files there */
	bool is_followed; /* a link of the caller's led there */
};

static void scope_release_place(struct place *place)
{
	if (place->folder_fd >= 0)
		(void)close(place->folder_fd); /* nothing was written to it */
	free(place->folder);
}

/*
 * Under sudo the caller gets the file. Only the file that was just opened is
 * touched, by descriptor, so a link put in its place is not followed.
 */
static void give_to_caller(int fd)
{
	uint64_t uid;
	uint64_t gid;

	if (!owner_find_caller(&uid, &gid))
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
		error_remedy(err, "keep it open, or redirect it to a file: > FILE");
		return code;
	}
	return error_file(err, code, "cannot write to standard output");
}

/* A remedy that ends with the option that chooses another path. */
static void advise(struct error *err, const char *remedy, const char *option)
{
	error_remedy(err, "%s%s%s", remedy, option ? " with " : "", option ? option : "");
}

/* The part of a path that is a dangling link; NULL: no part is. */
static char *find_dangling(const char *path)
{
	SCOPED(mem) char *part = strdup(path);
	struct stat status;
	char *slash;

	while (part && part[0]) {
		if (lstat(part, &status) == 0)
			return S_ISLNK(status.st_mode) && stat(part, &status) < 0
				       ? scope_take(&part)
				       : NULL;
		slash = strrchr(part, '/');
		if (!slash)
			return NULL;
		*slash = '\0';
	}
	return NULL;
}

/* Reports a dangling link in the path. False: there is none. */
static bool tell_dangling(const char *path, const char *option, struct error *err)
{
	SCOPED(mem) char *link = find_dangling(path);
	char target[256] = "";
	ssize_t size = link ? readlink(link, target, sizeof(target) - 1) : -1;

	if (size < 0)
		return false; /* or it was just removed */
	target[size] = '\0';
	(void)error_set(err, -ENOENT, "cannot write %s: %s is a dangling link to %s", path,
			strcmp(link, path) == 0 ? "it" : link, target);
	advise(err, "remove the link or create its target, or choose another place", option);
	return true;
}

static int cannot_write(const char *path, const char *option, int code, struct error *err)
{
	if (outfile_is_stdout(path))
		return outfile_stdout_failed(code, err);
	if (code == -ENOENT && tell_dangling(path, option, err))
		return code;
	(void)error_file(err, code, "cannot write %s", path);
	if (code == -ENOSPC || code == -EDQUOT)
		advise(err, "free some space, or choose another place", option);
	else if (code == -ELOOP)
		advise(err, "give the path that its links point to", option);
	else if (code == -ENOENT || code == -ENOTDIR)
		advise(err, "create its directory first, or choose another place", option);
	else if (code == -EACCES || code == -EPERM || code == -EROFS || code == -EISDIR)
		advise(err, "choose a place you may write to", option);
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

bool outfile_is_stdout(const char *path)
{
	return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0 ||
	       strcmp(path, "/dev/fd/1") == 0;
}

/* 0 or -errno. */
static int find_place(const char *path, struct place *ret)
{
	const char *slash = strrchr(path, '/');
	struct stat status;

	if (!*path)
		return -ENOENT;
	ret->name = slash ? slash + 1 : path;
	if (!*ret->name)
		ret->name = ".";
	if (slash)
		ret->folder = strndup(path, slash == path ? 1 : (size_t)(slash - path));
	else
		ret->folder = strdup(".");
	if (!ret->folder)
		return -ENOMEM;
	ret->folder_fd = output_folder_open(ret->folder);
	if (ret->folder_fd < 0)
		return ret->folder_fd;
	if (fstat(ret->folder_fd, &status) < 0)
		return -errno;
	ret->is_shared = output_folder_is_open(&status) ||
			 (status.st_uid != 0 && !owner_is_ours(status.st_uid));
	return 0;
}

static int refuse(const struct place *place, const char *why, struct error *err)
{
	(void)error_set(err, -EPERM, "cannot write %s: %s", place->path, why);
	advise(err, "choose a directory of your own or a name that is not taken", place->option);
	return -EPERM;
}

/* What is wrong with a file in a folder where others can create files; NULL: nothing. */
static const char *why_not(const struct stat *status)
{
	if (S_ISLNK(status->st_mode))
		return "it is a link in a directory that others can write to";
	if (S_ISCHR(status->st_mode) || S_ISBLK(status->st_mode))
		return NULL; /* only root can create those */
	if (!owner_is_ours(status->st_uid))
		return "it belongs to another user, in a directory that others can write to";
	if (S_ISREG(status->st_mode) && status->st_nlink > 1)
		return "it has other hard links, in a directory that others can write to";
	return NULL;
}

/*
 * Opens an existing file in a folder that others can write to. Checks the descriptor, not the name.
 */
static int open_shared(const struct place *place, struct error *err)
{
	SCOPED(fd)
	int fd = openat(place->folder_fd, place->name,
			O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
	struct stat status;
	const char *why;

	if (fd < 0 && errno == ENXIO)
		return refuse(place, "it is a pipe that nobody reads", err);
	if (fd < 0 && errno == ELOOP)
		return refuse(place, "it is a link in a directory that others can write to", err);
	if (fd < 0 || fstat(fd, &status) < 0)
		return cannot_write(place->path, place->option, -errno, err);
	why = why_not(&status);
	if (why)
		return refuse(place, why, err);
	if (fcntl(fd, F_SETFL, 0) < 0) /* writes block again */
		return cannot_write(place->path, place->option, -errno, err);
	if (S_ISREG(status.st_mode))
		(void)fchmod(fd, OUTPUT_MODE); /* it is ours */
	return scope_take_fd(&fd);
}

/*
 * Opens an existing file, to be written in place. Waits for a reader of a pipe, unless it must be
 * ready.
 */
static int open_existing(const struct place *place, bool ready, struct error *err)
{
	int wait = ready ? O_NONBLOCK : 0;
	struct stat status;
	int fd;

	if (place->is_shared)
		return open_shared(place, err);
	fd = openat(place->folder_fd, place->name, O_WRONLY | O_CLOEXEC | O_NOCTTY | wait);
	if (fd < 0 && errno == ENXIO && ready)
		return refuse(place, "it is a pipe that nobody reads", err);
	if (fd < 0)
		return cannot_write(place->path, place->option, -errno, err);
	if (ready)
		(void)fcntl(fd, F_SETFL, 0); /* cannot fail: it was just opened */
	/* The target of a link, such as those in /dev/fd, keeps the mode its owner chose. */
	if (!place->is_followed && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    owner_is_ours(status.st_uid))
		(void)fchmod(fd, OUTPUT_MODE);
	return fd;
}

static int copy_stdout(struct error *err)
{
	int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

	return fd < 0 ? outfile_stdout_failed(-errno, err) : fd;
}

static int make_file(const struct place *place, const char *name)
{
	int fd = openat(place->folder_fd, name,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, OUTPUT_MODE);

	if (fd >= 0)
		give_to_caller(fd);
	return fd;
}

/*
 * The path that a link of the caller's own leads to, if that is a file: then the rules for that
 * folder apply to the result. NULL: use the path itself.
 */
static char *follow_link(const char *path)
{
	SCOPED(place) struct place place = {.folder_fd = -1};
	struct stat status;

	if (find_place(path, &place) < 0 || place.is_shared ||
	    fstatat(place.folder_fd, place.name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISLNK(status.st_mode) || stat(path, &status) < 0 || !S_ISREG(status.st_mode))
		return NULL;
	return realpath(path, NULL);
}

static int open_in_place(const char *path, const char *option, bool ready, bool *ret_created,
			 struct error *err)
{
	SCOPED(place) struct place place = {.path = path, .option = option, .folder_fd = -1};
	SCOPED(mem) char *followed = NULL;
	int fd;
	int r;

	*ret_created = false;
	if (outfile_is_stdout(path))
		return copy_stdout(err);
	followed = follow_link(path);
	place.is_followed = followed != NULL;
	r = find_place(followed ? followed : path, &place);
	if (r < 0)
		return cannot_write(path, option, r, err);
	fd = make_file(&place, place.name);
	if (fd >= 0) {
		*ret_created = true;
		return fd;
	}
	if (errno != EEXIST)
		return cannot_write(path, option, -errno, err);
	return open_existing(&place, ready, err);
}

int outfile_open(const char *path, const char *option, bool *ret_created, struct error *err)
{
	return open_in_place(path, option, false, ret_created, err);
}

int outfile_open_ready(const char *path, const char *option, bool *ret_created, struct error *err)
{
	return open_in_place(path, option, true, ret_created, err);
}

int outfile_claim(int fd, const char *path, const char *option, struct error *err)
{
	struct stat status;

	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return 0;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return 0; /* or locks are not supported here */
	(void)error_set(err, -EBUSY, "%s is being written by another recording", path);
	error_remedy(err, "wait until it ends, or choose another name%s%s", option ? " with " : "",
		     option ? option : "");
	return -EBUSY;
}

/* Creates the temporary file that becomes the result. */
static int begin_file(struct outfile *file, struct place *place, struct error *err)
{
	SCOPED(mem) char *temporary = NULL;
	SCOPED(mem) char *name = strdup(place->name);
	int fd;

	/* Truncated: file names have a maximum length. */
	if (!name || asprintf(&temporary, "%.200s.%ld.tmp", place->name, (long)getpid()) < 0) {
		temporary = NULL; /* undefined after a failure */
		return error_set(err, -ENOMEM, "out of memory");
	}
	fd = make_file(place, temporary);
	if (fd < 0)
		return cannot_write(file->path, file->option, -errno, err);
	file->temporary = scope_take(&temporary);
	file->name = scope_take(&name);
	file->folder_fd = scope_take_fd(&place->folder_fd);
	return fd;
}

static int begin(struct outfile *file, const char *path, const char *option, bool ready,
		 struct error *err)
{
	SCOPED(place) struct place place = {.path = path, .option = option, .folder_fd = -1};
	SCOPED(mem) char *followed = NULL;
	struct stat status;
	bool exists;
	int r;

	*file = (struct outfile){.path = path, .option = option, .folder_fd = -1};
	if (outfile_is_stdout(path)) {
		file->fd = copy_stdout(err);
		return file->fd < 0 ? file->fd : 0;
	}
	followed = follow_link(path);
	place.is_followed = followed != NULL;
	r = find_place(followed ? followed : path, &place);
	if (r < 0)
		return cannot_write(path, option, r, err);
	exists = fstatat(place.folder_fd, place.name, &status, AT_SYMLINK_NOFOLLOW) == 0;
	if (exists && !S_ISREG(status.st_mode))
		r = open_existing(&place, ready, err);
	else if (exists && place.is_shared && why_not(&status))
		r = refuse(&place, why_not(&status), err);
	else
		r = begin_file(file, &place, err);
	file->fd = r;
	return r < 0 ? r : 0;
}

int outfile_begin(struct outfile *file, const char *path, const char *option, struct error *err)
{
	return begin(file, path, option, false, err);
}

int outfile_begin_ready(struct outfile *file, const char *path, const char *option,
			struct error *err)
{
	return begin(file, path, option, true, err);
}

int outfile_append(struct outfile *file, const void *data, size_t size, struct error *err)
{
	int r = outfile_write_all(file->fd, data, size);

	return r < 0 ? cannot_write(file->path, file->option, r, err) : 0;
}

int outfile_commit(struct outfile *file, struct error *err)
{
	if (!file->temporary)
		return 0;
	if (renameat(file->folder_fd, file->temporary, file->folder_fd, file->name) < 0)
		return cannot_write(file->path, file->option, -errno, err);
	free(file->temporary);
	file->temporary = NULL;
	return 0;
}

void outfile_fini(struct outfile *file)
{
	(void)close(file->fd); /* every write was checked */
	if (file->temporary)   /* best effort: the error is already known */
		(void)unlinkat(file->folder_fd, file->temporary, 0);
	if (file->folder_fd >= 0)
		(void)close(file->folder_fd); /* nothing was written to it */
	free(file->temporary);
	free(file->name);
	*file = (struct outfile){.fd = -1, .folder_fd = -1};
}

int outfile_write(const char *path, const char *option, const void *data, size_t size,
		  struct error *err)
{
	struct outfile file;
	int r = outfile_begin(&file, path, option, err);

	if (r < 0)
		return r;
	r = outfile_append(&file, data, size, err);
	if (r == 0)
		r = outfile_commit(&file, err);
	outfile_fini(&file);
	return r;
}
