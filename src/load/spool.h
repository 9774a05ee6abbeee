/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_SPOOL_H
#define WICK_LOAD_SPOOL_H

/*
 * spool: what comes from a pipe, kept in a file without a name, so that it can be
 * read again. Where the temporary directory takes no such file, memory does.
 */

struct error;

/* An empty file without a name, close-on-exec. Returns the descriptor. */
int spool_open(struct error *err);

/*
 * Takes over fd and returns a descriptor in its place that reads from where fd
 * stood; *ret_again reads the same once more, with an offset of its own. On failure
 * fd is closed.
 */
int spool(int fd, int *ret_again, struct error *err);

#endif
