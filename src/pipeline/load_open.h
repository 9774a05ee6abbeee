/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PIPELINE_LOAD_OPEN_H
#define WICK_PIPELINE_LOAD_OPEN_H

/* load_open: a recording, or a file of another kind as if it were one, ready to be read. */

struct error;
struct recording_reader;

/* Opens path for reading with a message that helps; "-" gives standard input. */
int load_open(const char *path, struct error *err);

/* The same for who reads it once: see convert_fd_or_keep(). */
int load_open_or_keep(const char *path, struct recording_reader **ret_kept, struct error *err);

#endif
