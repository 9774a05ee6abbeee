/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/held_messages.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LONG_LINE_BYTES 1024

static const char more[] =
	"wick: some lines may be missing here: WICK_LOG=LEVEL:FILE writes all of them to a file\n";

/* A file in memory that cannot grow: writes beyond its end fail. */
static int open_kept(void)
{
	int fd = memfd_create("wick-messages", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && (ftruncate(fd, HELD_MESSAGES_BYTES) < 0 ||
			fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) < 0)) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

void held_messages_begin(struct held_messages *held)
{
	if (held->real_fd > 0 || !isatty(STDERR_FILENO))
		return;
	held->kept_fd = open_kept();
	held->real_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (held->kept_fd >= 0 && held->real_fd > 0 && dup2(held->kept_fd, STDERR_FILENO) >= 0)
		return;
	if (held->kept_fd >= 0)
		(void)close(held->kept_fd);
	if (held->real_fd > 0)
		(void)close(held->real_fd);
	held->real_fd = 0;
}

/* A failure cannot be reported anywhere. */
static void copy(int from_fd, off_t size)
{
	char part[1024];
	off_t done = 0;

	while (done < size) {
		size_t want =
			size - done < (off_t)sizeof(part) ? (size_t)(size - done) : sizeof(part);
		ssize_t n = pread(from_fd, part, want, done);

		if (n <= 0 || write(STDERR_FILENO, part, (size_t)n) != n)
			return;
		done += n;
	}
	if (size + LONG_LINE_BYTES > HELD_MESSAGES_BYTES &&
	    write(STDERR_FILENO, more, sizeof(more) - 1) < 0)
		return;
}

void held_messages_end(struct held_messages *held)
{
	int code = errno;

	if (held->real_fd <= 0)
		return;
	(void)dup2(held->real_fd, STDERR_FILENO); /* both are open */
	copy(held->kept_fd, lseek(held->kept_fd, 0, SEEK_CUR));
	(void)close(held->real_fd);
	(void)close(held->kept_fd);
	held->real_fd = 0;
	errno = code;
}
