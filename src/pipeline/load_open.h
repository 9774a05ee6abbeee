/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PIPELINE_LOAD_OPEN_H
#define WICK_PIPELINE_LOAD_OPEN_H

/* load_open: a file to look at, of ours or of a format that import takes. */

struct error;

/* Opens path for reading with a message that helps; "-" gives standard input. */
int load_open(const char *path, struct error *err);

#endif
