/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_LOAD_OPEN_H
#define WICK_LOAD_LOAD_OPEN_H

/* load_open: opens a recording, or a file in another format as a recording. */

struct error;
struct importer_ops;
struct recording_reader;

/*
 * Opens path for reading; "-" means standard input. On failure err has a remedy. The formats in
 * `more` are tried before ours: see convert_fd().
 */
int load_open(const char *path, const struct importer_ops *const *more, struct error *err);

/* The same for callers that read it once: see convert_fd_or_keep(). */
int load_open_or_keep(const char *path, const struct importer_ops *const *more,
		      struct recording_reader **ret_kept, struct error *err);

#endif
