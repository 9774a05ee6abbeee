/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PIPELINE_LOAD_OPEN_H
#define WICK_PIPELINE_LOAD_OPEN_H

/* load_open: the file that a user names, as a recording, whatever format it is of. */

struct error;

/* Opens path for reading with a message that helps; "-" gives standard input. */
int load_open(const char *path, struct error *err);

#endif
