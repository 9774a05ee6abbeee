/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/newest_recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/owner.h"

#define SUFFIX ".wick"

static bool has_suffix(const char *name)
{
	size_t size = strlen(name);

	return size > strlen(SUFFIX) && strcmp(name + size - strlen(SUFFIX), SUFFIX) == 0;
}

/* Nobody's else: in a shared folder another user could leave one for us to open. */
static bool is_own_file(const struct stat *status)
{
	return S_ISREG(status->st_mode) && owner_is_ours(status->st_uid);
}

static bool is_newer(const struct stat *a, const struct stat *b)
{
	if (a->st_mtim.tv_sec != b->st_mtim.tv_sec)
		return a->st_mtim.tv_sec > b->st_mtim.tv_sec;
	return a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

int newest_recording(const char *directory, char **ret, struct error *err)
{
	DIR *dir = opendir(directory);
	struct stat newest = {0};
	struct dirent *entry;
	char *found = NULL;

	if (!dir)
		return error_errno(err, -errno, "cannot list %s", directory);
	while ((entry = readdir(dir))) {
		struct stat status;
		char *copy;

		if (!has_suffix(entry->d_name) ||
		    fstatat(dirfd(dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !is_own_file(&status) || (found && !is_newer(&status, &newest)))
			continue;
		copy = strdup(entry->d_name);
		if (!copy)
			break; /* what was found so far will do */
		free(found);
		found = copy;
		newest = status;
	}
	(void)closedir(dir); /* only read from */
	if (found) {
		*ret = found;
		return 0;
	}
	(void)error_set(err, -ENOENT, "no file was given, and the folder %s has no recording",
			directory);
	error_remedy(err, "give its name, or make one: wick record -- PROGRAM");
	return -ENOENT;
}
