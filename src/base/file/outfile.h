/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_FILE_OUTFILE_H
#define WICK_BASE_FILE_OUTFILE_H

/*
 * outfile: results are written completely or not at all, and belong to the person who called: under
 * sudo the file is given to SUDO_UID:SUDO_GID. Nobody else may read them: a result shows what ran,
 * and may contain source code.
 *
 * In a folder where others can create files (/tmp, one that belongs to another user, or one that a
 * group other than the user's own can write to) we refuse what they may have put there: files of
 * other users, links, files with several hard links, and pipes without a reader, which would block
 * us. We check what was opened, not its name.
 *
 * Everything that wick writes for a user goes through here. Each function takes the option that
 * chooses the path ("-o FILE"), for remedies; NULL where it is not known, as in the library.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct error;

/* A result that is written piece by piece. Members are private. */
struct outfile {
	const char *path;   /* borrowed */
	const char *option; /* borrowed: the option that chooses the path, or NULL */
	char *temporary;    /* in the same folder as the name; NULL: written in place */
	char *name;
	int folder_fd; /* -1: written in place */
	int fd;
};

/*
 * Begins a result at path: a temporary file beside it, which outfile_commit() renames; the old file
 * stays until then. "-" is standard output; devices and pipes are written in place. After success
 * always call outfile_fini(); without a commit it removes what was written.
 */
int outfile_begin(struct outfile *file, const char *path, const char *option, struct error *err);
/* The same without blocking: a pipe without a reader is an error. */
int outfile_begin_ready(struct outfile *file, const char *path, const char *option,
			struct error *err);

int outfile_append(struct outfile *file, const void *data, size_t size, struct error *err);
int outfile_commit(struct outfile *file, struct error *err);
void outfile_fini(struct outfile *file);

/*
 * Writes size bytes to path through a temporary file beside it and a rename; the old file stays
 * until then. "-" writes to standard output; devices and pipes are written in place.
 */
int outfile_write(const char *path, const char *option, const void *data, size_t size,
		  struct error *err);

/*
 * Whether writing to output would destroy what is read from input: both are the same regular file,
 * under any name. "-" is standard input and output.
 */
bool outfile_is_input(const char *output, const char *input);

/* Whether a path is one of the names of standard output: "-", /dev/stdout, /dev/fd/1. */
bool outfile_is_stdout(const char *path);

/*
 * Opens path for writing in place (a log that others may read while it grows), created when
 * missing, close-on-exec. Its content stays until the caller truncates it: there may still be
 * nothing to write. "-" gives a copy of standard output. Returns the descriptor; *ret_created is
 * whether the file is new.
 */
int outfile_open(const char *path, const char *option, bool *ret_created, struct error *err);
/* The same without blocking: a pipe without a reader is an error. */
int outfile_open_ready(const char *path, const char *option, bool *ret_created, struct error *err);

/*
 * Claims a file that was opened for a recording until the descriptor is closed: two recordings in
 * one file would corrupt each other. Returns -EBUSY if another one has it. Devices and pipes may be
 * shared.
 */
int outfile_claim(int fd, const char *path, const char *option, struct error *err);

/* Sets why writing to standard output failed. Returns code. */
int outfile_stdout_failed(int code, struct error *err);

/* Writes all of data, resuming after short writes. Returns 0 or -errno. */
int outfile_write_all(int fd, const void *data, size_t size);

/* The same; also returns how many bytes were written, even on failure. */
int outfile_write_some(int fd, const void *data, size_t size, size_t *ret_written);

#endif
