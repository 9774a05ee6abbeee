/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_CONVERT_CONVERT_H
#define WICK_LOAD_CONVERT_CONVERT_H

/* convert: turns a file in another format, detected by its content, into a recording. */

struct error;
struct importer_ops;
struct recording_reader;

/*
 * Takes over fd. If the file has a format that wick imports, returns the descriptor of an unnamed
 * recording instead, to be read from its start. Otherwise, also for unknown formats, returns fd
 * itself. On failure fd is closed. The formats in `more` (NULL last; NULL: none) are tried before
 * ours.
 */
int convert_fd(int fd, const char *name, const struct importer_ops *const *more, struct error *err);

/*
 * The same for callers that read the recording once, from its start: some formats need no file for
 * that. In that case *ret_kept is a reader of the result, and -ENOENT is returned.
 */
int convert_fd_or_keep(int fd, const char *name, const struct importer_ops *const *more,
		       struct recording_reader **ret_kept, struct error *err);

#endif
