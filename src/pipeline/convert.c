/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/convert.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/scope.h"
#include "import/import.h"
#include "pipeline/spool.h"
#include "recording/reader.h"

#define PEEK_BYTES 8u
#define READ_BYTES (1u << 20)

/* Whether the file begins like a recording, or is too short to tell. */
static bool is_recording(int fd, off_t start)
{
	uint8_t head[PEEK_BYTES];
	ssize_t n = pread(fd, head, sizeof(head), start);

	return n <= 0 || recording_is(head, (size_t)n);
}

static int read_all(int fd, off_t start, struct bytes *out, struct error *err)
{
	ssize_t n = 1;

	while (n > 0) {
		uint8_t *place = bytes_reserve(out, READ_BYTES);

		if (!place)
			return error_set(err, -ENOMEM, "out of memory");
		n = pread(fd, place, READ_BYTES, start + (off_t)out->size);
		if (n < 0 && errno != EINTR)
			return error_errno(err, -errno, "cannot read it");
		out->size += n > 0 ? (size_t)n : 0;
		if (out->size > IMPORT_MAX_BYTES)
			return error_set(err, -EFBIG, "it is larger than 2 GiB");
		n = n < 0 ? 1 : n;
	}
	return 0;
}

/* Returns the new descriptor, -ENOENT when it is no format that we know. */
static int import_all(int fd, off_t start, const char *name, struct error *err)
{
	struct bytes data = {0};
	SCOPED(fd) int output = -1;
	int r = read_all(fd, start, &data, err);

	if (r == 0) {
		output = spool_open(err);
		r = output < 0 ? output : import_run(data.data, data.size, name, output, err);
	} else {
		(void)error_prefix(err, r, "%s", name);
	}
	bytes_fini(&data);
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
