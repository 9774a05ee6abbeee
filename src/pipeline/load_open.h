/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PIPELINE_LOAD_OPEN_H
#define WICK_PIPELINE_LOAD_OPEN_H

/* load_open: a recording, or a file of another kind as if it were one, ready to be read. */

struct error;

/* Opens path for reading with a message that helps; "-" gives standard input. */
int load_open(const char *path, struct error *err);

#endif
