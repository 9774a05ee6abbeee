/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_FILE_OUTFILE_H
#define WICK_BASE_FILE_OUTFILE_H

/*
 * outfile: results are written whole or not at all, and belong to the person
 * who called: under sudo the file is given to SUDO_UID:SUDO_GID. Nobody else may
 * read them: a result tells what ran, and may hold source.
 *
 * In a folder where others can put names (/tmp, one that belongs to another user, or that a
 * group other than the user's own can write to)
 * what they may have put there is refused: files of other users, links, files with
 * several names, and pipes that nobody reads, which would be waited for. What is
 * checked is what was opened, not its name.
 *
 * All that wick writes at the wish of a user goes through here. Each is told what a user
 * types to choose the path, for remedies: "-o FILE"; NULL where that is not known, as in the
 * library.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct error;

/* A result that is written piece by piece. Members are private. */
struct outfile {
	const char *path;   /* borrowed */
	const char *option; /* borrowed: what chooses the path, or NULL */
	char *temporary;    /* in the folder, as the name; NULL: written in place */
	char *name;
	int folder_fd; /* -1: written in place */
	int fd;
};

/*
 * Begins a result at path: a temporary file beside it that outfile_commit() puts
 * in its place; what was there stays until then. "-" is standard output; devices
 * and pipes are written in place. outfile_fini() in any case after success; without
 * a commit it removes what was written.
 */
int outfile_begin(struct outfile *file, const char *path, const char *option, struct error *err);
/* The same where nothing may be waited for: a pipe that nobody reads is a failure. */
int outfile_begin_ready(struct outfile *file, const char *path, const char *option,
			struct error *err);

int outfile_append(struct outfile *file, const void *data, size_t size, struct error *err);
int outfile_commit(struct outfile *file, struct error *err);
void outfile_fini(struct outfile *file);

/*
 * Writes size bytes to path through a temporary file beside it and a rename;
 * what was there stays until then. "-" writes to standard output; devices and
 * pipes are written in place.
 */
int outfile_write(const char *path, const char *option, const void *data, size_t size,
		  struct error *err);

/*
 * Whether writing to output would destroy what is read from input: both are the
 * same regular file, by whatever name. "-" is standard input and output.
 */
bool outfile_is_input(const char *output, const char *input);

/* Whether a path is standard output, by one of its names: "-", /dev/stdout, /dev/fd/1. */
bool outfile_is_stdout(const char *path);

/*
 * Opens path for writing in place (a log that others may read while it grows),
 * made when missing, close-on-exec. What is in it stays until the caller cuts it
 * off: it may still turn out that there is nothing to write. "-" gives a copy of
 * standard output. Returns the descriptor; *ret_created tells whether the file is
 * new.
 */
int outfile_open(const char *path, const char *option, bool *ret_created, struct error *err);
/* The same where nothing may be waited for: a pipe that nobody reads is a failure. */
int outfile_open_ready(const char *path, const char *option, bool *ret_created, struct error *err);

/* Says why standard output took nothing. Returns code. */
int outfile_stdout_failed(int code, struct error *err);

/* Writes all of data, resuming after short writes. Returns 0 or -errno. */
int outfile_write_all(int fd, const void *data, size_t size);

/* The same, and tells how many bytes were written, also on failure. */
int outfile_write_some(int fd, const void *data, size_t size, size_t *ret_written);

#endif
