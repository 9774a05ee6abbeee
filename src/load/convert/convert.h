/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_CONVERT_CONVERT_H
#define WICK_LOAD_CONVERT_CONVERT_H

/* convert: a file of another format, found by its contents, made a recording. */

struct error;
struct importer_ops;
struct recording_reader;

/*
 * Takes over fd. Returns it, or when it holds a format that wick imports, the
 * descriptor of a recording without a name in its place, to be read from its start.
 * On failure fd is closed. What is no known format is passed on as it is. Formats of more
 * (NULL last, NULL: none) are tried before ours.
 */
int convert_fd(int fd, const char *name, const struct importer_ops *const *more, struct error *err);

/*
 * The same for who reads it once and from its start: some formats need no file for that.
 * *ret_kept then is what reads them, and -ENOENT is returned.
 */
int convert_fd_or_keep(int fd, const char *name, const struct importer_ops *const *more,
		       struct recording_reader **ret_kept, struct error *err);

#endif
