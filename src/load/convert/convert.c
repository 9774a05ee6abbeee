/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/convert/convert.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "base/error.h"
#include "base/scope.h"
#include "import/file_guess.h"
#include "import/import.h"
#include "import/source.h"
#include "load/names/jit_functions.h"
#include "load/names/kernel_names.h"
#include "load/pipe_copy.h"
#include "recording/reader.h"
#include "recording/writer.h"

#define PEEK_BYTES 8u
#define GUESS_BYTES 4096u

/* Whether the file begins like a recording, or is too short to decide. */
static bool is_recording(int fd, off_t start)
{
	uint8_t head[PEEK_BYTES];
	ssize_t n = pread(fd, head, sizeof(head), start);

	return n <= 0 || recording_is(head, (size_t)n);
}

static int reader_of(struct recording_writer *kept, const char *name, struct recording_reader **ret,
		     struct error *err)
{
	int r = recording_reader_open_kept(kept, name, ret, err);

	if (r < 0)
		recording_writer_free(kept);
	return r;
}

/*
 * Returns the new descriptor; -ENOENT if the format is unknown, or if the result was kept in
 * memory. Nothing is kept if ret_kept is NULL.
 */
static int import_all(int fd, const char *name, const struct importer_ops *const *more,
		      struct recording_reader **ret_kept, struct error *err)
{
	static const struct import_host host = {.kernel_names = kernel_names_if_same,
						.jit_names = jit_functions_if_same};
	off_t start = lseek(fd, 0, SEEK_CUR);
	struct import_source source;
	SCOPED(fd) int file = pipe_copy_open(err);
	struct import_output output = {
		.fd = file, .may_keep = ret_kept != NULL, .host = &host, .more = more};
	int r;

	if (file < 0)
		return file;
	import_source_of_fd(&source, fd, (uint64_t)start);
	r = import_run_to(&source, name, &output, err);
	import_source_fini(&source);
	if (r > 0 && output.kept)
		r = reader_of(output.kept, name, ret_kept, err);
	if (r < 0)
		return r;
	if (r == 0)
		return -ENOENT;
	if (lseek(file, 0, SEEK_SET) < 0)
		return error_file(err, -errno, "cannot read a temporary file");
	return scope_take_fd(&file);
}

/* A file that looks like another known kind is refused as such; the reader refuses the rest. */
static int refuse_known(int fd, off_t start, const char *name, struct error *err)
{
	uint8_t head[GUESS_BYTES];
	ssize_t n = pread(fd, head, sizeof(head), start);
	const struct file_guess *guess = n > 0 ? file_guess(head, (size_t)n) : NULL;

	if (!guess && n > 0)
		guess = file_guess_text(head, (size_t)n);
	return guess ? file_guess_refuse(name, guess, err) : 0;
}

int convert_fd_or_keep(int fd, const char *name, const struct importer_ops *const *more,
		       struct recording_reader **ret_kept, struct error *err)
{
	SCOPED(fd) int input = fd;
	SCOPED(fd) int again = -1;
	off_t start;
	int r;

	if (lseek(fd, 0, SEEK_CUR) < 0) { /* a pipe: its data can be read only once */
		input = pipe_copy(fd, &again, err);
		if (input < 0)
			return input;
	}
	start = lseek(input, 0, SEEK_CUR);
	if (is_recording(input, start))
		return scope_take_fd(&input);
	r = import_all(input, name, more, ret_kept, err);
	if (r != -ENOENT || (ret_kept && *ret_kept))
		return r;
	r = refuse_known(input, start, name, err);
	return r < 0 ? r : scope_take_fd(&input);
}

int convert_fd(int fd, const char *name, const struct importer_ops *const *more, struct error *err)
{
	return convert_fd_or_keep(fd, name, more, NULL, err);
}
