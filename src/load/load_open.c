/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/load_open.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "load/convert/convert.h"
#include "load/load.h"
#include "recording/reader.h"

/* Returns the descriptor, unless it is that of a directory, which it closes. */
static int refuse_directory(int fd, const char *path, struct error *err)
{
	struct stat status;

	if (fstat(fd, &status) < 0 || !S_ISDIR(status.st_mode))
		return fd;
	(void)close(fd); /* it was only opened to check it */
	(void)error_set(err, -EISDIR, "%s is a directory, not a recording", path);
	error_remedy(err, "name a file that wick record wrote");
	return -EISDIR;
}

void load_tell_damage(const struct load_options *options, const char *path,
		      const struct recording_damage *damage)
{
	if (options->damaged && (!damage->complete || damage->bad_chunks > 0))
		options->damaged(options->damaged_self, path, damage);
}

int load_open_or_keep(const char *path, const struct importer_ops *const *more,
		      struct recording_reader **ret_kept, struct error *err)
{
	int fd;

	if (strcmp(path, "-") == 0) {
		if (isatty(STDIN_FILENO)) {
			(void)error_set(err, -EINVAL, "standard input is a terminal");
			error_remedy(err, "pipe a recording in, or name a file");
			return -EINVAL;
		}
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
		if (fd < 0)
			return error_file(err, -errno, "cannot read standard input");
		return convert_fd_or_keep(fd, "standard input", more, ret_kept, err);
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		int code = -errno;

		(void)error_file(err, code, "cannot open %s", path);
		if (code == -ENOENT)
			error_remedy(
				err,
				"check the path, or make one with: wick record -o %s -- COMMAND",
				path);
		return code;
	}
	fd = refuse_directory(fd, path, err);
	return fd < 0 ? fd : convert_fd_or_keep(fd, path, more, ret_kept, err);
}

int load_open(const char *path, const struct importer_ops *const *more, struct error *err)
{
	return load_open_or_keep(path, more, NULL, err);
}
