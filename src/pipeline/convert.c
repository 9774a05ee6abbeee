/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/convert.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "base/error.h"
#include "base/scope.h"
#include "import/import.h"
#include "import/source.h"
#include "pipeline/kernel_names.h"
#include "pipeline/spool.h"
#include "recording/reader.h"

#define PEEK_BYTES 8u

/* Whether the file begins like a recording, or is too short to tell. */
static bool is_recording(int fd, off_t start)
{
	uint8_t head[PEEK_BYTES];
	ssize_t n = pread(fd, head, sizeof(head), start);

	return n <= 0 || recording_is(head, (size_t)n);
}

/* Returns the new descriptor, -ENOENT when it is no format that we know. */
static int import_all(int fd, off_t start, const char *name, struct error *err)
{
	static const struct import_host host = {.kernel_names = kernel_names_if_same};
	struct import_source source;
	SCOPED(fd) int output = spool_open(err);
	int r;

	if (output < 0)
		return output;
	import_source_of_fd(&source, fd, (uint64_t)start);
	r = import_run(&source, name, output, &host, err);
	import_source_fini(&source);
	if (r < 0)
		return r;
	if (r == 0)
		return -ENOENT;
	if (lseek(output, 0, SEEK_SET) < 0)
		return error_errno(err, -errno, "cannot read a temporary file");
	return scope_take_fd(&output);
}

int convert_fd(int fd, const char *name, struct error *err)
{
	SCOPED(fd) int input = fd;
	SCOPED(fd) int again = -1;
	off_t start;
	int r;

	if (lseek(fd, 0, SEEK_CUR) < 0) { /* a pipe: what it holds is seen only once */
		input = spool(fd, &again, err);
		if (input < 0)
			return input;
	}
	start = lseek(input, 0, SEEK_CUR);
	if (is_recording(input, start))
		return scope_take_fd(&input);
	r = import_all(input, start, name, err);
	return r == -ENOENT ? scope_take_fd(&input) : r;
}
