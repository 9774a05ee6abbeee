/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/pipe_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file/outfile.h"
#include "base/scope.h"

int pipe_copy_open(struct error *err)
{
	const char *directory = getenv("TMPDIR");
	int fd = open(directory && *directory ? directory : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC,
		      0600);

	if (fd < 0)
		fd = memfd_create("wick", MFD_CLOEXEC);
	return fd < 0 ? error_file(err, -errno, "cannot create a temporary file") : fd;
}

static int copy_all(int from, int to)
{
	static const size_t size = 256u << 10;
	SCOPED(mem) uint8_t *buffer = malloc(size);
	ssize_t n;

	if (!buffer)
		return -ENOMEM;
	while ((n = read(from, buffer, size)) != 0) {
		int r = n < 0 ? -errno : outfile_write_all(to, buffer, (size_t)n);

		if (r < 0 && r != -EINTR)
			return r;
	}
	return 0;
}

/* A second descriptor of the same file, with its own offset. */
static int reopen(int fd, off_t offset)
{
	char path[32];
	int again;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd); /* it fits */
	again = open(path, O_RDONLY | O_CLOEXEC);
	if (again < 0)
		return -errno;
	if (lseek(again, offset, SEEK_SET) < 0) {
		int r = -errno;

		(void)close(again); /* only opened */
		return r;
	}
	return again;
}

int pipe_copy(int fd, int *ret_again, struct error *err)
{
	SCOPED(fd) int input = fd;
	off_t start = lseek(fd, 0, SEEK_CUR);
	int again;
	int r;

	if (start < 0) {
		SCOPED(fd) int file = pipe_copy_open(err);

		if (file < 0)
			return file;
		r = copy_all(input, file);
		if (r < 0)
			return error_file(err, r,
					  "cannot save the piped input in a temporary file");
		start = 0;
		if (lseek(file, 0, SEEK_SET) < 0)
			return error_file(err, -errno, "cannot read a temporary file");
		(void)close(input); /* read to its end */
		input = scope_take_fd(&file);
	}
	again = reopen(input, start);
	if (again < 0) {
		r = error_file(err, again, "cannot read the recording a second time");
		if (access("/proc/self", F_OK) < 0)
			error_remedy(err, "/proc is not mounted: mount -t proc proc /proc");
		return r;
	}
	*ret_again = again;
	return scope_take_fd(&input);
}
