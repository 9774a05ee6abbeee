/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/newest_recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file/owner.h"
#include "base/text.h"
#include "recording/format.h"
#include "recording/reader.h"

#define SUFFIX ".wick"

static bool has_suffix(const char *name)
{
	size_t size = strlen(name);

	return size > strlen(SUFFIX) && strcmp(name + size - strlen(SUFFIX), SUFFIX) == 0;
}

/* What was found in a directory. */
struct search {
	char *own; /* the newest recording of the user; NULL: none so far */
	struct stat own_status;
	char *foreign; /* the newest recording of other users */
	struct stat foreign_status;
	size_t foreign_count;
};

static bool is_newer(const struct stat *a, const struct stat *b)
{
	if (a->st_mtim.tv_sec != b->st_mtim.tv_sec)
		return a->st_mtim.tv_sec > b->st_mtim.tv_sec;
	return a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/* Whether a file begins like a recording. An unreadable file may be one: opening it will show. */
static bool is_recording(int dir, const char *name)
{
	uint8_t head[RECORDING_MAGIC_BYTES];
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return true;
	n = read(fd, head, sizeof(head));
	(void)close(fd); /* only read from */
	return n < 0 || recording_is(head, (size_t)n);
}

/* Replaces an older name. If out of memory, keeps the older one. */
static void keep_newest(const char *name, const struct stat *status, char **kept,
			struct stat *kept_status)
{
	char *copy = strdup(name);

	if (!copy)
		return;
	free(*kept);
	*kept = copy;
	*kept_status = *status;
}

/* In a shared directory, another user could plant a file for us to open: these are only counted. */
static void look_at(int dir, const char *name, struct search *search)
{
	struct stat status;

	if (!has_suffix(name) || fstatat(dir, name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(status.st_mode) || status.st_size == 0)
		return;
	if (!owner_is_ours(status.st_uid)) {
		search->foreign_count++;
		if (!search->foreign || is_newer(&status, &search->foreign_status))
			keep_newest(name, &status, &search->foreign, &search->foreign_status);
	} else if ((!search->own || is_newer(&status, &search->own_status)) &&
		   is_recording(dir, name)) {
		keep_newest(name, &status, &search->own, &search->own_status);
	}
}

/* Reports that only other users have recordings here. Always returns -ENOENT. */
static int report_foreign(const struct search *search, const char *directory, struct error *err)
{
	struct bytes name = {0};

	text_put_shell(&name, search->foreign);
	bytes_put_u8(&name, '\0');
	(void)error_set(err, -ENOENT,
			"no file was given, and the directory %s has no recording of yours; %zu %s",
			directory, search->foreign_count,
			search->foreign_count == 1 ? "belongs to another user"
						   : "belong to other users");
	error_remedy(err, "if you trust it, open the newest by name: wick report %s%s",
		     *search->foreign == '-' ? "./" : "",
		     name.failed ? "FILE" : (const char *)name.data);
	bytes_fini(&name);
	return -ENOENT;
}

int newest_recording(const char *directory, char **ret, struct error *err)
{
	DIR *dir = opendir(directory);
	struct search search = {0};
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return error_errno(err, -errno, "cannot list %s", directory);
	while ((entry = readdir(dir)))
		look_at(dirfd(dir), entry->d_name, &search);
	(void)closedir(dir); /* only read from */
	if (search.own) {
		*ret = search.own;
	} else if (search.foreign) {
		r = report_foreign(&search, directory, err);
	} else {
		r = error_set(err, -ENOENT,
			      "no file was given, and the directory %s has no recording",
			      directory);
		error_remedy(err, "name a file, or record one: wick record -- PROGRAM");
	}
	free(search.foreign);
	return r;
}
