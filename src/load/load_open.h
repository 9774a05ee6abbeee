/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_LOAD_OPEN_H
#define WICK_LOAD_LOAD_OPEN_H

/* load_open: a recording, or a file of another kind as if it were one, ready to be read. */

struct error;
struct importer_ops;
struct recording_reader;

/*
 * Opens path for reading with a message that helps; "-" gives standard input. Formats of more
 * are tried before ours: see convert_fd().
 */
int load_open(const char *path, const struct importer_ops *const *more, struct error *err);

/* The same for who reads it once: see convert_fd_or_keep(). */
int load_open_or_keep(const char *path, const struct importer_ops *const *more,
		      struct recording_reader **ret_kept, struct error *err);

#endif
